package vault

import (
	"fmt"
	"io"
	"sync"

	"executor/internal/secret"
)

// A Vault is one generation in memory, with the means to read and to write the
// next. It is safe for concurrent use, and other processes may write the same
// files at the same time. Whoever opened it calls Lock or Close.
type Vault struct {
	cfg    Config
	keys   *Keys
	ledger Ledger

	mu  sync.RWMutex
	now *contents // nil when locked
}

// adopt puts next in the place of the generation in memory. The caller holds
// the file lock, so a later generation never gives way to an earlier one.
func (v *Vault) adopt(next *contents) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.now == nil { // locked in the meantime
		next.wipe()
		return ErrLocked
	}
	v.now.wipe()
	v.now = next
	return nil
}

// contents returns what is in memory, for its generation and MAC only: its
// secrets may be wiped at any time.
func (v *Vault) contents() (*contents, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.now == nil {
		return nil, ErrLocked
	}
	return v.now, nil
}

// Generation returns the number of the generation in memory; 0 when locked.
func (v *Vault) Generation() uint64 {
	if c, err := v.contents(); err == nil {
		return c.generation
	}
	return 0
}

// Locked says if Lock or Close was called.
func (v *Vault) Locked() bool { return v.Generation() == 0 }

// Items returns the current version of everything, in order of kind and name,
// without secrets; nil when locked.
func (v *Vault) Items() []Item {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.now == nil {
		return nil
	}
	return v.now.listed()
}

// Item returns the current version without its secret; ErrNoSuchItem, ErrLocked.
func (v *Vault) Item(kind, name string) (Item, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.now == nil {
		return Item{}, ErrLocked
	}
	it, err := v.now.current(key{kind, name})
	return it.bare(), err
}

// Versions returns all versions of one item without secrets, the current one
// last; none when there is no such item or the vault is locked.
func (v *Vault) Versions(kind, name string) []Item {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.now == nil {
		return nil
	}
	return bareAll(v.now.versions(key{kind, name}))
}

func bareAll(items []Item) []Item {
	var out []Item
	for _, it := range items {
		out = append(out, it.bare())
	}
	return out
}

// Lease returns a copy of the secret of exactly that version, which the caller
// wipes after use. It outlives a Reload, a Lock and the removal of the item:
// what was bound is what is used. ErrNoSuchItem (also for an item that has no
// secret), ErrLocked.
func (v *Vault) Lease(kind, name string, version int) (*secret.Secret, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.now == nil {
		return nil, ErrLocked
	}
	return v.now.lease(key{kind, name}, version)
}

// Secrets returns copies of all secrets of all versions, for the mask: an
// earlier version may still be what a server echoes. The caller wipes them.
// None when locked.
func (v *Vault) Secrets() []NamedSecret {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.now == nil {
		return nil
	}
	var out []NamedSecret
	for _, it := range v.now.items {
		if it.Secret != nil {
			out = append(out, NamedSecret{it.Kind, it.Name, it.Version, it.Secret.Clone()})
		}
	}
	return out
}

// Format writes the type's name whatever the verb, for the reason of Keys.Format.
func (*Vault) Format(f fmt.State, _ rune) { io.WriteString(f, "vault.Vault") }
