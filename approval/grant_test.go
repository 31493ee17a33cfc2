package approval_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"executor/approval"
	"executor/internal/action"
)

// get is a request at level Session whose yes covers key.
func get(what, key string) approval.Request {
	r := call(what)
	r.Level = action.Session
	r.Scope = &approval.Scope{Key: key, Text: "safe methods on " + key}
	return r
}

func TestASessionYesCoversItsScope(t *testing.T) {
	var log []string
	w := newWorld(t, func(c *approval.Config) {
		c.OnGrant = func(_ context.Context, session string, g approval.Grant) error {
			log = append(log, session+" "+g.Kind)
			return nil
		}
		c.OnGrantEnd = func(_ context.Context, _ string, _ approval.Grant, why string) error {
			log = append(log, why)
			return nil
		}
	})
	first, inQueue, outside := w.queued(get("/a", "api v1")), w.queued(get("/b", "api v1")), w.queued(get("/c", "api v2"))
	stricter := w.queued(func() approval.Request { r := get("/d", "api v1"); r.Level = action.Call; return r }())
	w.answer(w.shown(w.seat), approval.Yes)
	if got := w.got(first); got.err != nil || got.Basis != approval.BasisAsked {
		t.Errorf("first: %+v", got)
	}
	g := w.desk.Grants()[0]
	want := "grant " + g.ID + ": safe methods on api v1"
	for _, got := range []reply{w.got(inQueue), w.got(w.ask(get("/later", "api v1")))} {
		if got.err != nil || got.Basis != want || got.ShownDigest != "" {
			t.Errorf("covered: %+v, want basis %q", got, want)
		}
	}
	w.waits(outside)
	w.waits(stricter)
	other := get("/a", "api v1")
	other.SessionID = "s2"
	w.waits(w.queued(other))
	if err := w.desk.Revoke(w.ctx, g.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.desk.Revoke(w.ctx, g.ID); !errors.Is(err, approval.ErrNoGrant) {
		t.Errorf("second revoke: %v", err)
	}
	w.waits(w.queued(get("/a", "api v1")))
	if got := fmt.Sprint(log); got != "[s1 session revoked]" {
		t.Errorf("recorded %v", got)
	}
}

// APR-40: a yes for one command covers no other.
func TestAnExactCommandIsTheScope(t *testing.T) {
	w := newWorld(t, nil)
	scope := func(cmd, host, cred string) approval.Request { return get(cmd, cmd+"|"+host+"|"+cred) }
	first := w.queued(scope("uptime", "h:2222", "ssh-demo"))
	w.answer(w.shown(w.seat), approval.Yes)
	w.got(first)
	if got := w.got(w.ask(scope("uptime", "h:2222", "ssh-demo"))); got.err != nil {
		t.Errorf("the same: %+v", got)
	}
	for _, r := range []approval.Request{
		scope("uptime; touch ./ran", "h:2222", "ssh-demo"), scope("uptime && touch ./ran", "h:2222", "ssh-demo"),
		scope("uptime\ntouch ./ran", "h:2222", "ssh-demo"), scope("uptime $(touch ./ran)", "h:2222", "ssh-demo"),
		scope("uptime", "h:2223", "ssh-demo"), scope("uptime", "h:2222", "ssh-other"),
	} {
		w.waits(w.queued(r))
	}
}

func TestExactCoversTenMoreOrAnHour(t *testing.T) {
	w := newWorld(t, nil)
	first := w.queued(call("make"))
	w.answer(w.shown(w.seat), approval.Exact)
	w.got(first)
	for i := range approval.ExactUses {
		if got := w.got(w.ask(call("make"))); got.err != nil || !strings.HasPrefix(got.Basis, "grant g-") {
			t.Fatalf("use %d: %+v", i+1, got)
		}
	}
	eleventh := w.queued(call("make"))
	w.answer(w.shown(w.seat), approval.Exact)
	w.got(eleventh)
	presence := call("make")
	presence.Level = action.Presence
	w.waits(w.queued(presence))
	w.waits(w.queued(call("make clean")))
	w.clock.Advance(approval.ExactFor - time.Second)
	if got := w.got(w.ask(call("make"))); got.err != nil {
		t.Errorf("within the hour: %+v", got)
	}
	w.clock.Advance(time.Second)
	w.seat.Awake(w.ctx)
	w.waits(w.queued(call("make")))
	if n := len(w.desk.Grants()); n != 0 {
		t.Errorf("%d grants left after the hour", n)
	}
}

func TestAnExactYesAtSessionDoesNotCoverARaisedLevel(t *testing.T) {
	w := newWorld(t, nil)
	first := w.queued(get("/a", "k"))
	w.answer(w.shown(w.seat), approval.Exact)
	w.got(first)
	raised := call("/a")
	w.waits(w.queued(raised))
}

func TestGrantsEnd(t *testing.T) {
	for name, end := range map[string]func(*world) error{
		"session": func(w *world) error { return w.desk.EndSession(w.ctx, "s1") },
		"lock":    func(w *world) error { return w.desk.Wipe(w.ctx, errors.New("the vault is locked")) },
		"block":   func(w *world) error { w.desk.BlockSession(w.ctx, "s1", "test"); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			first := w.queued(get("/a", "k"))
			w.answer(w.shown(w.seat), approval.Yes)
			w.got(first)
			open := w.queued(call("open"))
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			if got := w.got(open); got.err == nil || got.Result == approval.Allowed {
				t.Errorf("open request: %+v", got)
			}
			if n := len(w.desk.Grants()); n != 0 {
				t.Errorf("%d grants left", n)
			}
		})
	}
}

