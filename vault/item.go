package vault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"executor/internal/secret"
)

// An Item is one version of one thing that is stored under a kind and a name.
// Its secret is kept apart from its body, so that no listing can hold one: the
// Items that a Vault or an Edit returns have a nil Secret, which is got by
// Lease alone. The body is opaque to the store and is no place for a secret.
type Item struct {
	Kind    string
	Name    string
	Version int // from 1; the highest is the current one
	Body    json.RawMessage
	Secret  *secret.Secret
}

// A NamedSecret is a secret and the item that it belongs to.
type NamedSecret struct {
	Kind    string
	Name    string
	Version int
	Secret  *secret.Secret
}

// bare returns a copy without the secret that shares no memory with it.
func (it Item) bare() Item {
	it.Body = bytes.Clone(it.Body)
	it.Secret = nil
	return it
}

func (it Item) key() key { return key{it.Kind, it.Name} }

// A key names all versions of one thing.
type key struct{ kind, name string }

func (k key) compare(o key) int {
	return cmp.Or(strings.Compare(k.kind, o.kind), strings.Compare(k.name, o.name))
}

func compareItems(a, b Item) int {
	return cmp.Or(a.key().compare(b.key()), cmp.Compare(a.Version, b.Version))
}
