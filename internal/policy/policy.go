// Package policy holds what the operator allows: credentials with their
// bindings, hosts, rules, and the approval level that an action needs.
//
// A Generation is one immutable reading of the vault. It holds no secret. It
// answers three questions: which credential belongs to a target, where a host
// is, and how much of the operator an action needs. What it does not know is
// refused or asked about; arguments never lower a level, since the level is the
// strictest over everything that matches the target, whichever credential the
// agent named.
//
// The level that is due is the strictest of the floors (of credentials and
// hosts) and of the rules that apply, or of the default by effect where none
// does. A rule compares words and path segments, never text: what it cannot
// read as such it does not widen.
package policy

import (
	"fmt"
	"slices"
	"sort"

	"executor/internal/action"
	"executor/internal/strictjson"
)

// Kinds of vault items.
const (
	KindCredential = "credential"
	KindHost       = "host"
	KindTool       = "tool" // the history of a published tool; package contract reads it
	KindRule       = "rule"
)

// Kinds lists the kinds of items that a vault may hold.
func Kinds() []string { return []string{KindCredential, KindHost, KindTool, KindRule} }

// An Item is a vault item without its secret.
type Item struct {
	Kind    string
	Name    string
	Version int
	Body    []byte
}

// A Ref names one version of one item.
type Ref struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// A Generation is an immutable reading of the vault, safe for concurrent use.
// The zero value knows nothing and binds nothing.
type Generation struct {
	number      uint64
	credentials map[string]*Credential // newest version by name
	ordered     []*Credential          // the same by name
	hosts       map[string]*Host
	rules       map[string]*Rule
}

// Load reads items, of which the newest version of each name counts.
func Load(number uint64, items []Item) (*Generation, error) {
	g := &Generation{number: number, credentials: map[string]*Credential{}, hosts: map[string]*Host{}, rules: map[string]*Rule{}}
	for _, it := range items {
		if err := g.add(it); err != nil {
			return nil, fmt.Errorf("%s %q version %d: %w", it.Kind, it.Name, it.Version, err)
		}
	}
	g.ordered = sorted(g.credentials)
	return g, nil
}

func (g *Generation) add(it Item) error {
	switch it.Kind {
	case KindCredential:
		c := &Credential{}
		if err := decode(it, c); err != nil {
			return err
		}
		c.Name, c.Version = it.Name, it.Version
		if err := c.compile(); err != nil {
			return err
		}
		if old := g.credentials[it.Name]; old == nil || old.Version < it.Version {
			g.credentials[it.Name] = c
		}
	case KindHost:
		h := &Host{}
		if err := decode(it, h); err != nil {
			return err
		}
		h.Name, h.Version = it.Name, it.Version
		if err := h.Check(); err != nil {
			return err
		}
		if old := g.hosts[it.Name]; old == nil || old.Version < it.Version {
			g.hosts[it.Name] = h
		}
	case KindTool:
	case KindRule:
		r := &Rule{}
		if err := decode(it, r); err != nil {
			return err
		}
		r.Name, r.Version = it.Name, it.Version
		if err := r.Check(); err != nil {
			return err
		}
		if old := g.rules[it.Name]; old == nil || old.Version < it.Version {
			g.rules[it.Name] = r
		}
	default:
		return fmt.Errorf("unknown kind of item")
	}
	return nil
}

func decode(it Item, v any) error { return strictjson.Decode(it.Body, v) }

// Number is the vault generation that was read.
func (g *Generation) Number() uint64 { return g.number }

// Credentials returns the newest version of each credential, by name.
func (g *Generation) Credentials() []*Credential { return slices.Clone(g.ordered) }

// Hosts returns the hosts, by name.
func (g *Generation) Hosts() []*Host { return sorted(g.hosts) }

// Rules returns the rules, by name.
func (g *Generation) Rules() []*Rule { return sorted(g.rules) }

// Credential returns the newest version of a credential.
func (g *Generation) Credential(name string) (*Credential, bool) {
	c, ok := g.credentials[name]
	return c, ok
}

// Host returns a host.
func (g *Generation) Host(name string) (*Host, bool) {
	h, ok := g.hosts[name]
	return h, ok
}

// DefaultLevel is the level of an action where no rule and no floor says
// otherwise: by effect, and Call for whatever is not known to be harmless.
func DefaultLevel(a action.Action) action.Level {
	switch a := a.(type) {
	case *action.Targets:
		return action.None
	case *action.HTTP:
		if SafeMethod(a.Method) && a.Binding != "" {
			return action.Session
		}
	case *action.File:
		if a.Reads() {
			return action.Session
		}
	}
	return action.Call
}

// SafeMethod reports whether an HTTP method only reads (RFC 9110, section 9.2.1).
func SafeMethod(method string) bool {
	return method == "GET" || method == "HEAD" || method == "OPTIONS"
}

func sorted[T any](m map[string]T) []T {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	out := make([]T, len(names))
	for i, n := range names {
		out[i] = m[n]
	}
	return out
}
