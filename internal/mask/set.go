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
	mu      sync.RWMutex
	strong  *engine
	weak    map[string]*engine // by name
	names   []string           // by owner; not secret
	derived *Derived           // nil for none
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
	if learned := s.learned(); learned != nil {
		w.next = learned.Writer(dst, inUse)
		w.dst = w.next
	}
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
// changed, and returned itself where there is nothing to mask. With WeakSeen the
// weak secret is still in the text, and the caller drops it. From a Set that
// cannot mask comes a mask alone, and nothing for nothing.
func (s *Set) Bytes(b []byte, inUse string) ([]byte, Report) {
	if s.Clean(b, inUse) {
		return b, Report{}
	}
	var out bytes.Buffer
	out.Grow(len(b))
	w := s.Writer(&out, inUse)
	w.Write(b)
	w.Close()
	report := w.Report()
	if report.Wiped && len(b) > 0 {
		return []byte(Mask(withheld)), report
	}
	return out.Bytes(), report
}

// Clean reports that nothing in b is to be masked or reported. It is a glance
// without allocations: what it does not see at once, it says no to.
func (s *Set) Clean(b []byte, inUse string) (clean bool) {
	s.use(func() {
		weak, watched := s.weak[inUse]
		clean = s.strong.glance(b) && (!watched || weak.glance(b))
	})
	if learned := s.learned(); clean && learned != nil {
		return learned.Clean(b, inUse)
	}
	return clean
}

// glance takes the fast path alone: reaching the end of b on it, no match is
// more than begun.
func (e *engine) glance(b []byte) bool {
	if e.empty {
		return true
	}
	s := scanner{e: e, fast: true, lastLine: -1}
	return s.plain(b, 0, 0) == len(b)
}

// String is Bytes for a string.
func (s *Set) String(text string, inUse string) (string, Report) {
	b := []byte(text)
	if s.Clean(b, inUse) {
		return text, Report{}
	}
	out, report := s.Bytes(b, inUse)
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
	if learned := s.learned(); !ok && learned != nil {
		return learned.Contains(b)
	}
	return name, ok
}
