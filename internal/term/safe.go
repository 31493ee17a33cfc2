package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks may stand on one character; scripts in use need at most four.
const maxMarks = 4

// Safe returns s as one line that shows everything in it, in the escaped form of
// the package's doc. Two different texts never give the same line.
func Safe(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	w := writer{out: &b}
	for len(s) > 0 {
		s = s[w.next(s):]
	}
	return b.String()
}

// A writer escapes rune by rune. It remembers whether a combining mark has
// something to stand on, and how many stand there.
type writer struct {
	out   *strings.Builder
	base  bool
	marks int
}

// next writes the first rune of s and returns how many bytes that took of s.
func (w *writer) next(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == '\\':
		w.plain(`\`)
		if startsEscape(s[1:]) {
			w.plain(`\`)
		}
	case r == utf8.RuneError && n == 1:
		w.escape(fmt.Sprintf(`\x%02x`, s[0]))
	case isMark(r) && shows(r) && w.base && w.marks < maxMarks:
		w.marks++
		w.out.WriteRune(r)
	case shows(r) && !isMark(r):
		w.plain(s[:n])
		w.base = r != ' '
	default:
		w.escape(escapeRune(r))
	}
	return n
}

func (w *writer) plain(s string) {
	w.out.WriteString(s)
	w.base, w.marks = true, 0
}

func (w *writer) escape(s string) {
	w.out.WriteString(s)
	w.base, w.marks = false, 0
}

// startsEscape reports whether a backslash before rest would read as an escape.
func startsEscape(rest string) bool {
	if rest == "" {
		return false
	}
	if strings.IndexByte(`\nrtxuU`, rest[0]) >= 0 {
		return true
	}
	r, n := utf8.DecodeRuneInString(rest)
	return r == utf8.RuneError && n == 1 || !shows(r)
}

func escapeRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// shows reports whether a rune leaves its own visible sign where it stands. The
// space does; other spaces do not, for nobody could tell them from it.
func shows(r rune) bool {
	switch {
	case r < 0x7f:
		return r >= ' '
	case r == '⟨' || r == '⟩': // reserved for remarks
		return false
	case r == '\u2800' || r == '\ufffc' || r == '\U0001d159': // symbols that are blank
		return false
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return false
	}
	return unicode.IsPrint(r) // letters, marks, numbers, punctuation, symbols
}

func isMark(r rune) bool { return r >= 0x300 && unicode.IsMark(r) }
