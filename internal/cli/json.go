package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"executor/internal/term"

	"github.com/itchyny/gojq"
)

func writeJSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// writeLine writes v as one line of JSON.
func writeLine(w io.Writer, v any) error { return encode(w, v, "") }

func encode(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeUnseen(b.Bytes()))
	return err
}

// escapeUnseen writes characters that a terminal acts on, or shows nothing of, as
// JSON escapes. encoding/json does so below U+0020 only. The value is the same.
func escapeUnseen(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < 0x7f || term.Safe(string(r)) == string(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

// writeJQ prints strings raw and everything else as JSON, as jq -r does.
func writeJQ(w io.Writer, o outputFlags, v any) error {
	query, err := gojq.Parse(o.jq)
	if err != nil {
		return usagef("--jq: %v", err)
	}
	input, err := plain(v)
	if err != nil {
		return err
	}
	ctx := o.context()
	for iter := query.RunWithContext(ctx, input); ; {
		out, more := iter.Next()
		if !more {
			return nil
		}
		if l, ok := w.(*listing); ok {
			l.truth = out != nil && out != false
		}
		switch out := out.(type) {
		case error:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return usagef("--jq: %v", out)
		case string:
			_, err = fmt.Fprintln(w, forTerminal(w, out))
		default:
			err = writeLine(w, out)
		}
		if err != nil {
			return err
		}
	}
}

// plain is v as jq takes it. Numbers keep their digits.
func plain(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out any
	return out, dec.Decode(&out)
}
