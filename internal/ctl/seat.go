package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"executor/approval"
)

// A Seat is an approval.Seat at the other end of the socket, with the same
// methods and errors, and ErrLost besides. Next has one caller at a time.
type Seat struct {
	ch  *channel
	end func()
	wg  sync.WaitGroup

	mu      sync.Mutex
	events  []approval.Event
	ready   chan struct{} // capacity 1
	waiting map[uint64]chan message
	err     error // why it is over
}

// maxEvents is how many events wait for Next. The daemon never has as many under way.
const maxEvents = 10_000

var errEvents = errors.New("too many events")

// Attach proves the key and takes a seat, which ends with ctx or with Close.
func (c *Client) Attach(ctx context.Context, a approval.Attachment) (*Seat, error) {
	ch, end, err := c.prove(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := exchange(ctx, ch, command{Op: opAttach, Name: a.Name, Only: a.Only}); err != nil {
		end()
		return nil, err
	}
	s := &Seat{ch: ch, end: end, ready: make(chan struct{}, 1), waiting: map[uint64]chan message{}}
	s.wg.Go(func() { s.fail(lost(ctx, s.read())) })
	return s, nil
}

// read sorts what comes in until something is wrong.
func (s *Seat) read() error {
	for {
		var m message
		if _, err := s.ch.receive(&m); err != nil {
			return err
		}
		if err := s.take(m); err != nil {
			return err
		}
	}
}

func (s *Seat) take(m message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Event != nil {
		if len(s.events) == maxEvents {
			return errEvents
		}
		s.events = append(s.events, fromWire(m.Event))
		s.wake()
		return nil
	}
	c := s.waiting[m.Reply]
	if c == nil {
		return errFrame
	}
	delete(s.waiting, m.Reply)
	c <- m
	return nil
}

// fail ends the seat; the first reason is the one that is told.
func (s *Seat) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	for seq, c := range s.waiting {
		delete(s.waiting, seq)
		close(c)
	}
	s.wake()
	s.mu.Unlock()
	s.end()
}

func (s *Seat) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Next waits for the next event.
func (s *Seat) Next(ctx context.Context) (approval.Event, error) {
	for {
		if e, ok, err := s.pop(); ok || err != nil {
			return e, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return approval.Event{}, ctx.Err()
		}
	}
}

func (s *Seat) pop() (approval.Event, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return approval.Event{}, false, s.err
	}
	if len(s.events) == 0 {
		return approval.Event{}, false, nil
	}
	e := s.events[0]
	s.events = s.events[1:]
	return e, true, nil
}

// Shown reports that the request is on the screen.
func (s *Seat) Shown(ctx context.Context, id string) error {
	return s.call(ctx, command{Op: opShown, ID: id})
}

// Awake reports that a key was pressed.
func (s *Seat) Awake(ctx context.Context) error { return s.call(ctx, command{Op: opAwake}) }

// Answer gives a verdict. After ErrLost or ctx's error it may have counted or not.
func (s *Seat) Answer(ctx context.Context, a approval.Answer) error {
	if len(a.Reason) > approval.MaxReason {
		a.Reason = a.Reason[:approval.MaxReason]
	}
	return s.call(ctx, command{Op: opAnswer, Answer: &a})
}

// Close gives the seat up and waits for its end.
func (s *Seat) Close() error {
	s.fail(approval.ErrLeft)
	s.wg.Wait()
	return nil
}

// call sends a command and waits for its reply.
func (s *Seat) call(ctx context.Context, cmd command) error {
	body, err := json.Marshal(cmd)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	reply := make(chan message, 1)
	s.ch.mu.Lock()
	_, err = s.ch.sendBody(body, func(seq uint64) { s.expect(seq, reply) })
	s.ch.mu.Unlock()
	if err != nil {
		s.fail(lost(ctx, err))
		return s.reason()
	}
	select {
	case m, ok := <-reply:
		if !ok {
			return s.reason()
		}
		return decoded(m.Code, m.Error)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// expect registers a reply; on a seat that is over none will come.
func (s *Seat) expect(seq uint64, reply chan message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		close(reply)
		return
	}
	s.waiting[seq] = reply
}

func (s *Seat) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
