package mask

import (
	"bytes"
	"sync"
	"sync/atomic"

	"executor/internal/secret"
)

// derivedEach is how many derived secrets of one credential are looked for: the
// one in use and those that answers may still hold.
const derivedEach = 4

// Derived knows the secrets that were made from others while the program runs:
// tokens and signatures. Sets share one, so that each learns what any of them
// is told. It is safe for concurrent use; the zero value knows none.
type Derived struct {
	mu    sync.Mutex
	known map[string][]*secret.Secret // by name, oldest first
	set   atomic.Pointer[Set]         // over all of them, nil for none
}

// WithDerived makes s look for what d knows as well, now and later. It is called
// before s is used.
func (s *Set) WithDerived(d *Derived) *Set {
	s.derived = d
	return s
}

// Learn adds a secret that was derived from the named credential. It is kept as
// a copy until four newer ones of that credential came, or Wipe. What was masked
// by a Set that shares no Derived is not masked: Learn reports that with false.
func (s *Set) Learn(name string, derived *secret.Secret) bool {
	if s == nil || s.derived == nil {
		return false
	}
	s.derived.learn(name, derived)
	return true
}

func (d *Derived) learn(name string, one *secret.Secret) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, old := range d.known[name] {
		if same(old, one) {
			return
		}
	}
	if d.known == nil {
		d.known = map[string][]*secret.Secret{}
	}
	list := append(d.known[name], one.Clone())
	if len(list) > derivedEach {
		list[0].Wipe()
		list = list[1:]
	}
	d.known[name] = list
	var all []Named
	for name, secrets := range d.known {
		for _, s := range secrets {
			all = append(all, Named{name, s})
		}
	}
	// The old one is not wiped: a Writer may be reading by it.
	d.set.Store(NewSet(all))
}

func same(a, b *secret.Secret) (equal bool) {
	a.Use(func(x []byte) error {
		return b.Use(func(y []byte) error { equal = bytes.Equal(x, y); return nil })
	})
	return equal
}

// Wipe forgets all of it, and lets nothing through that is being masked by it.
// Sets that share d are wiped for themselves.
func (d *Derived) Wipe() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, secrets := range d.known {
		for _, s := range secrets {
			s.Wipe()
		}
	}
	d.known = nil
	if s := d.set.Swap(nil); s != nil {
		s.Wipe()
	}
}

// learned is the Set over what was derived, or nil.
func (s *Set) learned() *Set {
	if s == nil || s.derived == nil {
		return nil
	}
	return s.derived.set.Load()
}
