package term_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"executor/internal/term"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "😀": 2, "ｗ": 2, "é…": 2, `\x1b`: 4} {
		if got := term.Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"abc", 3, []string{"abc"}},
		{"abcd", 3, []string{"abc", "d"}},
		{"日本語", 5, []string{"日本", "語"}},
		{"abe\u0301d", 3, []string{"abe\u0301", "d"}},
		{"日a", 0, []string{"日", "a"}},
		{"abc", -1, []string{"ab", "c"}},
	} {
		if got := term.Wrap(c.line, c.width); !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, width := term.Safe(tricky().Draw(t, "text")), rapid.IntRange(-1, 30).Draw(t, "width")
		pieces := term.Wrap(line, width)
		if strings.Join(pieces, "") != line {
			t.Fatalf("Wrap(%q, %d) = %q", line, width, pieces)
		}
		for _, p := range pieces {
			if term.Width(p) > max(width, 2) || p == "" && line != "" {
				t.Fatalf("Wrap(%q, %d) has the piece %q", line, width, p)
			}
		}
	})
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"abc", 1, "…"}, {"abc", 0, ""}, {"", 0, ""}, {"abc", -5, ""},
		{"ae\u0301bc", 3, "ae\u0301…"},
	} {
		if got := term.Truncate(c.s, c.width); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
}
