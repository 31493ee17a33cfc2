package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// A scanner reads one JSON text once. Where it holds a Go type for the value
// that it reads, it compares keys and kinds with it.
type scanner struct {
	raw  []byte
	pos  int
	path []step
	// found collects unknown keys and wrong kinds; malformed text ends the scan.
	found   Errors
	more    int
	tables  map[reflect.Type]table
	members map[string]json.RawMessage
}

// A step is one level of the path: a key as decoded, a place in a list, or,
// while a key is being read, nothing yet.
type step struct {
	kind  stepKind
	key   []byte
	index int
}

type stepKind byte

const (
	pending stepKind = iota
	member
	element
)

func (s *scanner) run(t reflect.Type) error {
	if !utf8.Valid(s.raw) {
		return Errors{{Problem: fmt.Sprintf("invalid UTF-8 at byte %d", firstInvalid(s.raw))}}
	}
	if bytes.HasPrefix(s.raw, []byte("\ufeff")) {
		return Errors{{Problem: "starts with a byte order mark; JSON has none"}}
	}
	if err := s.text(t); err != nil {
		return err
	}
	if s.more > 0 {
		s.found = append(s.found, Error{Problem: fmt.Sprintf("and %d more problems", s.more)})
	}
	if len(s.found) > 0 {
		return s.found
	}
	return nil
}

func (s *scanner) text(t reflect.Type) error {
	s.space()
	if err := s.value(t); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.raw) {
		return s.fail("data after the end of the value, at byte %d", s.pos)
	}
	return nil
}

func (s *scanner) value(t reflect.Type) error {
	if s.pos >= len(s.raw) {
		return s.unexpected("a value")
	}
	start := s.pos
	want := s.expect(t)
	s.kind(want, s.raw[start])
	var err error
	switch s.raw[start] {
	case '{':
		err = s.object(want)
	case '[':
		err = s.list(want)
	case '"':
		err = s.str()
	case 't':
		err = s.word("true")
	case 'f':
		err = s.word("false")
	case 'n':
		err = s.word("null")
	default:
		err = s.number()
	}
	if err == nil {
		s.literal(want, s.raw[start:s.pos])
	}
	return err
}

func (s *scanner) object(want expected) error {
	if len(s.path) == MaxDepth {
		return s.fail("nested deeper than %d levels", MaxDepth)
	}
	s.pos++
	s.space()
	if s.take('}') {
		return nil
	}
	s.path = append(s.path, step{})
	var keys keySet
	for {
		if err := s.readMember(want, &keys); err != nil {
			return err
		}
		s.space()
		if s.take('}') {
			break
		}
		if !s.take(',') {
			return s.unexpected("a comma or }")
		}
		s.space()
	}
	s.path = s.path[:len(s.path)-1]
	return nil
}

func (s *scanner) readMember(want expected, keys *keySet) error {
	here := &s.path[len(s.path)-1]
	*here = step{} // a fault in the key belongs to the object
	if s.pos >= len(s.raw) || s.raw[s.pos] != '"' {
		return s.unexpected("a key in double quotes")
	}
	key, err := s.key()
	if err != nil {
		return err
	}
	*here = step{kind: member, key: key}
	if !keys.add(key) {
		return s.fail("duplicate key %q", shorten(string(key)))
	}
	s.space()
	if !s.take(':') {
		return s.unexpected("a colon")
	}
	s.space()
	start := s.pos
	if err := s.value(s.field(want, key)); err != nil {
		return err
	}
	if s.members != nil && len(s.path) == 1 {
		s.members[string(key)] = s.raw[start:s.pos:s.pos]
	}
	return nil
}

func (s *scanner) list(want expected) error {
	if len(s.path) == MaxDepth {
		return s.fail("nested deeper than %d levels", MaxDepth)
	}
	s.pos++
	s.space()
	if s.take(']') {
		s.length(want, 0)
		return nil
	}
	s.path = append(s.path, step{})
	n := 0
	for {
		s.path[len(s.path)-1] = step{kind: element, index: n}
		if err := s.value(want.elem()); err != nil {
			return err
		}
		n++
		s.space()
		if s.take(']') {
			break
		}
		if !s.take(',') {
			return s.unexpected("a comma or ]")
		}
		s.space()
	}
	s.path = s.path[:len(s.path)-1]
	s.length(want, n)
	return nil
}
