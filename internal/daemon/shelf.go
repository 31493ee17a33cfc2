package daemon

import (
	"crypto/sha256"
	"sync"

	"executor/internal/contract"
	"executor/vault"
)

// A shelf keeps the published tools as they were last read, so that a publish
// compiles the one tool that it changed and not all of them. Its lock also keeps
// publishes in order: a snapshot never gives way to one that was read before it.
type shelf struct {
	mu      sync.Mutex
	builtin []*contract.Tool
	tools   map[string]shelved
}

// shelved is a tool and the hash of the history that it was made from.
type shelved struct {
	history [sha256.Size]byte
	tool    *contract.Tool
}

// take reads the tools of v and hands them to use, one at a time.
func (s *shelf) take(v *vault.Vault, use func(*contract.Snapshot) error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.builtin == nil {
		if s.builtin, err = contract.Builtin(); err != nil {
			return err
		}
	}
	tools := append([]*contract.Tool{}, s.builtin...)
	next := map[string]shelved{}
	for name, entries := range entries(v) {
		one := shelved{history: hashOf(entries)}
		if old, ok := s.tools[name]; ok && old.history == one.history {
			one = old
		} else if one.tool, err = replay(name, entries); err != nil {
			return err
		}
		next[name] = one
		tools = append(tools, one.tool)
	}
	snapshot, err := contract.NewSnapshot(tools...)
	if err != nil {
		return err
	}
	s.tools = next
	return use(snapshot)
}

func hashOf(entries []vault.Item) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, it := range entries {
		one := sha256.Sum256(it.Body)
		h.Write(one[:])
	}
	h.Sum(sum[:0])
	return sum
}

func replay(name string, entries []vault.Item) (*contract.Tool, error) {
	ops, err := decodeHistory(name, entries)
	if err != nil {
		return nil, err
	}
	return contract.Replay(name, ops)
}
