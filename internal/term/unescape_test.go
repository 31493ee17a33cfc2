package term_test

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A fataler is *testing.T, *testing.F or *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// unescape reads the escaped form back. That it exists is the proof that no two
// texts show the same.
func unescape(t fataler, s string) string {
	t.Helper()
	var b strings.Builder
	for s != "" {
		n := 1
		switch {
		case s[0] != '\\' || len(s) == 1:
			b.WriteByte(s[0])
		case s[1] == '\\':
			b.WriteByte('\\')
			n = 2
		case s[1] == 'n' || s[1] == 'r' || s[1] == 't':
			b.WriteByte(map[byte]byte{'n': '\n', 'r': '\r', 't': '\t'}[s[1]])
			n = 2
		case s[1] == 'x':
			b.WriteByte(byte(hex(t, s[2:4])))
			n = 4
		case s[1] == 'u':
			b.WriteRune(hex(t, s[2:6]))
			n = 6
		case s[1] == 'U':
			b.WriteRune(hex(t, s[2:10]))
			n = 10
		default:
			b.WriteByte('\\')
		}
		s = s[n:]
	}
	return b.String()
}

func hex(t fataler, digits string) rune {
	t.Helper()
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		t.Fatalf("the escape digits %q: %v", digits, err)
	}
	return rune(n)
}

// checkShown fails for any rune that a terminal could act on or that shows
// nothing. It names what is forbidden, where the code names what is allowed.
func checkShown(t fataler, from, shown string) {
	t.Helper()
	if !utf8.ValidString(shown) {
		t.Fatalf("%q is shown as %q, which is not UTF-8", from, shown)
	}
	for _, r := range shown {
		switch {
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point),
			unicode.Is(unicode.Zs, r) && r != ' ', !unicode.IsGraphic(r),
			r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFFF0 && r <= 0xFFFC, r == 0x2800, r == 0x3164, r == 0x115F, r == 0x1160, r == 0xFFA0:
			t.Fatalf("%q is shown as %q, which holds U+%04X", from, shown, r)
		}
	}
}
