package sshrun

import (
	"io"
	"slices"
	"sync"
	"time"
)

// A sink reads a stream to its end and keeps its beginning.
type sink struct {
	max int

	mu    sync.Mutex
	buf   []byte
	total int64
	at    time.Time // of the last byte
}

func newSink(max int) *sink { return &sink{max: max} }

// Pieces in which a stream is read: small at first, since most commands say little.
const (
	firstChunk = 512
	fullChunk  = 32 << 10
)

// drain reads until the stream ends.
func (s *sink) drain(r io.Reader) {
	chunk := make([]byte, firstChunk)
	for {
		n, err := r.Read(chunk)
		s.take(chunk[:n])
		if err != nil {
			return
		}
		if n == len(chunk) && n < fullChunk {
			chunk = make([]byte, fullChunk)
		}
	}
}

func (s *sink) take(b []byte) {
	if len(b) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total, s.at = s.total+int64(len(b)), time.Now()
	s.buf = append(s.buf, b[:min(len(b), max(0, s.max-len(s.buf)))]...)
}

func (s *sink) last() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// kept returns what was kept, to which later output is not added in place, whether there was more, and how much in all.
func (s *sink) kept() (kept []byte, truncated bool, total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.buf), s.total > int64(len(s.buf)), s.total
}

func latest(times ...time.Time) time.Time {
	var l time.Time
	for _, t := range times {
		if t.After(l) {
			l = t
		}
	}
	return l
}
