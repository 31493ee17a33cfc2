// Package strictjson reads JSON that comes from an agent, a server or a file,
// and refuses what encoding/json lets pass.
//
// encoding/json takes "HOST" for a field named "host", lets the last of two
// equal keys win, drops keys that it does not know and turns broken Unicode
// into U+FFFD. Two readers of one message then see two messages: one is shown
// and approved, the other runs. This package refuses, naming the place by its
// JSON Pointer (RFC 6901):
//
//   - duplicate keys at any depth, compared after decoding ("a" and "\u0061" are equal);
//   - keys that are not, byte for byte, the name of a field;
//   - invalid UTF-8 and escaped surrogates without a partner (RFC 8259 section 8.2, RFC 7493);
//   - nesting deeper than MaxDepth, data after the value, and whatever RFC 8259 refuses.
//
// Numbers keep their digits: interface values get json.Number, and
// json.RawMessage gets the bytes as they came.
//
// For
//
//	{"host": "web-1", "Command": "uptime", "env": [{"name": "A", "x": 1}]}
//
// decoded into a struct with the fields host, command and env, the error is
//
//	/Command: unknown key "Command" (did you mean "command"?); /env/0/x: unknown key "x"
//
// Error texts name keys and kinds, never a value: a value may be a secret. Types
// that read themselves are asked to do the same.
//
// Canonical writes a value in the one form that digests and signatures are made of.
package strictjson

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// MaxDepth is how many arrays and objects may stand inside one another.
const MaxDepth = 128

// Check reports whether raw is one JSON value and nothing else, without
// duplicate keys, broken Unicode or nesting beyond MaxDepth. The error is an
// Errors with one entry. It takes time linear in len(raw); memory is taken only
// for objects with many keys and for keys that are written with escapes.
func Check(raw []byte) error {
	s := scanner{raw: raw}
	return s.run(nil)
}

// Decode checks raw as Check does and decodes it into v, a pointer that is not
// nil. Every key of an object that meets a struct must be exactly the name of
// one of its fields. Values must be of the field's kind: null leaves a field as
// it is, as in encoding/json, but a list must be as long as a fixed-size array.
//
// The error is an Errors: one entry if raw is malformed, otherwise all unknown
// keys and wrong kinds, at most MaxProblems of them. After an error v must not
// be used. What a type's own UnmarshalJSON reads is that type's business, apart from
// what Check refuses.
func Decode(raw []byte, v any) error {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer || reflect.ValueOf(v).IsNil() {
		return &json.InvalidUnmarshalError{Type: t}
	}
	s := scanner{raw: raw}
	if err := s.run(t.Elem()); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return Errors{{Problem: "a value does not fit its field"}} // the cause may repeat the value
	}
	return nil
}

// Members returns the members of the object raw, each value byte for byte as it
// stands there, without the space around it. The values share memory with raw.
// It refuses what Check refuses, and any value that is not an object.
func Members(raw []byte) (map[string]json.RawMessage, error) {
	s := scanner{raw: raw, members: map[string]json.RawMessage{}}
	if err := s.run(nil); err != nil {
		return nil, err
	}
	if kind := kindOf(bytes.TrimLeft(raw, " \t\r\n")[0]); kind != anObject {
		return nil, Errors{{Problem: "want " + anObject + ", got " + kind}}
	}
	return s.members, nil
}
