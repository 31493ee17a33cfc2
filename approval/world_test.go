package approval_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"executor/approval"
	"executor/internal/action"
)

// fakeClock moves when a test says so; timers run in Advance.
type fakeClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*fakeTimer]bool
}

type fakeTimer struct {
	at time.Time
	f  func()
}

func newClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), timers: map[*fakeTimer]bool{}}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{c.now.Add(d), f}
	c.timers[t] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		had := c.timers[t]
		delete(c.timers, t)
		return had
	}
}

func (c *fakeClock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for t := range c.timers {
		if !t.at.After(c.now) {
			due = append(due, t.f)
			delete(c.timers, t)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// A world is a desk with a clock and one seat.
type world struct {
	*testing.T
	clock *fakeClock
	desk  *approval.Desk
	seat  *approval.Seat
	ctx   context.Context
}

func newWorld(t *testing.T, change func(*approval.Config)) *world {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	w := &world{T: t, clock: newClock(), ctx: ctx}
	cfg := approval.Config{Clock: w.clock}
	if change != nil {
		change(&cfg)
	}
	w.desk = approval.NewDesk(cfg)
	w.seat = w.attach("terminal")
	return w
}

func (w *world) attach(name string) *approval.Seat {
	w.Helper()
	s, err := w.desk.Attach(approval.Attachment{Name: name})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(h[:])
}

// call is a request of session and client s1 at level Call for the action what.
func call(what string) approval.Request {
	return approval.Request{ActivityID: "a-" + what, SessionID: "s1", Client: "c1", Tool: "ssh_exec", Level: action.Call,
		Digest: digest("approval " + what), ActionDigest: digest(what), Holds: func() error { return nil },
		Sheet: approval.Sheet{Sections: []approval.Section{{Title: "Action", Fields: []approval.Field{{Label: "command", Text: what}}}}}}
}

type reply struct {
	approval.Decision
	err error
}

// ask starts a call and returns its answer to come.
func (w *world) ask(r approval.Request) <-chan reply { return w.askCtx(w.ctx, r) }

func (w *world) askCtx(ctx context.Context, r approval.Request) <-chan reply {
	c := make(chan reply, 1)
	go func() {
		d, err := w.desk.Ask(ctx, r)
		c <- reply{d, err}
	}()
	return c
}

// queued asks and waits until the desk has it.
func (w *world) queued(r approval.Request) <-chan reply {
	w.Helper()
	before := len(w.desk.Queue().Open)
	c := w.ask(r)
	w.until("the request is queued", func() bool { return len(w.desk.Queue().Open) == before+1 })
	return c
}

func (w *world) until(what string, ok func() bool) {
	w.Helper()
	for !ok() {
		if w.ctx.Err() != nil {
			w.Fatalf("never came true: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (w *world) got(c <-chan reply) reply {
	w.Helper()
	select {
	case r := <-c:
		return r
	case <-w.ctx.Done():
		w.Fatal("the call was never settled")
		return reply{}
	}
}

func (w *world) waits(c <-chan reply) {
	w.Helper()
	select {
	case r := <-c:
		w.Fatalf("settled too early: %+v", r)
	default:
	}
}

// next skips to the next event of a kind.
func (w *world) next(s *approval.Seat, kind string) approval.Event {
	w.Helper()
	for {
		e, err := s.Next(w.ctx)
		if err != nil {
			w.Fatalf("waiting for %q: %v", kind, err)
		}
		if e.Kind == kind {
			return e
		}
	}
}

// shown takes the request that comes onto the screen and reports it as shown.
func (w *world) shown(s *approval.Seat) *approval.Prompt {
	w.Helper()
	p := w.next(s, approval.Opened).Prompt
	if err := s.Shown(w.ctx, p.ID); err != nil {
		w.Fatal(err)
	}
	return p
}

func to(p *approval.Prompt, v approval.Verdict) approval.Answer {
	return approval.Answer{ID: p.ID, Digest: p.Digest, Verdict: v}
}

func (w *world) answer(p *approval.Prompt, v approval.Verdict) {
	w.Helper()
	if err := w.seat.Answer(w.ctx, to(p, v)); err != nil {
		w.Fatalf("answer %s: %v", v, err)
	}
}
