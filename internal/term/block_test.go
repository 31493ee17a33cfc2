package term_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"executor/internal/term"
)

func TestBlock(t *testing.T) {
	spaces := func(n int) string { return strings.Repeat(" ", n) }
	for s, want := range map[string][]string{
		"":                                {""},
		"one":                             {"one"},
		"one\n":                           {"one", ""},
		"a\r\nb\rc\td\v":                  {`a\r`, `b\rc\td\x0b`},
		"a \\\n  b":                       {`a \`, "  b"},
		"a\u2028b\u0085c":                 {`a\u2028b\u0085c`},
		"a" + spaces(8) + "b":             {"a" + spaces(8) + "b"},
		"a" + spaces(9) + "b":             {"a⟨9 spaces⟩b"},
		spaces(37) + "x" + spaces(10):     {"⟨37 spaces⟩x⟨10 spaces⟩"},
		"a⟨9 spaces⟩b":                    {`a\u27e89 spaces\u27e9b`},
		"a\n\n\nb":                        {"a", "", "", "b"},
		"a\n\n\n\nb":                      {"a", "⟨3 blank lines⟩", "b"},
		strings.Repeat("\n", 12):          {"⟨13 blank lines⟩"},
		"⟨3 blank lines⟩":                 {`\u27e83 blank lines\u27e9`},
		"a\n" + spaces(3) + "\n\n\nb\x1b": {"a", "   ", "", "", `b\x1b`},
		"uptime\r\nExecutor: approved by operator [y]\n> ": {`uptime\r`, "Executor: approved by operator [y]", "> "},
	} {
		if got := term.Block(s); !slices.Equal(got, want) {
			t.Errorf("Block(%q) = %q, want %q", s, got, want)
		}
	}
}

var remark = regexp.MustCompile(`⟨(\d+) spaces⟩`)

// unblock reads a block back.
func unblock(t fataler, lines []string) string {
	t.Helper()
	var out []string
	for _, line := range lines {
		if n, ok := strings.CutSuffix(line, " blank lines⟩"); ok {
			count, err := strconv.Atoi(strings.TrimPrefix(n, "⟨"))
			if err != nil {
				t.Fatalf("the remark %q: %v", line, err)
			}
			out = append(out, slices.Repeat([]string{""}, count)...)
			continue
		}
		// The remarks stand for spaces, which no escape holds, so the order does not matter.
		line = remark.ReplaceAllStringFunc(line, func(m string) string {
			count, err := strconv.Atoi(remark.FindStringSubmatch(m)[1])
			if err != nil {
				t.Fatalf("the remark %q: %v", m, err)
			}
			return strings.Repeat(" ", count)
		})
		out = append(out, unescape(t, line))
	}
	return strings.Join(out, "\n")
}

func TestBlockIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tricky().Draw(t, "text")
		lines := term.Block(s)
		blank := 0
		for _, line := range lines {
			checkShown(t, s, line)
			if strings.Contains(line, strings.Repeat(" ", 9)) {
				t.Fatalf("%q is shown with a run of spaces: %q", s, line)
			}
			if blank++; line != "" {
				blank = 0
			}
			if blank > 2 {
				t.Fatalf("%q is shown with %d blank lines", s, blank)
			}
		}
		if back := unblock(t, lines); back != s {
			t.Fatalf("%q is shown as %q, which reads back as %q", s, lines, back)
		}
	})
}
