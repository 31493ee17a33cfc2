package console

import (
	"strings"
	"unicode/utf8"

	"executor/internal/term"
)

// maxTyped is the longest line that is taken, in bytes.
const maxTyped = 1024

// What a key did to the line.
type stroke int

const (
	typing stroke = iota
	entered
	space // on an empty line
)

// A line is what the operator types. Its bytes never move, so that clearing
// them leaves no copy of a passphrase.
type line struct {
	buf     []byte
	hidden  bool // a passphrase: not echoed, a space is a space
	tooLong bool
	escape  byte // inside an escape sequence: its last byte, 0 outside
}

func newLine() *line { return &line{buf: make([]byte, 0, maxTyped)} }

// reset forgets what was typed.
func (l *line) reset() {
	clear(l.buf[:cap(l.buf)])
	l.buf, l.tooLong, l.escape = l.buf[:0], false, 0
}

// key takes one byte and returns what it did and what to echo.
func (l *line) key(b byte) (stroke, string) {
	if l.inEscape(b) {
		return typing, ""
	}
	switch {
	case b == '\r' || b == '\n':
		return entered, ""
	case b == ' ' && len(l.buf) == 0 && !l.hidden:
		return space, ""
	case b == 0x7f || b == '\b':
		return typing, l.erase()
	case b == 0x15: // Ctrl-U
		echo := ""
		for len(l.buf) > 0 {
			echo += l.erase()
		}
		return typing, echo
	case b < ' ':
		return typing, ""
	case len(l.buf) == maxTyped:
		l.tooLong = true
		return typing, ""
	}
	l.buf = append(l.buf, b)
	return typing, l.echo()
}

// inEscape swallows the sequences that arrow and function keys send.
func (l *line) inEscape(b byte) bool {
	switch {
	case b == 0x1b:
		l.escape = b
	case l.escape == 0x1b && (b == '[' || b == 'O'):
		l.escape = b
	case l.escape == '[' && b >= 0x20 && b < 0x40:
	case l.escape == '[' || l.escape == 'O':
		l.escape = 0
	case l.escape == 0x1b:
		l.escape = 0
		return false
	default:
		return false
	}
	return true
}

// echo returns the character that the last byte completed.
func (l *line) echo() string {
	if l.hidden {
		return ""
	}
	r, n := utf8.DecodeLastRune(l.buf)
	if r == utf8.RuneError {
		return ""
	}
	return term.Safe(string(l.buf[len(l.buf)-n:]))
}

// erase takes back the last character.
func (l *line) erase() string {
	if len(l.buf) == 0 {
		return ""
	}
	echo := l.echo()
	_, n := utf8.DecodeLastRune(l.buf)
	clear(l.buf[len(l.buf)-n:])
	l.buf = l.buf[:len(l.buf)-n]
	return strings.Repeat("\b \b", term.Width(echo))
}
