package contract

import (
	"bytes"
	"strings"
)

// unescape writes <, > and & in JSON as themselves. encoding/json escapes them in
// whatever it encodes, raw values too: a constant would be sent in other bytes
// once it was sealed in the vault than when its file was checked.
func unescape(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\u00`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] != '\\' || i+1 == len(raw):
			out = append(out, raw[i])
		case i+6 <= len(raw) && htmlEscapes[strings.ToLower(string(raw[i:i+6]))] != 0:
			out = append(out, htmlEscapes[strings.ToLower(string(raw[i:i+6]))])
			i += 5
		default: // an escape of two bytes, or the beginning of one
			out = append(out, raw[i], raw[i+1])
			i++
		}
	}
	return out
}

var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}
