package contract

import (
	"encoding/json"
	"fmt"
	"sort"

	"executor/internal/action"
)

// A Snapshot is an immutable set of tools. The zero value knows none.
type Snapshot struct {
	tools  map[string]*Tool
	served []*Contract // the current ones, by name
	digest string
}

// NewSnapshot makes a snapshot of tools with different names.
func NewSnapshot(tools ...*Tool) (*Snapshot, error) {
	s := &Snapshot{tools: map[string]*Tool{}}
	for _, t := range tools {
		if s.tools[t.Name] != nil {
			return nil, fmt.Errorf("two tools are called %s", t.Name)
		}
		s.tools[t.Name] = t
		if t.Current != nil {
			s.served = append(s.served, t.Current)
		}
	}
	sort.Slice(s.served, func(i, j int) bool { return s.served[i].Tool < s.served[j].Tool })
	digests := make([]string, len(s.served))
	for i, c := range s.served {
		digests[i] = c.digest
	}
	raw, err := json.Marshal(digests)
	if err != nil {
		return nil, err
	}
	s.digest = action.Sum(raw)
	return s, nil
}

// Served returns the current contracts, by name: what tools/list shows.
func (s *Snapshot) Served() []*Contract { return s.served }

// Tool returns what is known of a name, also of a tool that was retired.
func (s *Snapshot) Tool(name string) (*Tool, bool) {
	t, ok := s.tools[name]
	return t, ok
}

// Digest is the SHA-256 over the digests of the current contracts in order.
func (s *Snapshot) Digest() string { return s.digest }

// Revisions maps each served tool to its current revision, as a catalog records it.
func (s *Snapshot) Revisions() map[string]int {
	m := make(map[string]int, len(s.served))
	for _, c := range s.served {
		m[c.Tool] = c.Revision
	}
	return m
}
