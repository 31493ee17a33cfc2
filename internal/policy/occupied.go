package policy

import (
	"net/url"
	"strings"
)

// Occupies reports whether the credential, or what signs with it, sets the header.
// A caller that set it too would speak beside the credential.
func (c *Credential) Occupies(header string) bool {
	switch c.Type {
	case HeaderType:
		return strings.EqualFold(header, c.Header)
	case AWSSigV4:
		return len(header) >= 6 && strings.EqualFold(header[:6], "X-Amz-") && signing(strings.ToLower(header[6:]))
	}
	return false
}

func signing(name string) bool {
	return name == "date" || name == "content-sha256" || name == "security-token" || name == "algorithm" ||
		name == "credential" || name == "signature" || name == "signedheaders"
}

// OccupiesParam reports whether a query holds a parameter that the credential
// sets, in any of the spellings that servers take for it: other case, PHP's
// brackets, dots and spaces, ';' between parameters.
func (c *Credential) OccupiesParam(rawQuery string) bool {
	if c.Type != Query && c.Type != AWSSigV4 {
		return false
	}
	for _, pair := range strings.FieldsFunc(rawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		folded := foldParam(plain)
		if c.Type == Query && folded == foldParam(c.Param) {
			return true
		}
		if rest, ok := strings.CutPrefix(folded, "x-amz-"); ok && c.Type == AWSSigV4 && signing(rest) {
			return true
		}
	}
	return false
}

func foldParam(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	return strings.NewReplacer(".", "_", " ", "_", "\x00", "").Replace(name)
}
