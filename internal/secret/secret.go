// Package secret holds bytes that must not be shown.
//
// A Secret prints as REDACTED under every fmt verb, in JSON and in logs, so a
// credential that strays into an error, a struct dump or a log line shows
// nothing. The bytes are reached through Use alone, and Wipe overwrites them.
//
// Wiping is hygiene, not a guarantee: the runtime may have copied the bytes
// (a growing slice, a TLS record, a header string), and those copies live
// until the collector reuses them.
package secret

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// Redacted is what every Secret prints as.
const Redacted = "REDACTED"

// ErrWiped is returned by Use after Wipe, and by a nil or zero Secret.
var ErrWiped = errors.New("secret is wiped")

// A Secret owns a byte slice. The zero value holds nothing and refuses Use.
// It is safe for concurrent use.
type Secret struct {
	mu sync.RWMutex
	// bytes is one pointer further away than it need be: where a verb does not fit,
	// fmt walks into unexported fields past every method, but follows one pointer only.
	bytes *[]byte
}

// New takes ownership of b: the caller must not keep or change it.
func New(b []byte) *Secret { return &Secret{bytes: &b} }

// Use calls fn with the bytes. They are valid during the call only: fn must
// neither change nor keep them. Wipe waits for calls in progress.
func (s *Secret) Use(fn func([]byte) error) error {
	if s == nil {
		return ErrWiped
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.bytes == nil || *s.bytes == nil {
		return ErrWiped
	}
	return fn(*s.bytes)
}

// Clone copies the bytes into a Secret of its own, so that the holder of one
// may wipe it without ending the other. The clone of a wiped Secret is wiped.
func (s *Secret) Clone() *Secret {
	c := &Secret{}
	s.Use(func(b []byte) error {
		copied := append(make([]byte, 0, len(b)), b...)
		c.bytes = &copied
		return nil
	})
	return c
}

// Len returns the number of bytes held, 0 after Wipe.
func (s *Secret) Len() int {
	n := 0
	s.Use(func(b []byte) error { n = len(b); return nil })
	return n
}

// Wipe overwrites the bytes with zeros and lets them go. It may be called twice.
func (s *Secret) Wipe() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes != nil {
		clear(*s.bytes)
	}
	s.bytes = nil
}

// String returns Redacted.
func (*Secret) String() string { return Redacted }

// GoString returns Redacted.
func (*Secret) GoString() string { return Redacted }

// Format writes Redacted whatever the verb.
func (*Secret) Format(f fmt.State, _ rune) { io.WriteString(f, Redacted) }

// LogValue returns Redacted.
func (*Secret) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalText returns Redacted. A Secret can be written out, never read back.
func (*Secret) MarshalText() ([]byte, error) { return []byte(Redacted), nil }
