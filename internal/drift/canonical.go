package drift

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// verbatim is a value that is in canonical form already.
type verbatim string

// canonical is the JSON Canonicalization Scheme (RFC 8785) of a decoded value.
func canonical(v any) string {
	var b strings.Builder
	writeCanonical(&b, v)
	return b.String()
}

func writeCanonical(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		fmt.Fprint(b, v)
	case json.Number:
		b.WriteString(canonicalNumber(v))
	case string:
		writeString(b, v)
	case verbatim:
		b.WriteString(string(v))
	case overDeep:
		b.WriteString(`{"$tooDeep":"` + digest(string(v)) + `"}`)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeCanonical(b, e)
		}
		b.WriteByte(']')
	case map[string]any:
		writeObject(b, v)
	}
}

func writeObject(b *strings.Builder, v map[string]any) {
	b.WriteByte('{')
	for i, k := range utf16Keys(v) {
		if i > 0 {
			b.WriteByte(',')
		}
		writeString(b, k)
		b.WriteByte(':')
		writeCanonical(b, v[k])
	}
	b.WriteByte('}')
}

// utf16Keys sorts as RFC 8785 section 3.2.3 wants it: by UTF-16 code units.
func utf16Keys(v map[string]any) []string {
	keys := sortedKeys(v)
	if slices.IndexFunc(keys, func(k string) bool { return strings.IndexFunc(k, notASCII) >= 0 }) >= 0 {
		slices.SortFunc(keys, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
	}
	return keys
}

func notASCII(r rune) bool { return r > 0x7f }

func writeString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 && strings.ContainsRune("\b\t\n\f\r", r):
			b.WriteByte('\\')
			b.WriteByte("btn?fr"[r-'\b'])
		case r < 0x20:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
