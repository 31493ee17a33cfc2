package approval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"executor/approval"
	"executor/internal/action"
)

func TestNobodyThere(t *testing.T) {
	d := approval.NewDesk(approval.Config{})
	dec, err := d.Ask(t.Context(), call("uptime"))
	if !errors.Is(err, approval.ErrNoApprover) || dec.Result != approval.NoApprover {
		t.Errorf("got %+v, %v", dec, err)
	}
}

func TestARequestThatCannotBeAskedIsDenied(t *testing.T) {
	w := newWorld(t, nil)
	for name, spoil := range map[string]func(*approval.Request){
		"level none":       func(r *approval.Request) { r.Level = action.None },
		"level deny":       func(r *approval.Request) { r.Level = action.Deny },
		"level 99":         func(r *approval.Request) { r.Level = 99 },
		"no digest":        func(r *approval.Request) { r.Digest = "" },
		"no action digest": func(r *approval.Request) { r.ActionDigest = "" },
		"no session":       func(r *approval.Request) { r.SessionID = "" },
		"no Holds":         func(r *approval.Request) { r.Holds = nil },
	} {
		r := call("x")
		spoil(&r)
		if got := w.got(w.ask(r)); !errors.Is(got.err, approval.ErrDenied) || got.Result != approval.Denied {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestYesIsForOneCall(t *testing.T) {
	w := newWorld(t, nil)
	c := w.ask(call("uptime"))
	p := w.shown(w.seat)
	w.answer(p, approval.Yes)
	got := w.got(c)
	want := approval.Decision{ApprovalID: p.ID, Result: approval.Allowed, By: "terminal", Basis: approval.BasisAsked,
		Level: action.Call, ShownDigest: digest("uptime")}
	if got.err != nil || got.Decision != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := w.seat.Answer(w.ctx, to(p, approval.Yes)); !errors.Is(err, approval.ErrGone) || !strings.Contains(err.Error(), "allowed at terminal") {
		t.Errorf("second yes: %v", err)
	}
	again := w.queued(call("uptime"))
	w.waits(again)
	if n := len(w.desk.Grants()); n != 0 {
		t.Errorf("%d grants after a yes at level call", n)
	}
}

func TestAnAnswerMustFit(t *testing.T) {
	w := newWorld(t, nil)
	r := call("uptime")
	r.Level = action.Presence
	c := w.ask(r)
	p := w.next(w.seat, approval.Opened).Prompt
	yes := to(p, approval.Yes)
	yes.Presence = true
	other := w.attach("other")
	try := func(s *approval.Seat, a approval.Answer, want error) {
		t.Helper()
		if err := s.Answer(w.ctx, a); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		w.waits(c)
	}
	try(w.seat, yes, approval.ErrNotShown)
	if err := w.seat.Shown(w.ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	try(other, yes, approval.ErrNotShown)
	try(w.seat, approval.Answer{ID: "zzzzz", Digest: p.Digest, Verdict: approval.Yes}, approval.ErrGone)
	try(w.seat, approval.Answer{ID: p.ID, Digest: digest("other"), Verdict: approval.Yes, Presence: true}, approval.ErrMismatch)
	try(w.seat, to(p, approval.Yes), approval.ErrPresence)
	try(w.seat, approval.Answer{ID: p.ID, Digest: p.Digest, Verdict: approval.Exact, Presence: true}, approval.ErrVerdict)
	try(w.seat, approval.Answer{ID: p.ID, Digest: p.Digest, Presence: true}, approval.ErrVerdict)
	if err := w.seat.Answer(w.ctx, yes); err != nil {
		t.Fatal(err)
	}
	if got := w.got(c); got.err != nil || got.Result != approval.Allowed {
		t.Errorf("got %+v", got)
	}
}

func TestChangedSinceShown(t *testing.T) {
	w := newWorld(t, nil)
	moved := errors.New("credential api is at version 4")
	r := call("uptime")
	r.Holds = func() error { return moved }
	c := w.ask(r)
	p := w.shown(w.seat)
	if err := w.seat.Answer(w.ctx, to(p, approval.Exact)); !errors.Is(err, approval.ErrChanged) {
		t.Errorf("answer: %v", err)
	}
	got := w.got(c)
	if !errors.Is(got.err, approval.ErrChanged) || !errors.Is(got.err, moved) || got.Result != approval.Changed || got.ShownDigest == "" {
		t.Errorf("got %+v", got)
	}
	if len(w.desk.Grants()) != 0 {
		t.Error("a changed request left a grant")
	}
}

func TestRecheckDropsWhatChanged(t *testing.T) {
	w := newWorld(t, nil)
	var moved error
	r := call("old")
	r.Holds = func() error { return moved }
	c, kept := w.queued(r), w.queued(call("kept"))
	w.shown(w.seat)
	moved = errors.New("rotated")
	if err := w.desk.Recheck(w.ctx); err != nil {
		t.Fatal(err)
	}
	if got := w.got(c); !errors.Is(got.err, approval.ErrChanged) {
		t.Errorf("got %+v", got)
	}
	if why := w.next(w.seat, approval.Gone).Why; !strings.Contains(why, "changed") {
		t.Errorf("the seat was told %q", why)
	}
	w.waits(kept)
}

// APR-04: the wait of the second does not start to run out before it is shown.
func TestTheLimitRunsFromTheScreen(t *testing.T) {
	w := newWorld(t, nil)
	first, second := w.queued(call("first")), w.queued(call("second"))
	p1 := w.shown(w.seat)
	w.clock.Advance(119 * time.Second)
	w.waits(first)
	w.answer(p1, approval.No)
	if got := w.got(first); !errors.Is(got.err, approval.ErrDenied) {
		t.Errorf("first: %+v", got)
	}
	p2 := w.shown(w.seat)
	if p1.ID == p2.ID {
		t.Fatal("two requests with one id")
	}
	w.clock.Advance(119 * time.Second)
	w.waits(second)
	w.answer(p2, approval.Yes)
	if got := w.got(second); got.err != nil {
		t.Errorf("second: %+v", got)
	}
}

// APR-06: expired is not denied, and the late yes runs nothing.
func TestExpiry(t *testing.T) {
	w := newWorld(t, func(c *approval.Config) { c.Limit = 5 * time.Second })
	c := w.ask(call("uptime"))
	p := w.shown(w.seat)
	w.clock.Advance(5 * time.Second)
	got := w.got(c)
	if !errors.Is(got.err, approval.ErrExpired) || got.Result != approval.Expired || got.ShownDigest != digest("uptime") {
		t.Errorf("got %+v", got)
	}
	err := w.seat.Answer(w.ctx, to(p, approval.Yes))
	if !errors.Is(err, approval.ErrGone) || !strings.Contains(err.Error(), "expired, nothing was run") {
		t.Errorf("late yes: %v", err)
	}
	if why := w.next(w.seat, approval.Gone).Why; why != "expired, nothing was run" {
		t.Errorf("the seat was told %q", why)
	}
}

// A suspended machine fires no timers; the answer is late all the same.
func TestALateAnswerLosesWithoutATimer(t *testing.T) {
	w := newWorld(t, nil)
	c := w.ask(call("uptime"))
	p := w.shown(w.seat)
	w.clock.mu.Lock()
	w.clock.now = w.clock.now.Add(time.Hour)
	w.clock.mu.Unlock()
	if err := w.seat.Answer(w.ctx, to(p, approval.Yes)); !errors.Is(err, approval.ErrGone) {
		t.Errorf("late yes: %v", err)
	}
	if got := w.got(c); !errors.Is(got.err, approval.ErrExpired) {
		t.Errorf("got %+v", got)
	}
}

func TestTenMinutesInAll(t *testing.T) {
	w := newWorld(t, func(c *approval.Config) { c.Limit = 8 * time.Minute })
	w.queued(call("first"))
	second := w.queued(call("second"))
	p := w.shown(w.seat)
	w.clock.Advance(7 * time.Minute)
	w.answer(p, approval.Yes)
	if p := w.shown(w.seat); p.Limit != 3*time.Minute {
		t.Errorf("limit on the screen is %v, want 3m", p.Limit)
	}
	w.clock.Advance(3 * time.Minute)
	if got := w.got(second); !errors.Is(got.err, approval.ErrExpired) {
		t.Errorf("got %+v", got)
	}
}

func TestAway(t *testing.T) {
	w := newWorld(t, nil)
	first, queued := w.queued(call("first")), w.queued(call("queued"))
	w.shown(w.seat)
	w.clock.Advance(2 * time.Minute)
	w.got(first)
	w.next(w.seat, approval.Away)
	if got := w.got(w.ask(call("new"))); !errors.Is(got.err, approval.ErrNoApprover) {
		t.Errorf("while away: %+v", got)
	}
	if q := w.desk.Queue(); !q.Away || q.Approvers != 1 || len(q.Open) != 1 {
		t.Errorf("queue while away: %+v", q)
	}
	p := w.shown(w.seat) // the queued one is still shown
	w.waits(queued)
	if err := w.seat.Awake(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.next(w.seat, approval.Back)
	w.queued(call("later"))
	w.answer(p, approval.Yes)
	if got := w.got(queued); got.err != nil {
		t.Errorf("queued: %+v", got)
	}
}

// APR-05 (c): the terminal hangs up while a request is open.
func TestTheLastSeatLeaves(t *testing.T) {
	w := newWorld(t, nil)
	c := w.ask(call("uptime"))
	w.shown(w.seat)
	other := w.attach("other")
	w.seat.Close()
	w.waits(c)
	other.Close()
	if got := w.got(c); !errors.Is(got.err, approval.ErrNoApprover) || got.Result != approval.NoApprover {
		t.Errorf("got %+v", got)
	}
	if _, err := w.seat.Next(w.ctx); !errors.Is(err, approval.ErrLeft) {
		t.Errorf("Next on a closed seat: %v", err)
	}
	for _, err := range []error{w.seat.Awake(w.ctx), w.seat.Shown(w.ctx, "x"), w.seat.Answer(w.ctx, approval.Answer{})} {
		if !errors.Is(err, approval.ErrLeft) {
			t.Errorf("closed seat: %v", err)
		}
	}
}

func TestCallerGone(t *testing.T) {
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(w.ctx)
	c := w.askCtx(ctx, call("uptime"))
	p := w.shown(w.seat)
	cancel()
	if got := w.got(c); !errors.Is(got.err, context.Canceled) || got.ApprovalID != p.ID {
		t.Errorf("got %+v", got)
	}
	w.next(w.seat, approval.CallerGone)
	if err := w.seat.Answer(w.ctx, to(p, approval.Yes)); !errors.Is(err, approval.ErrCallerGone) {
		t.Errorf("yes to nobody: %v", err)
	}
	other := call("uptime")
	other.SessionID = "s2"
	w.queued(other)
	adopted := w.ask(call("uptime"))
	w.next(w.seat, approval.Adopted)
	twin := w.queued(call("uptime"))
	w.clock.Advance(approval.AdoptFor + time.Second)
	w.answer(p, approval.Yes)
	if got := w.got(adopted); got.err != nil || got.ApprovalID != p.ID {
		t.Errorf("adopted: %+v", got)
	}
	w.waits(twin)
}

func TestCallerGoneLeavesAfterTenSeconds(t *testing.T) {
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(w.ctx)
	c := w.askCtx(ctx, call("uptime"))
	w.shown(w.seat)
	cancel()
	w.got(c)
	if s := w.desk.Queue().Open[0].State; s != approval.StateCallerGone {
		t.Errorf("state %q", s)
	}
	w.clock.Advance(approval.AdoptFor)
	if why := w.next(w.seat, approval.Gone).Why; !strings.Contains(why, "withdrawn") {
		t.Errorf("the seat was told %q", why)
	}
	if q := w.desk.Queue(); q.Away || len(q.Open) != 0 {
		t.Errorf("queue: %+v", q)
	}
}

func TestADenialIsRemembered(t *testing.T) {
	w := newWorld(t, nil)
	c, twin := w.queued(call("rm")), w.queued(call("rm"))
	p := w.shown(w.seat)
	a := to(p, approval.No)
	a.Reason = "not on a Friday"
	if err := w.seat.Answer(w.ctx, a); err != nil {
		t.Fatal(err)
	}
	for _, got := range []reply{w.got(c), w.got(twin), w.got(w.ask(call("rm")))} {
		if !errors.Is(got.err, approval.ErrDenied) || got.Reason != "not on a Friday" || got.By != "terminal" {
			t.Errorf("got %+v", got)
		}
	}
	other := call("rm")
	other.SessionID = "s2"
	w.waits(w.queued(other))
	w.clock.Advance(approval.DenialFor)
	w.seat.Awake(w.ctx)
	w.waits(w.queued(call("rm")))
}

func TestBlockSession(t *testing.T) {
	w := newWorld(t, nil)
	other := call("other")
	other.SessionID = "s2"
	a, b, kept := w.queued(call("a")), w.queued(call("b")), w.queued(other)
	w.answer(w.shown(w.seat), approval.Block)
	for _, got := range []reply{w.got(a), w.got(b), w.got(w.ask(call("c")))} {
		if !errors.Is(got.err, approval.ErrDenied) || !strings.Contains(got.Reason, "blocked") {
			t.Errorf("got %+v", got)
		}
	}
	w.waits(kept)
	if !w.desk.Blocked("s1") || w.desk.Blocked("s2") {
		t.Error("the wrong session is blocked")
	}
	if err := w.desk.EndSession(w.ctx, "s1"); err != nil || w.desk.Blocked("s1") {
		t.Errorf("after its end: %v", err)
	}
}

func TestOnShowHearsOfEachRequestOnce(t *testing.T) {
	var heard []string
	w := newWorld(t, func(c *approval.Config) { c.OnShow = func(id string) { heard = append(heard, id) } })
	w.attach("other")
	var want []string
	for i := range 3 {
		w.queued(call(fmt.Sprint(i)))
	}
	for range 3 {
		p := w.shown(w.seat)
		want = append(want, p.ID)
		w.answer(p, approval.Yes)
	}
	if !slices.Equal(heard, want) {
		t.Errorf("heard of %v, shown were %v", heard, want)
	}
}

// One client floods the desk from five sessions: one answer ends all of it, and
// nobody else's request.
func TestBlockEndsAFloodOfManySessions(t *testing.T) {
	w := newWorld(t, nil)
	var flood []<-chan reply
	for i := range 12 {
		r := call(fmt.Sprint("flood ", i))
		r.Client, r.SessionID = "flooder", fmt.Sprint("f", i%5)
		flood = append(flood, w.queued(r))
	}
	other := call("other")
	other.Client, other.SessionID = "quiet", "q"
	w.queued(other)
	other.ActionDigest = digest("other 2")
	kept := w.queued(other)
	p := w.shown(w.seat)
	w.answer(p, approval.No) // shown before there was a flood
	if got := w.got(flood[0]); !errors.Is(got.err, approval.ErrDenied) {
		t.Fatalf("%+v", got)
	}
	w.answer(w.shown(w.seat), approval.Yes) // the other client's turn
	p = w.shown(w.seat)
	if p.Flooding != 4 {
		t.Errorf("the screen says that %d more sessions are blocked", p.Flooding)
	}
	w.answer(p, approval.Block)
	for _, c := range flood[1:] {
		if got := w.got(c); !errors.Is(got.err, approval.ErrDenied) || got.Basis != "session blocked" {
			t.Errorf("%+v", got)
		}
	}
	if q := w.desk.Queue(); len(q.Open) != 1 || q.Open[0].Client != "quiet" {
		t.Errorf("left are %+v", q.Open)
	}
	w.answer(w.shown(w.seat), approval.Yes)
	again := call("flood again")
	again.Client, again.SessionID = "flooder", "f3"
	if got := w.got(w.ask(again)); !errors.Is(got.err, approval.ErrDenied) {
		t.Errorf("a session that asked is not blocked: %+v", got)
	}
	if got := w.got(kept); got.err != nil {
		t.Errorf("the other client: %+v", got)
	}
}

func TestRecheckEndsTheGrantsOfWhatMoved(t *testing.T) {
	ended := map[string]string{}
	w := newWorld(t, func(c *approval.Config) {
		c.OnGrantEnd = func(_ context.Context, _ string, g approval.Grant, why string) error {
			ended[g.Scope] = why
			return nil
		}
	})
	moved := false
	for _, key := range []string{"moves", "stays"} {
		r := get(key, key)
		if key == "moves" {
			r.Holds = func() error {
				if moved {
					return errors.New("moved")
				}
				return nil
			}
		}
		c := w.ask(r)
		w.answer(w.shown(w.seat), approval.Yes)
		w.got(c)
	}
	if err := w.desk.Recheck(w.ctx); err != nil || len(w.desk.Grants()) != 2 {
		t.Fatalf("before: %v, %+v", err, w.desk.Grants())
	}
	moved = true
	if err := w.desk.Recheck(w.ctx); err != nil {
		t.Fatal(err)
	}
	if g := w.desk.Grants(); len(g) != 1 || len(ended) != 1 {
		t.Errorf("left %+v, ended %v", g, ended)
	}
}

func TestASeatForOneRequest(t *testing.T) {
	w := newWorld(t, nil)
	w.queued(call("first"))
	second := w.queued(call("second"))
	id := w.desk.Queue().Open[1].ID
	if _, err := w.desk.Attach(approval.Attachment{Only: "zzzzz"}); !errors.Is(err, approval.ErrGone) {
		t.Errorf("unknown id: %v", err)
	}
	once, err := w.desk.Attach(approval.Attachment{Name: "once", Only: id})
	if err != nil {
		t.Fatal(err)
	}
	p := w.shown(once)
	if err := once.Answer(w.ctx, to(p, approval.Yes)); err != nil {
		t.Fatal(err)
	}
	if got := w.got(second); got.err != nil || got.By != "once" {
		t.Errorf("got %+v", got)
	}
	w.seat.Close()
	if got := w.got(w.ask(call("third"))); !errors.Is(got.err, approval.ErrNoApprover) {
		t.Errorf("a seat for one request counts as an approver: %+v", got)
	}
}

func TestASlowSeatCostsLittle(t *testing.T) {
	w := newWorld(t, nil)
	for range 1500 {
		w.desk.Say("line")
	}
	lines, dropped := 0, 0
	for lines < 1000 {
		e := w.next(w.seat, approval.Line)
		lines++
		dropped += e.Dropped
	}
	if dropped != 500 {
		t.Errorf("%d lines dropped, want 500", dropped)
	}
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Millisecond)
	defer cancel()
	if e, err := w.seat.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more event: %+v %v", e, err)
	}
}