func TestAGrantThatIsNotOnRecordDoesNotCount(t *testing.T) {
	full := errors.New("disk full")
	w := newWorld(t, func(c *approval.Config) {
		c.OnGrant = func(context.Context, string, approval.Grant) error { return full }
	})
	c := w.queued(get("/a", "k"))
	p := w.shown(w.seat)
	if err := w.seat.Answer(w.ctx, to(p, approval.Yes)); !errors.Is(err, approval.ErrNotRecorded) {
		t.Errorf("answer: %v", err)
	}
	if got := w.got(c); !errors.Is(got.err, full) || got.Result != approval.Denied {
		t.Errorf("got %+v", got)
	}
	if n := len(w.desk.Grants()); n != 0 {
		t.Errorf("%d grants", n)
	}
}

func TestAGrantDoesNotCoverWhatChanged(t *testing.T) {
	w := newWorld(t, nil)
	first := w.queued(get("/a", "k"))
	w.answer(w.shown(w.seat), approval.Yes)
	w.got(first)
	r := get("/b", "k")
	r.Holds = func() error { return errors.New("rotated") }
	if got := w.got(w.ask(r)); !errors.Is(got.err, approval.ErrChanged) || got.Result != approval.Changed {
		t.Errorf("got %+v", got)
	}
}

func TestSettledAsksNobody(t *testing.T) {
	w := newWorld(t, nil)
	r := call("uptime")
	if _, ok, err := w.desk.Settled(w.ctx, r); ok || err != nil {
		t.Fatalf("settled before anybody was asked: %v, %v", ok, err)
	}
	if q := w.desk.Queue(); len(q.Open) != 0 {
		t.Fatalf("the question opened a request: %+v", q)
	}
	got := w.queued(r)
	w.answer(w.shown(w.seat), approval.Exact)
	if d := w.got(got); d.err != nil {
		t.Fatal(d.err)
	}
	if d, ok, err := w.desk.Settled(w.ctx, r); !ok || err != nil || d.Result != approval.Allowed {
		t.Errorf("what a grant covers: %+v, %v, %v", d, ok, err)
	}
	refused := w.queued(call("reboot"))
	w.answer(w.shown(w.seat), approval.No)
	w.got(refused)
	if d, ok, err := w.desk.Settled(w.ctx, call("reboot")); !ok || !errors.Is(err, approval.ErrDenied) || d.Result != approval.Denied {
		t.Errorf("what was denied: %+v, %v, %v", d, ok, err)
	}
}

// Behind Close nothing waits and nothing is covered, while a screen is still there.
func TestAClosedDeskAsksNothing(t *testing.T) {
	w := newWorld(t, nil)
	first := w.queued(get("/a", "k"))
	w.answer(w.shown(w.seat), approval.Yes)
	w.got(first)
	open := w.queued(call("open"))
	why := errors.New("shutting down")
	if err := w.desk.Close(w.ctx, why); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]<-chan reply{"open": open, "covered before": w.ask(get("/b", "k")), "new": w.ask(call("new"))} {
		if got := w.got(c); !errors.Is(got.err, approval.ErrChanged) || !errors.Is(got.err, why) || got.Result != approval.Changed {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
