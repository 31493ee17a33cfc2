package term_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"executor/internal/term"
)

func TestSafe(t *testing.T) {
	for s, want := range map[string]string{
		"":                                   "",
		"plain text, 1 + 1 = 2; 'ok' \"$x\"": "plain text, 1 + 1 = 2; 'ok' \"$x\"",
		"naïve café 日本語 русский ελληνικά 😀": "naïve café 日本語 русский ελληνικά 😀",
		"a\nb\r\nc\td":                    `a\nb\r\nc\td`,
		"\x1b[2K\x1b]8;;x\x07":            `\x1b[2K\x1b]8;;x\x07`,
		"\x00\b\x7f":                      `\x00\x08\x7f`,
		"\u009b2K":                        `\u009b2K`,
		"\x9b2K\xff":                      `\x9b2K\xff`,
		"a\u202eb\u2066c\u200fd":          `a\u202eb\u2066c\u200fd`,
		"a\u200bb\u200dc\ufeffd\u00ade":   `a\u200bb\u200dc\ufeffd\u00ade`,
		"a\U000e0041\ufe0f\U000e0100":     `a\U000e0041\ufe0f\U000e0100`,
		"\u115f\u1160\u3164\uffa0\u2800":  `\u115f\u1160\u3164\uffa0\u2800`,
		"a\u2028b\u2029c\u0085":           `a\u2028b\u2029c\u0085`,
		"a\u00a0b\u3000c\u2003":           `a\u00a0b\u3000c\u2003`,
		"\ue000\U000f0000\ufffe\u0378":    `\ue000\U000f0000\ufffe\u0378`,
		"\ufffd":                          "\ufffd",
		`C:\dir \d+ \.`:                   `C:\dir \d+ \.`,
		`C:\new \\ \x1b`:                  `C:\\new \\\ \\x1b`,
		"\\\n":                            `\\\n`,
		"\\\xff":                          `\\\xff`,
		`end\`:                            `end\`,
		"⟨3 spaces⟩":                      `\u27e83 spaces\u27e9`,
		"e\u0301":                         "e\u0301",
		"\u0301e \u0301":                  `\u0301e \u0301`,
		"e\u0301\u0301\u0301\u0301\u0301": "e\u0301\u0301\u0301\u0301" + `\u0301`,
		"\n\u0301":                        `\n\u0301`,
	} {
		got := term.Safe(s)
		if got != want {
			t.Errorf("Safe(%q) = %q, want %q", s, got, want)
		}
		if back := unescape(t, got); back != s {
			t.Errorf("Safe(%q) reads back as %q", s, back)
		}
	}
}

// Every rune of the planes in use, a sample of the rest, and every byte: alone, after a letter and after
// a backslash.
func TestSafeShowsEveryRune(t *testing.T) {
	check := func(s string) {
		shown := term.Safe(s)
		checkShown(t, s, shown)
		if back := unescape(t, shown); back != s {
			t.Fatalf("%q is shown as %q, which reads back as %q", s, shown, back)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if inUse := r < 0x20000 || 0xe0000 <= r && r < 0xe1000; !inUse && r&0xffff < 0xfff0 && r%101 != 0 || !utf8.ValidRune(r) {
			continue
		}
		check(string(r) + "a" + string(r) + `\` + string(r))
	}
	for b := range 256 {
		check(string([]byte{byte(b), 'a', byte(b), '\\', byte(b)}))
	}
}

// tricky draws text in which all that matters to the escapes is frequent.
func tricky() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{`\`, `\\`, `n`, `x1b`, `u202e`, `U000e0041`, "\n", "\r", "\t", " ", "         ", "\n\n\n\n", "\x1b", "\x9b", "\xff", "\xc3", "\u0301",
			"\u202e", "\u200b", "\ufe0f", "⟨9 spaces⟩", "⟨3 blank lines⟩", "⟨", "⟩", "a", "日", "😀", "\u00a0", "\ufffd"}),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOf(piece), func(p []string) string { return strings.Join(p, "") })
}

func TestSafeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tricky().Draw(t, "text")
		shown := term.Safe(s)
		checkShown(t, s, shown)
		if back := unescape(t, shown); back != s {
			t.Fatalf("%q is shown as %q, which reads back as %q", s, shown, back)
		}
		if strings.ContainsAny(shown, "⟨⟩") {
			t.Fatalf("%q is shown with brackets: %q", s, shown)
		}
	})
}

func FuzzSafe(f *testing.F) {
	for _, s := range []string{`\\n`, "\\\x1b[2K", "\u202e", "a\xff\u0301", "⟨9 spaces⟩\n\n\n\n" + strings.Repeat(" ", 12)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := term.Safe(s)
		checkShown(t, s, shown)
		if back := unescape(t, shown); back != s {
			t.Fatalf("%q is shown as %q, which reads back as %q", s, shown, back)
		}
		lines := term.Block(s)
		for _, line := range lines {
			checkShown(t, s, line)
		}
		if back := unblock(t, lines); back != s {
			t.Fatalf("%q is shown as %q, which reads back as %q", s, lines, back)
		}
		if got := strings.Join(term.Wrap(shown, 7), ""); got != shown {
			t.Fatalf("wrapped %q gives %q", shown, got)
		}
		for _, finding := range term.Inspect(s) {
			checkShown(t, s, finding.Warning())
		}
	})
}
