package mask

import (
	"bytes"
	"io"
	"sync"

	"executor/internal/secret"
)

// A Named is a secret and the name of the credential that it is of. A
// credential may have several.
type Named struct {
	Name   string
	Secret *secret.Secret
}

// A Set knows secrets by what they look like. It is safe for concurrent use.
//
// A nil Set, the zero value and one that was wiped cannot mask, and let nothing
// through: see ErrWiped, Bytes, Contains. The Set without secrets is NewSet(nil).
type Set struct {
	mu     sync.RWMutex
	strong *engine
	weak   map[string]*engine // by name
	names  []string           // by owner; not secret
}

// NewSet derives a Set from secrets, which it does not keep: they may be wiped
// afterwards. Nil and empty secrets are left out. A secret that is wiped makes
// the Set a wiped one, since it cannot be masked.
func NewSet(secrets []Named) *Set {
	strongTries, weakTries := newTries(), make(map[string]tries)
	s := &Set{weak: make(map[string]*engine)}
	for i, n := range secrets {
		s.names = append(s.names, n.Name)
		if n.Secret == nil {
			continue
		}
		err := n.Secret.Use(func(b []byte) error {
			t := strongTries
			if !strong(b) {
				if _, ok := weakTries[n.Name]; !ok {
					weakTries[n.Name] = newTries()
				}
				t = weakTries[n.Name]
			}
			if len(b) > 0 {
				forms{t.text, t.base64, t.hex, int32(i), strong(b)}.secret(b)
			}
			return nil
		})
		if err != nil {
			return &Set{names: s.names}
		}
	}
	s.strong = newEngine(strongTries)
	for name, t := range weakTries {
		if e := newEngine(t); !e.empty {
			s.weak[name] = e
		}
	}
	return s
}

// Wipe overwrites what is known of the secrets. From then on the Set and its
// Writers let nothing through. It waits for calls in progress, and may be called
// twice.
func (s *Set) Wipe() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.strong != nil {
		s.strong.wipe()
	}
	for _, e := range s.weak {
		e.wipe()
	}
	s.strong, s.weak = nil, nil
}

// use runs fn unless the Set is wiped, and keeps it from being wiped meanwhile.
func (s *Set) use(fn func()) bool {
	if s == nil {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.strong == nil {
		return false
	}
	fn()
	return true
}

// Weak reports whether the credential has a secret that is too weak to be
// masked. A Set that cannot mask says yes.
func (s *Set) Weak(name string) bool {
	weak := true
	s.use(func() { _, weak = s.weak[name] })
	return weak
}

// Writer returns a filter that writes to dst. Strong secrets are masked, and the
// weak ones of the credential inUse are reported; inUse may be "", for none.
// The caller closes it, with Close or Cut; dst stays open.
func (s *Set) Writer(dst io.Writer, inUse string) *Writer {
	w := &Writer{set: s, dst: dst}
	w.locked(func() {
		if !s.strong.empty {
			w.strong = newScanner(s.strong, func(h hit) { w.clusters.add(h) })
		}
		if e, ok := s.weak[inUse]; ok {
			w.weak = newScanner(e, func(hit) { w.report.WeakSeen = true })
		}
	})
	return w
}

// Bytes returns b with strong secrets masked, as a Writer would; b is not
// changed. With WeakSeen the weak secret is still in the text, and the caller
// drops it. From a Set that cannot mask comes a mask alone, and nothing for
// nothing.
func (s *Set) Bytes(b []byte, inUse string) ([]byte, Report) {
	var out bytes.Buffer
	out.Grow(len(b))
	w := s.Writer(&out, inUse)
	w.Write(b)
	w.Close()
	if w.report.Wiped && len(b) > 0 {
		return []byte(Mask(withheld)), w.report
	}
	return out.Bytes(), w.report
}

// String is Bytes for a string.
func (s *Set) String(text string, inUse string) (string, Report) {
	out, report := s.Bytes([]byte(text), inUse)
	return string(out), report
}

// Contains returns the name of a credential of which a strong secret is in b,
// in any encoding. A Set that cannot mask says yes, without a name.
func (s *Set) Contains(b []byte) (name string, ok bool) {
	ok = true
	s.use(func() {
		var found clusters
		if !s.strong.empty {
			sc := newScanner(s.strong, func(h hit) { found.add(h) })
			for end := 0; end < len(b) && len(found) == 0; {
				from := end
				end = min(len(b), end+step)
				sc.scan(b[:end], 0, from)
			}
			sc.finish()
		}
		if ok = len(found) > 0; ok {
			name = s.names[found[0].owner]
		}
	})
	return name, ok
}
