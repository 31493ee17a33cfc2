package contract

import (
	"encoding/json"
	"fmt"
	"sort"

	"executor/internal/action"
)

// A Snapshot is an immutable set of tools. The zero value knows none.
type Snapshot struct {
	tools  map[string]*Contract
	names  []string
	digest string
}

// NewSnapshot makes a snapshot of one contract a tool.
func NewSnapshot(contracts ...*Contract) (*Snapshot, error) {
	s := &Snapshot{tools: map[string]*Contract{}}
	for _, c := range contracts {
		if s.tools[c.Tool] != nil {
			return nil, fmt.Errorf("tool %s: two current contracts", c.Tool)
		}
		s.tools[c.Tool] = c
		s.names = append(s.names, c.Tool)
	}
	sort.Strings(s.names)
	digests := make([]string, len(s.names))
	for i, n := range s.names {
		digests[i] = s.tools[n].digest
	}
	raw, err := json.Marshal(digests)
	if err != nil {
		return nil, err
	}
	s.digest = action.Sum(raw)
	return s, nil
}

// Tools returns the current contracts, by name.
func (s *Snapshot) Tools() []*Contract {
	out := make([]*Contract, len(s.names))
	for i, n := range s.names {
		out[i] = s.tools[n]
	}
	return out
}

// Tool returns the current contract of a tool.
func (s *Snapshot) Tool(name string) (*Contract, bool) {
	c, ok := s.tools[name]
	return c, ok
}

// Digest is the SHA-256 over the digests of all contracts in order.
func (s *Snapshot) Digest() string { return s.digest }

// Revisions maps each tool to its current revision, as a catalog records it.
func (s *Snapshot) Revisions() map[string]int {
	m := make(map[string]int, len(s.names))
	for _, n := range s.names {
		m[n] = s.tools[n].Revision
	}
	return m
}
