package executor

import (
	"context"
	"time"

	"executor/journal"
)

// A session may write this many refusals a window one by one. The rest are
// counted, by tool and code, and written as one entry each when the window is
// over or the session ends.
const (
	floodWindow = 10 * time.Second
	floodLimit  = 50
)

// writeRefusal writes a refused entry, or counts it when refusals flood in.
func (x *Executor) writeRefusal(ctx context.Context, s *Session, a journal.Activity) error {
	if x.flooded(s, a) {
		return nil
	}
	due := s.overdue(x.cfg.Clock())
	x.writeHeld(ctx, due)
	_, err := x.cfg.Journal.Refuse(ctx, a, 1)
	return err
}

// flooded counts a in, and reports whether it was only counted.
func (x *Executor) flooded(s *Session, a journal.Activity) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flood
	if now := x.cfg.Clock(); now.Sub(f.since) >= floodWindow {
		f.since, f.n = now, 0
	}
	f.n++
	if f.n <= floodLimit {
		return false
	}
	if f.held == nil {
		f.held = map[floodKey]*heldRefusal{}
	}
	k := floodKey{a.Tool, a.Outcome.ErrorCode}
	h := f.held[k]
	if h == nil {
		h = &heldRefusal{}
		f.held[k] = h
	}
	h.last = a
	h.count++
	return true
}

// overdue takes the counted refusals of a window that is over.
func (s *Session) overdue(now time.Time) map[floodKey]*heldRefusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flood.n > 1 {
		return nil
	}
	held := s.flood.held
	s.flood.held = nil
	return held
}

func (x *Executor) flushFlood(ctx context.Context, s *Session) {
	s.mu.Lock()
	held := s.flood.held
	s.flood.held = nil
	s.mu.Unlock()
	x.writeHeld(ctx, held)
}

func (x *Executor) writeHeld(ctx context.Context, held map[floodKey]*heldRefusal) {
	for _, h := range held {
		_, _ = x.cfg.Journal.Refuse(ctx, h.last, h.count)
	}
}
