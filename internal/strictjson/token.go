package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (s *scanner) space() {
	for s.pos < len(s.raw) {
		switch s.raw[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.pos < len(s.raw) && s.raw[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.raw[s.pos:], []byte(w)) {
		return s.unexpected("a value")
	}
	s.pos += len(w)
	return nil
}

// key reads a member's name and returns it decoded. It shares memory with the
// text unless it holds escapes.
func (s *scanner) key() ([]byte, error) {
	start := s.pos
	if err := s.str(); err != nil {
		return nil, err
	}
	quoted := s.raw[start:s.pos]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	var key string
	if err := json.Unmarshal(quoted, &key); err != nil {
		return nil, s.fail("not valid JSON: a key at byte %d", start)
	}
	return []byte(key), nil
}

func (s *scanner) str() error {
	s.pos++
	for s.pos < len(s.raw) {
		switch c := s.raw[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return s.unexpected("an escape for a control character")
		default:
			s.pos++
		}
	}
	return s.unexpected("the end of a string")
}

func (s *scanner) escape() error {
	if s.pos+1 >= len(s.raw) {
		s.pos = len(s.raw)
		return s.unexpected("the end of a string")
	}
	switch s.raw[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return nil
	case 'u':
		return s.unicode()
	}
	s.pos++
	return s.unexpected("an escape character")
}

// unicode reads \uXXXX, and the second half of a surrogate pair with it.
func (s *scanner) unicode() error {
	r, ok := s.hex(s.pos)
	if !ok {
		return s.fail("not valid JSON: a \\u escape without four hex digits at byte %d", s.pos)
	}
	if !utf16.IsSurrogate(r) {
		s.pos += 6
		return nil
	}
	low, ok := s.hex(s.pos + 6)
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return s.fail("lone surrogate at byte %d", s.pos)
	}
	s.pos += 12
	return nil
}

// hex reads the escape \uXXXX at a position.
func (s *scanner) hex(at int) (rune, bool) {
	if at+6 > len(s.raw) || s.raw[at] != '\\' || s.raw[at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.raw[at+2 : at+6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// number reads a number (RFC 8259 section 6).
func (s *scanner) number() error {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return s.unexpected("a value")
	}
	if s.take('.') && !s.digits() {
		return s.unexpected("a digit")
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.raw) && '0' <= s.raw[s.pos] && s.raw[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.raw) {
		return s.fail("not valid JSON: it ends where %s should be", want)
	}
	r, _ := utf8.DecodeRune(s.raw[s.pos:])
	return s.fail("not valid JSON: want %s, got %s at byte %d", want, strconv.QuoteRune(r), s.pos)
}

// fail is the malformed text's error, at the place that is being read.
func (s *scanner) fail(format string, args ...any) error {
	return Errors{{Path: s.pointer(), Problem: fmt.Sprintf(format, args...)}}
}

func (s *scanner) pointer() string {
	var b strings.Builder
	for _, p := range s.path {
		switch p.kind {
		case member:
			b.WriteString("/" + pointerToken(string(p.key)))
		case element:
			b.WriteString("/" + strconv.Itoa(p.index))
		}
	}
	return b.String()
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
