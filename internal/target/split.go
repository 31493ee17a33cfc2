package target

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parts are the components of a URL as they were written.
type parts struct {
	scheme, authority, path, query string
}

// split cuts a URL into its components (RFC 3986 appendix B) and refuses what
// other programs would cut elsewhere.
func split(raw string) (parts, error) {
	if err := characters(raw); err != nil {
		return parts{}, err
	}
	scheme, rest, found := strings.Cut(raw, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case strings.HasPrefix(raw, "//"):
		return parts{}, fmt.Errorf("the URL has no scheme%s; write https:// before the host", reaches(raw[2:]))
	case !found || strings.ContainsAny(scheme, "/?#@.["):
		return parts{}, errors.New("the URL has no scheme; write https:// and the host first")
	case scheme != "http" && scheme != "https":
		return parts{}, errors.New("the URL's scheme is not http or https")
	case !strings.HasPrefix(rest, "//"):
		return parts{}, fmt.Errorf("the URL lacks the two slashes after %s:%s; write %s://HOST/PATH", scheme, reaches(rest), scheme)
	}
	rest = rest[2:]
	if strings.Contains(rest, "#") {
		return parts{}, fmt.Errorf("the URL has a fragment (#)%s; leave the # and what follows it out", reaches(rest))
	}
	rest, query, _ := strings.Cut(rest, "?")
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	p := parts{scheme: scheme, authority: rest[:end], path: rest[end:], query: query}
	if strings.Contains(p.authority, "@") {
		return parts{}, fmt.Errorf("the URL has user information before an @%s; leave it out, the credential is added from the vault", reaches(rest))
	}
	return p, nil
}

func characters(raw string) error {
	if raw == "" {
		return errors.New("the URL is empty; write https:// and the host")
	}
	if !utf8.ValidString(raw) {
		return errors.New("the URL is not valid UTF-8; percent-encode other bytes")
	}
	for _, r := range raw {
		switch {
		case r == '\\':
			return fmt.Errorf("the URL has a backslash%s; a URL has forward slashes only", reaches(afterScheme(raw)))
		case r == ' ':
			return errors.New("the URL has a space; write it as %20")
		case unicode.IsControl(r):
			return fmt.Errorf("the URL has the control character U+%04X; leave it out", r)
		case unicode.IsSpace(r):
			return fmt.Errorf("the URL has the space character U+%04X; percent-encode it", r)
		}
	}
	return nil
}

func afterScheme(raw string) string {
	_, rest, _ := strings.Cut(raw, ":")
	return strings.TrimLeft(rest, "/")
}

// reaches names, for an error, the host that the rest of a refused URL would
// have reached. It says nothing unless that is clearly a host name or address:
// in a broken URL a piece of a password may stand in its place.
func reaches(rest string) string {
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, _, err := parseAuthority(rest, "443")
	if err != nil || !strings.ContainsAny(host, ".:") {
		return ""
	}
	return " and would reach " + bracket(host)
}
