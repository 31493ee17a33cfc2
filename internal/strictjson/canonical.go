package strictjson

import (
	"bytes"
	"encoding/json"

	"github.com/gowebpki/jcs"
)

// Canonical encodes v in canonical form (RFC 8785). It asks of v that the fields
// of its structs stand in the order of their names and that its numbers are whole
// and below 2⁵³: then plain ASCII comes out of encoding/json as it should be, and
// only what is not plain pays for the transformation.
func Canonical(v any) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(1 << 10) // most have less
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if plain(raw) {
		return raw, nil
	}
	return jcs.Transform(raw)
}

// plain reports whether no character of raw can be spelled in two ways.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c < 0x20 || c > 0x7e || c == '\\' {
			return false
		}
	}
	return true
}
