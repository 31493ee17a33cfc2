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
	due, counted := s.count(x.cfg.Clock(), a)
	x.writeHeld(ctx, due)
	if counted {
		return nil
	}
	_, err := x.cfg.Journal.Refuse(ctx, a, 1)
	return err
}

// count counts a in, and reports whether it was only counted. due are the counted
// refusals of a window that is over. A closed session holds nothing back: nobody
// would write it any more.
func (s *Session) count(now time.Time, a journal.Activity) (due map[floodKey]*heldRefusal, counted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flood
	if now.Sub(f.since) >= floodWindow {
		due, f.held = f.held, nil
		f.since, f.n = now, 0
	}
	f.n++
	if f.n <= floodLimit || s.closed {
		return due, false
	}
	if f.held == nil {
		f.held = map[floodKey]*heldRefusal{}
	}
	k := floodKey{code: a.Outcome.ErrorCode}
	if a.KnownTool { // names that an agent makes up are counted together
		k.tool = a.Tool
	}
	h := f.held[k]
	if h == nil {
		h = &heldRefusal{}
		f.held[k] = h
	}
	h.last = a
	h.count++
	return due, true
}

func (x *Executor) writeHeld(ctx context.Context, held map[floodKey]*heldRefusal) {
	for _, h := range held {
		_, _ = x.cfg.Journal.Refuse(ctx, h.last, h.count)
	}
}
