package term_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"executor/internal/term"
)

func TestInspect(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "plain\n\ttext, naïve café": "", "日本語 русский": "", "5 kΩ, 3 µm, 1º": "", "⟨x⟩": "", "\ufffd": "",
		"a\x1b[2Kb":                `contains 1 control character (shown as \x1b)`,
		"a\rb\x1b\u009b":           `contains 3 control characters (the first shown as \r)`,
		"a\u202eb\u2066":           `contains 2 characters that reverse the order of text (the first shown as \u202e)`,
		"a\u200bb":                 `contains 1 invisible character (shown as \u200b)`,
		"a\u00a0b\U000e0041\ue000": `contains 3 invisible characters (the first shown as \u00a0)`,
		"a\xffb":                   `contains 1 byte that is not UTF-8 (shown as \xff)`,
		"p\u0430ypal.com":          `contains 1 word with letters that only look alike (the first is p\u0430ypal)`,
		"r\u03bfot, \u0410dmin":    `contains 2 words with letters that only look alike (the first is r\u03bfot)`,
		"\uff4c\uff53":             `contains 1 word with letters that only look alike (the first is \uff4c\uff53)`,
		"\U0001d42b\U0001d426":     `contains 1 word with letters that only look alike (the first is \U0001d42b\U0001d426)`,
		"x\u05d0\u05d1":            `contains 2 right-to-left letters (the order on screen may differ; the first is \u05d0)`,
		"a" + strings.Repeat(" ", 37) + "b         ": `contains a run of 37 spaces`,
		"a        b": "",
		"\x07\u202e\u200b\xff" + strings.Repeat(" ", 9): `contains 1 control character (shown as \x07)|` +
			`contains 1 character that reverses the order of text (shown as \u202e)|contains 1 invisible character (shown as \u200b)|` +
			`contains 1 byte that is not UTF-8 (shown as \xff)|contains a run of 9 spaces`,
	} {
		var got []string
		for _, f := range term.Inspect(s) {
			got = append(got, f.Warning())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("Inspect(%q)\n got %s\nwant %s", s, strings.Join(got, "|"), want)
		}
	}
}

func TestInspectExampleIsBounded(t *testing.T) {
	found := term.Inspect("a\u0430" + strings.Repeat("b", 1000))
	if len(found) != 1 || len(found[0].Example) > 200 {
		t.Errorf("%v", found)
	}
}

// What Safe escapes, tabs, line feeds, brackets and lone marks apart, Inspect reports.
func TestInspectMissesNothing(t *testing.T) {
	harmless := strings.NewReplacer("\n", "", "\t", "", "⟨", "", "⟩", "", "\u0301", "", `\`, "")
	rapid.Check(t, func(t *rapid.T) {
		s := harmless.Replace(rapid.StringOf(rapid.SampledFrom([]rune("ab \\\x1b\r\u200b\u202e\u00a0\u3164\U000e0041é日\n\t"))).Draw(t, "text"))
		odd := term.Safe(s) != s
		found := false
		for _, f := range term.Inspect(s) {
			found = found || f.Kind == term.Control || f.Kind == term.Bidi || f.Kind == term.Invisible
			checkShown(t, s, f.Warning())
		}
		if odd != found {
			t.Fatalf("%q is escaped: %v, reported: %v", s, odd, found)
		}
	})
}
