package strictjson

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// The kinds of JSON value, as they are named in problems.
const (
	anObject = "an object"
	aList    = "a list"
	aString  = "a string"
	aBool    = "true or false"
	aNumber  = "a number"
	aNull    = "null"
)

func kindOf(first byte) string {
	switch first {
	case '{':
		return anObject
	case '[':
		return aList
	case '"':
		return aString
	case 't', 'f':
		return aBool
	case 'n':
		return aNull
	}
	return aNumber
}

// An expected is the Go type that a value meets. The zero value expects nothing
// in particular: an interface, a json.RawMessage, or no type at all.
type expected struct {
	t reflect.Type
	// custom is set for types that read themselves.
	custom bool
}

// expect follows pointers as encoding/json does and says what is to be looked at.
func (s *scanner) expect(t reflect.Type) expected {
	for t != nil {
		switch {
		case t == reflect.TypeFor[json.RawMessage]():
			return expected{}
		case t == reflect.TypeFor[json.Number]():
			return expected{t: t}
		case readsItself(t):
			return expected{t: t, custom: true}
		case t.Kind() == reflect.Interface:
			return expected{}
		case t.Kind() != reflect.Pointer:
			return expected{t: t}
		}
		t = t.Elem()
	}
	return expected{}
}

func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (e expected) is(kind reflect.Kind) bool {
	return e.t != nil && !e.custom && e.t.Kind() == kind
}

func (e expected) elem() reflect.Type {
	if e.is(reflect.Slice) || e.is(reflect.Array) {
		return e.t.Elem()
	}
	return nil
}

// wants names the kind of JSON value that fits, or "" if that is not known here.
func (e expected) wants() string {
	if e.t == nil || e.custom {
		return ""
	}
	switch k := e.t.Kind(); {
	case k == reflect.Struct || k == reflect.Map:
		return anObject
	case k == reflect.Slice && e.t.Elem().Kind() == reflect.Uint8:
		return "" // base64, which encoding/json judges
	case k == reflect.Slice || k == reflect.Array:
		return aList
	case e.t == reflect.TypeFor[json.Number]():
		return aNumber
	case k == reflect.String:
		return aString
	case k == reflect.Bool:
		return aBool
	case reflect.Int <= k && k <= reflect.Float64:
		return aNumber
	}
	return ""
}

// kind notes a value whose first byte shows that it cannot fit.
func (s *scanner) kind(e expected, first byte) {
	if first != '-' && (first < '0' || '9' < first) && kindOf(first) == aNumber {
		return // not a value; the scan is about to say so
	}
	want, got := e.wants(), kindOf(first)
	if want != "" && got != want && got != aNull {
		s.note("want %s, got %s", want, got)
	}
}

// literal notes a number that does not fit its type, and whatever a type that
// reads itself refuses: encoding/json would report both without the place.
func (s *scanner) literal(e expected, raw []byte) {
	switch {
	case e.custom:
		if err := json.Unmarshal(raw, reflect.New(e.t).Interface()); err != nil {
			s.note("%s", ownProblem(err))
		}
	case e.t != nil && kindOf(raw[0]) == aNumber:
		s.fits(e.t, string(raw))
	}
}

func (s *scanner) fits(t reflect.Type, digits string) {
	switch k := t.Kind(); {
	case reflect.Int <= k && k <= reflect.Int64:
		_, err := strconv.ParseInt(digits, 10, t.Bits())
		s.numeric(err, "a whole number without fraction or exponent")
	case reflect.Uint <= k && k <= reflect.Uintptr:
		_, err := strconv.ParseUint(digits, 10, t.Bits())
		s.numeric(err, "a whole number, zero or more")
	case k == reflect.Float32 || k == reflect.Float64:
		_, err := strconv.ParseFloat(digits, t.Bits())
		s.numeric(err, aNumber)
	}
}

func (s *scanner) numeric(err error, want string) {
	switch {
	case errors.Is(err, strconv.ErrRange):
		s.note("the number is too large")
	case err != nil:
		s.note("want %s", want)
	}
}

// length notes a list that is shorter or longer than a fixed-size array.
func (s *scanner) length(e expected, n int) {
	if e.is(reflect.Array) && e.t.Len() != n {
		s.note("want %d entries, got %d", e.t.Len(), n)
	}
}

// note adds a problem at the place that is being read.
func (s *scanner) note(format string, args ...any) {
	if len(s.found) == MaxProblems {
		s.more++
		return
	}
	s.found = append(s.found, Error{Path: s.pointer(), Problem: fmt.Sprintf(format, args...)})
}
