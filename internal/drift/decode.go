package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrTooLarge is the error of a snapshot above MaxSnapshotBytes.
var ErrTooLarge = errors.New("snapshot too large")

// ErrMalformed is the error of bytes that are not one JSON text in the strict
// reading of this package: no duplicate keys, no lone surrogates, valid UTF-8.
var ErrMalformed = errors.New("malformed JSON")

// jsonDepth is how deep a JSON text is read. What lies deeper is skipped by
// counting brackets and kept as overDeep, so that nesting costs no stack.
const jsonDepth = 256

// overDeep is a part of a JSON text below jsonDepth, as it was received.
type overDeep string

// decode reads one JSON text into nil, bool, json.Number, string, []any,
// map[string]any and overDeep.
func decode(raw []byte) (any, error) {
	if len(raw) > MaxSnapshotBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(raw), MaxSnapshotBytes)
	}
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrMalformed)
	}
	r := &reader{raw: raw}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	r.space()
	if r.at != len(raw) {
		return nil, r.fail("text after the value")
	}
	return v, nil
}

type reader struct {
	raw []byte
	at  int
}

func (r *reader) fail(what string) error {
	return fmt.Errorf("%w: %s at byte %d", ErrMalformed, what, r.at)
}

func (r *reader) space() {
	for r.at < len(r.raw) {
		switch r.raw[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

func (r *reader) peek() byte {
	r.space()
	if r.at >= len(r.raw) {
		return 0
	}
	return r.raw[r.at]
}

func (r *reader) value(depth int) (any, error) {
	switch c := r.peek(); {
	case (c == '{' || c == '[') && depth >= jsonDepth:
		return r.skip()
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case c == '"':
		return r.str()
	case c == '-' || '0' <= c && c <= '9':
		return r.number()
	default:
		return r.word()
	}
}

func (r *reader) object(depth int) (any, error) {
	r.at++
	out := map[string]any{}
	for first := true; ; first = false {
		if r.peek() == '}' && first {
			break
		}
		if r.peek() != '"' {
			return nil, r.fail("expected a key")
		}
		key, err := r.str()
		if err != nil {
			return nil, err
		}
		if _, twice := out[key]; twice {
			return nil, r.fail(fmt.Sprintf("duplicate key %q", key))
		}
		if r.peek() != ':' {
			return nil, r.fail("expected a colon")
		}
		r.at++
		if out[key], err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if r.peek() != ',' {
			break
		}
		r.at++
	}
	return out, r.closing('}')
}

func (r *reader) array(depth int) (any, error) {
	r.at++
	out := []any{}
	for first := true; ; first = false {
		if r.peek() == ']' && first {
			break
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if r.peek() != ',' {
			break
		}
		r.at++
	}
	return out, r.closing(']')
}

func (r *reader) closing(c byte) error {
	if r.peek() != c {
		return r.fail(fmt.Sprintf("expected %q", c))
	}
	r.at++
	return nil
}

// str reads a string. The standard decoder turns a lone surrogate into U+FFFD
// without a word; here it is an error, because two names must not fold into one.
func (r *reader) str() (string, error) {
	start := r.at
	for r.at++; r.at < len(r.raw) && r.raw[r.at] != '"'; r.at++ {
		if r.raw[r.at] == '\\' {
			r.at++
		}
	}
	if r.at >= len(r.raw) {
		return "", r.fail("unterminated string")
	}
	r.at++
	text := r.raw[start:r.at]
	if loneSurrogate(text) {
		return "", r.fail("lone surrogate")
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return "", r.fail("bad string")
	}
	return s, nil
}

func (r *reader) number() (any, error) {
	start := r.at
	for r.at < len(r.raw) {
		c := r.raw[r.at]
		if c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' && (c < '0' || c > '9') {
			break
		}
		r.at++
	}
	var n json.Number
	if err := json.Unmarshal(r.raw[start:r.at], &n); err != nil {
		return nil, r.fail("bad number")
	}
	return n, nil
}

func (r *reader) word() (any, error) {
	for text, v := range map[string]any{"null": nil, "true": true, "false": false} {
		if end := r.at + len(text); end <= len(r.raw) && string(r.raw[r.at:end]) == text {
			r.at = end
			return v, nil
		}
	}
	return nil, r.fail("expected a value")
}

// skip passes over one object or array without building it.
func (r *reader) skip() (any, error) {
	start, open := r.at, 0
	for ; r.at < len(r.raw); r.at++ {
		switch r.raw[r.at] {
		case '"':
			if _, err := r.str(); err != nil {
				return nil, err
			}
			r.at--
		case '{', '[':
			open++
		case '}', ']':
			if open--; open == 0 {
				r.at++
				return overDeep(r.raw[start:r.at]), nil
			}
		}
	}
	return nil, r.fail("unterminated nesting")
}
