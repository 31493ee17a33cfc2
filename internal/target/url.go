package target

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// MaxURL is the longest URL in bytes that Parse takes, before and after normalization.
const MaxURL = 16 << 10

// A URL is a normalized http or https URL. Only Parse and the methods of URL
// make one; two that are equal under == are the same URL. The zero value is no
// URL and matches no pattern.
type URL struct {
	scheme string // "http" or "https"
	host   string // as in Host
	port   string // effective, never empty
	path   string // begins with a slash
	query  string // without the question mark
	origin string // as in Origin, from the fields above
}

// Parse reads and normalizes a URL. The error is a sentence for the caller of a
// tool: what is wrong and what would be right, without user information, path or
// query. It wraps ErrNever when the host is a hidden spelling of an address that
// is never reached.
func Parse(raw string) (URL, error) {
	if len(raw) > MaxURL {
		return URL{}, fmt.Errorf("the URL is %d bytes long; at most %d are taken", len(raw), MaxURL)
	}
	p, err := split(raw)
	if err != nil {
		return URL{}, err
	}
	u := URL{scheme: p.scheme}
	if u.host, u.port, err = parseAuthority(p.authority, defaultPort(p.scheme)); err != nil {
		return URL{}, err
	}
	u.origin = u.scheme + "://" + bracket(u.host)
	if u.port != defaultPort(u.scheme) {
		u.origin = u.scheme + "://" + u.HostPort()
	}
	if u.path, err = normalizePath(p.path); err != nil {
		return URL{}, fmt.Errorf("%w (the host is %s)", err, u.host)
	}
	if u.query, err = normalizeQuery(p.query); err != nil {
		return URL{}, fmt.Errorf("%w (the host is %s)", err, u.host)
	}
	if len(u.String()) > MaxURL {
		return URL{}, fmt.Errorf("the URL is longer than %d bytes once it is percent-encoded", MaxURL)
	}
	return u, nil
}

// String returns the bytes that are matched, shown, journaled and sent.
func (u URL) String() string {
	if u.query == "" {
		return u.origin + u.path
	}
	return u.origin + u.path + "?" + u.query
}

// Scheme is "http" or "https".
func (u URL) Scheme() string { return u.scheme }

// Host is the ASCII host name in lower case without a trailing dot, or an IPv4
// or IPv6 address, the latter without brackets.
func (u URL) Host() string { return u.host }

// Port is the effective port: the scheme's own when the URL names none.
func (u URL) Port() string { return u.port }

// Origin is scheme, host and, when it is not the scheme's own, port:
// "https://api.example.com", "http://[::1]:8080".
func (u URL) Origin() string { return u.origin }

// HostPort is host and effective port, an IPv6 address in brackets: what is dialed.
func (u URL) HostPort() string { return bracket(u.host) + ":" + u.port }

// Path is the percent-encoded path, "/" at least.
func (u URL) Path() string { return u.path }

// RawQuery is the percent-encoded query without the question mark.
func (u URL) RawQuery() string { return u.query }

// RequestURI is path and query, as they stand in the request line of HTTP/1.1.
func (u URL) RequestURI() string {
	if u.query == "" {
		return u.path
	}
	return u.path + "?" + u.query
}

// Literal returns the address when the host is one. It may be an IPv4-mapped
// IPv6 address, which Judge looks through.
func (u URL) Literal() (netip.Addr, bool) {
	a, err := netip.ParseAddr(u.host)
	return a, err == nil
}

// Judge judges the host as far as that is possible without resolving it: an
// address by Judge, the name of a metadata service as Never, localhost as
// Private. It reports false for any other name.
func (u URL) Judge() (Verdict, bool) { return judgeHost(u.host) }

// AddQuery returns the URL with name and value pairs appended to the query, in
// order, everything but unreserved characters percent-encoded (a space is %20).
// The caller bounds the length.
func (u URL) AddQuery(pairs [][2]string) URL {
	var b strings.Builder
	b.WriteString(u.query)
	for _, p := range pairs {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(encode(p[0], isUnreserved) + "=" + encode(p[1], isUnreserved))
	}
	u.query = b.String()
	return u
}

// Net returns the URL for net/http, which sends RequestURI and Host exactly as
// they are here. It is a copy.
func (u URL) Net() *url.URL {
	plain, err := url.PathUnescape(u.path)
	if err != nil {
		plain = u.path
	}
	host := strings.TrimPrefix(u.Origin(), u.scheme+"://")
	return &url.URL{Scheme: u.scheme, Host: host, Path: plain, RawPath: u.path, RawQuery: u.query}
}

// Resolve reads a reference such as a Location header's relative to u (RFC 3986
// section 5) and normalizes the result. A fragment of the reference is dropped.
func (u URL) Resolve(reference string) (URL, error) {
	ref, err := url.Parse(reference)
	if err != nil {
		return URL{}, errors.New("the reference is not a URL")
	}
	ref.Fragment, ref.RawFragment = "", ""
	return Parse(u.Net().ResolveReference(ref).String())
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

func bracket(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
