package approval

import (
	"context"
	"slices"
)

// A Seat is one console at the desk. Next has one caller at a time; the rest is
// safe for concurrent use. Whoever took the seat closes it.
type Seat struct {
	desk *Desk
	name string
	only string

	events  []Event
	lines   int
	dropped int
	ready   chan struct{} // capacity 1
	sent    string        // the request this seat was sent, until it is gone
	shown   string        // the request this seat reported as shown
	left    bool
}

// Attach takes a seat. The error is ErrGone when Only names no open request.
func (d *Desk) Attach(a Attachment) (*Seat, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	s := &Seat{desk: d, name: a.Name, only: a.Only, ready: make(chan struct{}, 1)}
	e := d.head
	if a.Only != "" {
		if e = d.find(a.Only); e == nil {
			return nil, d.goneError(a.Only)
		}
	}
	d.seats = append(d.seats, s)
	d.setAway(false)
	if e != nil {
		s.push(Event{Kind: Opened, ID: e.id, Prompt: d.prompt(e)})
		if e.wait == nil {
			s.push(Event{Kind: CallerGone, ID: e.id})
		}
	}
	return s, nil
}

// Next waits for the next event. The error is ErrLeft after Close, or the context's.
func (s *Seat) Next(ctx context.Context) (Event, error) {
	for {
		if e, ok, err := s.pop(); ok || err != nil {
			return e, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

// Shown reports that the request's first page is on this seat's screen: from
// the first such report on any seat its limit runs.
func (s *Seat) Shown(_ context.Context, id string) error {
	d := s.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	if s.left {
		return ErrLeft
	}
	e := d.find(id)
	if e == nil || s.sent != id {
		return d.goneError(id)
	}
	s.shown = id
	if e.shown.IsZero() {
		e.shown = d.now()
		d.arm()
	}
	return nil
}

// Answer gives a verdict. Nil means that it counted. ErrGone says that the
// request was settled before, ErrChanged and ErrNotRecorded that it is settled
// now and nothing runs; after any other error it is as open as before.
func (s *Seat) Answer(ctx context.Context, a Answer) error {
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	if s.left {
		return ErrLeft
	}
	return s.desk.answer(ctx, s, a)
}

// Awake reports that a key was pressed: somebody is there.
func (s *Seat) Awake(context.Context) error {
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	if s.left {
		return ErrLeft
	}
	s.desk.setAway(false)
	return nil
}

// Close gives the seat up. When nobody is left who could answer a request, it
// ends with ErrNoApprover. Closing twice is nothing.
func (s *Seat) Close() error {
	d := s.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.left {
		return nil
	}
	s.left, s.events = true, nil
	d.seats = slices.DeleteFunc(d.seats, func(o *Seat) bool { return o == s })
	s.wake()
	const why = "no approver is left, nothing was run"
	d.endAll(func(e *entry) bool { return !d.answerable(e) },
		outcome{Decision{Result: NoApprover, Reason: why}, ErrNoApprover}, why)
	return nil
}
