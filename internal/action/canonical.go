package action

import (
	"bytes"
	"encoding/json"
)

type limits struct {
	MaxBytes  int   `json:"max_bytes"`
	TimeoutMS int64 `json:"timeout_ms"`
}

func (l Limits) canonical() limits { return limits{l.MaxBytes, l.Timeout.Milliseconds()} }

// marshal is json.Marshal without the HTML escapes, which would hide nothing
// and make the recorded form harder to read.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
