package mask

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// An escapes is a set of the ways to escape that a view decodes.
type escapes uint8

const (
	percent escapes = 1 << iota
	backslash
	reference
)

// escapeMax is the longest escape: &#1114111; or &#x10ffff;.
const escapeMax = 10

func (e escapes) begin(c byte) bool {
	return c == '%' && e&percent != 0 || c == '\\' && e&backslash != 0 || c == '&' && e&reference != 0
}

// A progress says how far an escape is.
type progress int

const (
	broken progress = iota // not an escape: its last byte does not fit
	begun
	complete
)

// unescape reads b, which begins with the first byte of an escape, and appends
// what a complete one stands for to out.
func unescape(b []byte, out []byte) ([]byte, progress) {
	switch b[0] {
	case '%':
		return hexByte(b[1:], out)
	case '\\':
		return unescapeBackslash(b[1:], out)
	default:
		return unescapeReference(b[1:], out)
	}
}

func hexByte(digits []byte, out []byte) ([]byte, progress) {
	v, p := number(digits, 2, 16)
	if p == complete {
		out = append(out, byte(v))
	}
	return out, p
}

// number reads digits up to a length; a byte that is no digit breaks it.
func number(digits []byte, length, base int) (rune, progress) {
	v := rune(0)
	for _, c := range digits {
		d := digit(c)
		if d >= base {
			return 0, broken
		}
		v = v*rune(base) + rune(d)
	}
	if len(digits) < length {
		return 0, begun
	}
	return v, complete
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

func unescapeBackslash(b []byte, out []byte) ([]byte, progress) {
	if len(b) == 0 {
		return out, begun
	}
	switch c := b[0]; {
	case c == 'u':
		v, p := number(b[1:], 4, 16)
		if p == complete {
			out = appendUnit(out, v)
		}
		return out, p
	case c == 'x':
		return hexByte(b[1:], out)
	case '0' <= c && c <= '3':
		v, p := number(b, 3, 8)
		if p == complete {
			out = append(out, byte(v))
		}
		return out, p
	default:
		if i := strings.IndexByte("bfnrt", c); i >= 0 {
			return append(out, "\b\f\n\r\t"[i]), complete
		}
		if punctuation(c) {
			return append(out, c), complete
		}
		return out, broken
	}
}

func punctuation(c byte) bool {
	letter := 'a' <= c|0x20 && c|0x20 <= 'z'
	return ' ' <= c && c <= '~' && !letter && (c < '0' || c > '9')
}

func unescapeReference(b []byte, out []byte) ([]byte, progress) {
	name := string(b)
	if strings.HasPrefix(name, "#") {
		return unescapeNumeric(name[1:], out)
	}
	for _, known := range [...]struct{ name, char string }{
		{"amp;", "&"}, {"lt;", "<"}, {"gt;", ">"}, {"quot;", `"`}, {"apos;", "'"},
	} {
		if name == known.name {
			return append(out, known.char...), complete
		}
		if strings.HasPrefix(known.name, name) {
			return out, begun
		}
	}
	return out, broken
}

func unescapeNumeric(digits string, out []byte) ([]byte, progress) {
	base := 10
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		base, digits = 16, digits[1:]
	}
	body, ended := strings.CutSuffix(digits, ";")
	for i := range len(body) {
		if digit(body[i]) >= base {
			return out, broken
		}
	}
	if !ended {
		if len(body) > 7 {
			return out, broken
		}
		return out, begun
	}
	v, err := strconv.ParseUint(body, base, 21)
	if err != nil || v > utf8.MaxRune {
		return out, broken
	}
	return utf8.AppendRune(out, rune(v)), complete
}
