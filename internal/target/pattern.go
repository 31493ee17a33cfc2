package target

import (
	"errors"
	"fmt"
	"strings"
)

// A Pattern is one target that a credential or rule is bound to. Patterns that
// are equal under == match the same targets. The zero value matches nothing.
type Pattern struct {
	url     URL    // for http and https
	ssh     string // host:port, for ssh
	private bool   // see Private
}

// ParsePattern reads https://host[:port]/path-prefix, http://… to exact
// loopback, or ssh://host[:port] (22 when it is absent). The error is a sentence
// for the operator. It wraps ErrNever for an address or name that is never reached.
func ParsePattern(s string) (Pattern, error) {
	if strings.Contains(s, "*") {
		return Pattern{}, errors.New("a target has no wildcards; write one target for each host, and the path up to where it varies")
	}
	if len(s) >= 6 && strings.EqualFold(s[:6], "ssh://") {
		addr, err := HostPort(strings.TrimSuffix(s[6:], "/"))
		if err != nil {
			return Pattern{}, err
		}
		return Pattern{ssh: addr}.judged(), nil
	}
	if strings.Contains(s, "?") {
		return Pattern{}, errors.New("a target has no query; leave the ? and what follows it out")
	}
	u, err := Parse(s)
	if err != nil {
		return Pattern{}, err
	}
	if err := checkBindable(u); err != nil {
		return Pattern{}, err
	}
	return Pattern{url: u}.judged(), nil
}

// judged returns p with what its host is, looked up once.
func (p Pattern) judged() Pattern {
	v, known := judgeHost(p.Host())
	p.private = known && v.Class() == Private
	return p
}

func checkBindable(u URL) error {
	if v, known := u.Judge(); known && v.Class() == Never {
		return fmt.Errorf("%s is %s: %w", u.Host(), v.Why(), ErrNever)
	}
	if u.Scheme() == "http" && !Loopback(u.Host()) {
		return fmt.Errorf("a credential goes over plain http only to 127.0.0.0/8, ::1 or localhost; write https://%s", bracket(u.Host()))
	}
	return nil
}

// MatchURL reports whether u lies under the pattern: the same scheme, host and
// effective port, and a path that is the pattern's or continues it at a slash.
func (p Pattern) MatchURL(u URL) bool {
	if p.url.host == "" || p.url.host != u.host || p.url.port != u.port || p.url.scheme != u.scheme {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path(), p.url.Path())
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(p.url.Path(), "/"))
}

// MatchAddr reports whether host:port is the SSH destination of the pattern, in whatever spelling.
func (p Pattern) MatchAddr(hostport string) bool {
	addr, err := HostPort(hostport)
	return err == nil && addr == p.ssh
}

// Len orders patterns that match one target: the longer is the narrower.
func (p Pattern) Len() int { return len(p.url.Path()) }

// Private reports whether the pattern names a private or loopback address, or
// localhost, and so permits dialing private addresses.
func (p Pattern) Private() bool { return p.private }

// Scheme is "https", "http" or "ssh", "" for the zero value.
func (p Pattern) Scheme() string {
	if p.ssh != "" {
		return "ssh"
	}
	return p.url.Scheme()
}

// Host is the normalized host, an IPv6 address without brackets.
func (p Pattern) Host() string {
	if p.ssh == "" {
		return p.url.Host()
	}
	host, _, err := cutPort(p.ssh, "")
	if err != nil {
		return ""
	}
	return host
}

// String returns the pattern's one spelling; ParsePattern of it gives the
// pattern. An SSH target always has its port.
func (p Pattern) String() string {
	if p.ssh != "" {
		return "ssh://" + p.ssh
	}
	return p.url.String()
}
