package approval_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"executor/approval"
)

func TestTwoConsolesAnswerAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	other := w.attach("other")
	for i := range 100 {
		c := w.ask(call(fmt.Sprint(i)))
		p := w.shown(w.seat)
		w.shown(other)
		errs := make([]error, 2)
		var wg sync.WaitGroup
		wg.Go(func() { errs[0] = w.seat.Answer(w.ctx, to(p, approval.Yes)) })
		wg.Go(func() { errs[1] = other.Answer(w.ctx, to(p, approval.No)) })
		wg.Wait()
		got := w.got(c)
		yes := errs[0] == nil && errors.Is(errs[1], approval.ErrGone) && got.err == nil && got.By == "terminal"
		no := errs[1] == nil && errors.Is(errs[0], approval.ErrGone) && errors.Is(got.err, approval.ErrDenied) && got.By == "other"
		if !yes && !no {
			t.Fatalf("answers %v, call %+v", errs, got)
		}
	}
}

func TestCancelAndYesAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 200 {
		ctx, cancel := context.WithCancel(w.ctx)
		c := w.askCtx(ctx, call(fmt.Sprint(i)))
		p := w.shown(w.seat)
		var answer error
		var wg sync.WaitGroup
		wg.Go(cancel)
		wg.Go(func() { answer = w.seat.Answer(w.ctx, to(p, approval.Yes)) })
		wg.Wait()
		got := w.got(c)
		ran := answer == nil && got.err == nil
		stopped := errors.Is(answer, approval.ErrCallerGone) && errors.Is(got.err, context.Canceled)
		if !ran && !stopped {
			t.Fatalf("answer %v, call %+v", answer, got)
		}
		w.clock.Advance(approval.AdoptFor)
	}
}

func TestEditAndYesAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 100 {
		var edited atomic.Bool
		r := call(fmt.Sprint(i))
		r.Holds = func() error {
			if edited.Load() {
				return errors.New("edited")
			}
			return nil
		}
		c := w.ask(r)
		p := w.shown(w.seat)
		var answer error
		var wg sync.WaitGroup
		wg.Go(func() { edited.Store(true); w.desk.Recheck(w.ctx) })
		wg.Go(func() { answer = w.seat.Answer(w.ctx, to(p, approval.Yes)) })
		wg.Wait()
		got := w.got(c)
		if (answer == nil) != (got.err == nil) || (got.err != nil && !errors.Is(got.err, approval.ErrChanged)) {
			t.Fatalf("answer %v, call %+v", answer, got)
		}
	}
}

// Ten clients with twenty requests each, two consoles: each call runs once, on
// its own answer.
func TestTwoHundredRequestsOfTenClients(t *testing.T) {
	w := newWorld(t, nil)
	var replies []<-chan reply
	for i := range 200 {
		r := call(fmt.Sprint("call ", i))
		r.Client, r.SessionID = fmt.Sprint("client ", i%10), fmt.Sprint("session ", i%30)
		replies = append(replies, w.ask(r))
	}
	w.until("all are queued", func() bool { return len(w.desk.Queue().Open) == 200 })
	over := call("one too many")
	over.Client = "client 3"
	if got := w.got(w.ask(over)); !errors.Is(got.err, approval.ErrFlood) {
		t.Errorf("the 21st of one client: %+v", got)
	}
	var answered atomic.Int64
	serve := func(s *approval.Seat) {
		for {
			e, err := s.Next(w.ctx)
			if err != nil {
				return
			}
			if e.Kind != approval.Opened || s.Shown(w.ctx, e.ID) != nil {
				continue
			}
			if err := s.Answer(w.ctx, to(e.Prompt, approval.Yes)); err == nil {
				answered.Add(1)
			} else if !errors.Is(err, approval.ErrGone) && !errors.Is(err, approval.ErrLeft) {
				t.Errorf("answer: %v", err)
			}
		}
	}
	var wg sync.WaitGroup
	seats := []*approval.Seat{w.seat, w.attach("other")}
	for _, s := range seats {
		wg.Go(func() { serve(s) })
	}
	for i, c := range replies {
		if got := w.got(c); got.err != nil || got.ShownDigest != digest(fmt.Sprint("call ", i)) {
			t.Errorf("call %d: %+v", i, got)
		}
	}
	for _, s := range seats {
		s.Close()
	}
	wg.Wait()
	if n := answered.Load(); n != 200 {
		t.Errorf("%d answers counted for 200 calls", n)
	}
}

func TestAFloodIsBoundedAndClientsTakeTurns(t *testing.T) {
	w := newWorld(t, nil)
	for i := range approval.DefaultPerClient {
		w.queued(call(fmt.Sprint("flood ", i)))
	}
	if got := w.got(w.ask(call("flood"))); !errors.Is(got.err, approval.ErrFlood) || got.Result != "" {
		t.Errorf("the 21st: %+v", got)
	}
	quiet := call("quiet")
	quiet.Client, quiet.SessionID = "c2", "s2"
	w.queued(quiet)
	w.answer(w.shown(w.seat), approval.Yes)
	if p := w.shown(w.seat); p.SessionID != "s2" {
		t.Errorf("the second on the screen is of %s: the quiet client waits behind the flood", p.SessionID)
	}
}

func TestCallsUnderOneScopeCountOnce(t *testing.T) {
	w := newWorld(t, func(c *approval.Config) { c.PerClient = 2 })
	for i := range 6 {
		w.queued(get(fmt.Sprint(i), "k"))
	}
	w.queued(get("other", "k2"))
	if got := w.got(w.ask(get("third", "k3"))); !errors.Is(got.err, approval.ErrFlood) {
		t.Errorf("a third scope: %+v", got)
	}
	w.queued(get("more", "k"))
	for i := range 12 {
		w.queued(get(fmt.Sprint("shared ", i), "k"))
	}
	if got := w.got(w.ask(get("endless", "k"))); !errors.Is(got.err, approval.ErrFlood) {
		t.Errorf("shared slots without end: %+v", got)
	}
}
