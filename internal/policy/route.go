package policy

import (
	"fmt"
	"slices"
	"strings"

	"executor/internal/action"
)

// A Step is one host on the way to a destination, and the credential that logs in there.
type Step struct {
	Host       *Host
	Credential *Credential
}

// BindHost finds the way to a host: its jump hosts in the order in which they are
// connected to, and the host itself, last. Each credential must be bound to its
// host's address. The binding is the destination's; its floor is the strictest
// and its items are those of every step. A chain that leads back to itself, or
// to a host that is not there, is ErrNotBound.
func (g *Generation) BindHost(name string) ([]Step, Binding, error) {
	h, ok := g.hosts[name]
	if !ok {
		return nil, Binding{}, ErrUnknownHost
	}
	b := Binding{Floor: action.None}
	var route []Step
	for at := h; at != nil; {
		c, pattern, err := g.login(at)
		if err != nil {
			return nil, Binding{}, err
		}
		if at == h {
			b.Credential, b.Pattern = c, pattern
		}
		route = append(route, Step{at, c})
		b.Floor = action.Stricter(b.Floor, action.Stricter(at.Approval, c.Approval))
		b.Items = append(b.Items, Ref{KindHost, at.Name, at.Version}, Ref{KindCredential, c.Name, c.Version})
		if at, err = g.jump(at, route); err != nil {
			return nil, Binding{}, err
		}
	}
	slices.Reverse(route)
	return route, b, nil
}

// jump is the host that leads to at, or nil.
func (g *Generation) jump(at *Host, route []Step) (*Host, error) {
	if at.Jump == "" {
		return nil, nil
	}
	for _, s := range route {
		if s.Host.Name == at.Jump {
			return nil, fmt.Errorf("the jump hosts of %q lead in a circle (%s): %w", route[0].Host.Name, circle(route), ErrNotBound)
		}
	}
	next, ok := g.hosts[at.Jump]
	if !ok {
		return nil, fmt.Errorf("host %q is reached by way of %q, which the vault does not hold: %w", at.Name, at.Jump, ErrNotBound)
	}
	return next, nil
}

func circle(route []Step) string {
	names := make([]string, len(route))
	for i, s := range route {
		names[i] = s.Host.Name
	}
	return strings.Join(append(names, route[len(route)-1].Host.Jump), " by way of ")
}

// login is the credential for one host, and the pattern that binds it there.
func (g *Generation) login(h *Host) (*Credential, string, error) {
	c, ok := g.credentials[h.Credential]
	if !ok {
		return nil, "", fmt.Errorf("host %q logs in with credential %q, which the vault does not hold: %w", h.Name, h.Credential, ErrNotBound)
	}
	for _, p := range c.patterns {
		if p.MatchAddr(h.Addr) {
			return c, p.String(), nil
		}
	}
	return nil, "", fmt.Errorf("credential %q and host %q (ssh://%s): %w", c.Name, h.Name, h.Addr, ErrNotBound)
}
