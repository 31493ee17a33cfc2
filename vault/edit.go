package vault

import (
	"fmt"
	"io"
	"slices"

	"executor/internal/secret"
)

// An Edit changes the generation that Update is about to write. It is valid
// during Update's call of its function, on one goroutine.
type Edit struct {
	cfg      Config
	contents *contents
	changed  bool
}

// Put stores an item as the next version of its kind and name, which it
// returns, and which is now the current one; it.Version is not looked at.
// Versions begin with 1 and are never given twice, not after a Remove either.
// The secret is copied: the caller wipes its own. Body must be JSON and is
// stored without its white space. An item whose current version has a secret
// takes no version without one: Lease gives the one to carry over.
func (e *Edit) Put(it Item) (version int, err error) {
	if !e.cfg.knows(it.Kind) {
		return 0, fmt.Errorf("%w: %q", ErrUnknownKind, it.Kind)
	}
	if err := validItem(it); err != nil {
		return 0, err
	}
	if current, err := e.contents.current(it.key()); err == nil && current.Secret != nil && it.Secret == nil {
		return 0, fmt.Errorf("%s %q: the new version lacks the secret", it.Kind, it.Name)
	}
	if it.Body, err = compact(it.Body); err != nil {
		return 0, err
	}
	if it.Secret != nil {
		it.Secret = it.Secret.Clone()
	}
	it.Version = e.contents.used(it.key()) + 1
	e.insert(it)
	return it.Version, nil
}

func (e *Edit) insert(it Item) {
	at, _ := slices.BinarySearchFunc(e.contents.items, it, compareItems)
	e.contents.items = slices.Insert(e.contents.items, at, it)
	delete(e.contents.retired, it.key())
	e.changed = true
}

// Remove takes out all versions of an item; ErrNoSuchItem when there is none.
func (e *Edit) Remove(kind, name string) error {
	k := key{kind, name}
	last, err := e.contents.current(k)
	if err != nil {
		return err
	}
	for _, it := range e.contents.versions(k) {
		it.Secret.Wipe()
	}
	e.contents.items = slices.DeleteFunc(e.contents.items, func(it Item) bool { return it.key() == k })
	e.contents.retired[k] = last.Version
	e.changed = true
	return nil
}

// Items returns the current version of everything, without secrets.
func (e *Edit) Items() []Item { return e.contents.listed() }

// Item returns the current version without its secret; ErrNoSuchItem.
func (e *Edit) Item(kind, name string) (Item, error) {
	it, err := e.contents.current(key{kind, name})
	return it.bare(), err
}

// Versions returns all versions without secrets, the current one last.
func (e *Edit) Versions(kind, name string) []Item {
	return bareAll(e.contents.versions(key{kind, name}))
}

// Lease returns a copy of the secret of that version, which the caller wipes;
// ErrNoSuchItem. With Put it brings an earlier version back as the next one.
func (e *Edit) Lease(kind, name string, version int) (*secret.Secret, error) {
	return e.contents.lease(key{kind, name}, version)
}

// Format writes the type's name whatever the verb, for the reason of Keys.Format.
func (*Edit) Format(f fmt.State, _ rune) { io.WriteString(f, "vault.Edit") }
