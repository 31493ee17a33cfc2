package policy

import (
	"errors"
	"fmt"

	"executor/internal/action"
	"executor/internal/target"
)

// Errors of binding.
var (
	ErrNotBound    = errors.New("credential is not bound to this target")
	ErrUnknownHost = errors.New("no such host")
)

// A Binding is what a target meets: the credential and pattern that apply, the
// floor over everything that matched, and the items that took part.
type Binding struct {
	Credential *Credential // nil: no binding matched
	Pattern    string
	// Private: the pattern itself names a private or loopback address.
	Private bool
	// Floor is the strictest level over all bindings that match.
	Floor action.Level
	Items []Ref
}

// BindURL finds the credential for u: the one that the agent named, if it is
// bound there, else the one with the longest matching prefix; of equals, the
// first by name. Without a match the binding is empty, unless a credential was
// named, which is ErrNotBound.
func (g *Generation) BindURL(u target.URL, named string) (Binding, error) {
	b := Binding{Floor: action.None}
	var best target.Pattern
	for _, c := range g.ordered {
		p, ok := c.match(u)
		if !ok {
			continue
		}
		b.Floor = action.Stricter(b.Floor, c.Approval)
		b.Items = append(b.Items, Ref{KindCredential, c.Name, c.Version})
		if named != "" && c.Name != named {
			continue
		}
		if b.Credential == nil || p.Len() > best.Len() {
			b.Credential, best = c, p
		}
	}
	if named != "" && b.Credential == nil {
		return Binding{}, fmt.Errorf("credential %q: %w", named, ErrNotBound)
	}
	if b.Credential != nil {
		b.Pattern, b.Private = best.String(), best.Private()
	}
	return b, nil
}

// match returns the credential's longest pattern that covers u.
func (c *Credential) match(u target.URL) (best target.Pattern, ok bool) {
	for i := range c.patterns {
		if p := &c.patterns[i]; p.MatchURL(u) && (!ok || p.Len() > best.Len()) {
			best, ok = *p, true
		}
	}
	return best, ok
}

// Covers reports whether an SSH credential may be used on host:port.
func (c *Credential) Covers(addr string) bool {
	for _, p := range c.patterns {
		if p.MatchAddr(addr) {
			return true
		}
	}
	return false
}
