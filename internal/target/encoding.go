package target

import (
	"errors"
	"strings"
)

// The character classes of RFC 3986 sections 2.2, 2.3, 3.3 and 3.4.

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isUnreserved(c byte) bool { return isAlnum(c) || strings.IndexByte("-._~", c) >= 0 }

func isPathChar(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@/", c) >= 0 }

func isQueryChar(c byte) bool { return isPathChar(c) || c == '?' }

const upperHex = "0123456789ABCDEF"

// encode percent-encodes every byte that is not allowed.
func encode(s string, allowed func(byte) bool) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; allowed(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}

// normalizeEncoding gives every character its one spelling: unreserved ones
// bare, escapes in upper case, what is not allowed escaped (RFC 3986 section 6.2.2).
func normalizeEncoding(s string, allowed func(byte) bool) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '%' {
			b.WriteString(encode(s[i:i+1], allowed))
			continue
		}
		decoded, ok := unhex(s[i+1:])
		if !ok {
			return "", errors.New("a % is not followed by two hex digits; a percent sign itself is written %25")
		}
		b.WriteString(encode(string([]byte{decoded}), isUnreserved))
		i += 2
	}
	return b.String(), nil
}

// decodeOnce decodes every escape that is one and leaves other percent signs.
func decodeOnce(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if decoded, ok := unhex(s[i+1:]); s[i] == '%' && ok {
			b.WriteByte(decoded)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unhex(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	var n byte
	for _, c := range []byte(s[:2]) {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | (c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | (c | 0x20 - 'a' + 10)
		default:
			return 0, false
		}
	}
	return n, true
}

func normalizeQuery(query string) (string, error) {
	out, err := normalizeEncoding(query, isQueryChar)
	if err != nil {
		return "", errors.New("in the query " + err.Error())
	}
	return out, nil
}
