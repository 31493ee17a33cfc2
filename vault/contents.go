package vault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"executor/internal/secret"
)

// contents is one generation, decoded. Items are in order of kind, name and
// version; they own their secrets.
type contents struct {
	generation uint64
	mac        string
	head       head
	items      []Item
	retired    map[key]int // highest version of what was removed
}

// head is a pinned head of the ledger.
type head struct {
	size int64
	root [32]byte
}

func (c *contents) wipe() {
	for _, it := range c.items {
		it.Secret.Wipe()
	}
	c.items = nil
}

// versions returns all versions of k, the current one last.
func (c *contents) versions(k key) []Item {
	first, _ := slices.BinarySearchFunc(c.items, k, func(it Item, k key) int {
		return cmp.Or(it.key().compare(k), 1)
	})
	last := first
	for last < len(c.items) && c.items[last].key() == k {
		last++
	}
	return c.items[first:last]
}

func (c *contents) current(k key) (Item, error) {
	versions := c.versions(k)
	if len(versions) == 0 {
		return Item{}, fmt.Errorf("%s %q: %w", k.kind, k.name, ErrNoSuchItem)
	}
	return versions[len(versions)-1], nil
}

func (c *contents) version(k key, version int) (Item, error) {
	for _, it := range c.versions(k) {
		if it.Version == version {
			return it, nil
		}
	}
	return Item{}, fmt.Errorf("%s %q version %d: %w", k.kind, k.name, version, ErrNoSuchItem)
}

// listed returns the current version of everything, without secrets.
func (c *contents) listed() []Item {
	var out []Item
	for i, it := range c.items {
		if i+1 == len(c.items) || c.items[i+1].key() != it.key() {
			out = append(out, it.bare())
		}
	}
	return out
}

func (c *contents) lease(k key, version int) (*secret.Secret, error) {
	it, err := c.version(k, version)
	if err != nil {
		return nil, err
	}
	if it.Secret == nil {
		return nil, fmt.Errorf("%s %q version %d has no secret: %w", k.kind, k.name, version, ErrNoSuchItem)
	}
	return it.Secret.Clone(), nil
}

// used returns the highest version that k ever had, 0 for a new one.
func (c *contents) used(k key) int {
	if it, err := c.current(k); err == nil {
		return it.Version
	}
	return c.retired[k]
}

func (c *contents) marks() []storedMark {
	keys := slices.SortedFunc(maps.Keys(c.retired), key.compare)
	marks := make([]storedMark, len(keys))
	for i, k := range keys {
		marks[i] = storedMark{k.kind, k.name, c.retired[k]}
	}
	return marks
}

// valid holds for everything that Edit can make; the order of items is strict,
// so no version is there twice.
func (c *contents) valid() bool {
	for i, it := range c.items {
		body, err := compact(it.Body)
		if err != nil || !bytes.Equal(body, it.Body) || validItem(it) != nil || it.Version < 1 {
			return false
		}
		if i > 0 && compareItems(c.items[i-1], it) >= 0 {
			return false
		}
	}
	for k, version := range c.retired {
		if version < 1 || len(c.versions(k)) > 0 {
			return false
		}
	}
	return c.head.size >= 0
}

func validItem(it Item) error {
	switch {
	case it.Kind == "" || !utf8.ValidString(it.Kind):
		return fmt.Errorf("an item needs a kind in UTF-8")
	case it.Name == "" || !utf8.ValidString(it.Name):
		return fmt.Errorf("an item needs a name in UTF-8")
	case !utf8.Valid(it.Body) || !json.Valid(it.Body):
		return fmt.Errorf("%s %q: the body is not JSON", it.Kind, it.Name)
	case it.Secret != nil && it.Secret.Len() == 0:
		return fmt.Errorf("%s %q: the secret is empty or wiped", it.Kind, it.Name)
	}
	return nil
}

// compact returns a copy of body in the form in which it is stored.
func compact(body json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, body); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// unknownKind returns the first kind that cfg does not name.
func (c *contents) unknownKind(cfg Config) (string, bool) {
	for _, it := range c.items {
		if !cfg.knows(it.Kind) {
			return it.Kind, true
		}
	}
	return "", false
}
