package ctl_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/ctl"
	"executor/internal/secret"
)

func TestWithoutProof(t *testing.T) {
	w := newWorld(t, func(c *ctl.ServerConfig) { c.Key = nil })
	c := &ctl.Client{Path: w.path}
	st, err := c.Status(w.ctx)
	if want := (ctl.Status{Version: "v1", Sessions: 2, Requests: 1, Approvers: 3, JournalKey: "j+1+k"}); err != nil || st != want {
		t.Errorf("status %+v, %v", st, err)
	}
	if err := errors.Join(c.Lock(w.ctx), c.Reload(w.ctx)); err != nil {
		t.Error(err)
	}
	w.daemon.fail = errors.New("the vault file is damaged")
	if err := c.Reload(w.ctx); err == nil || err.Error() != "the vault file is damaged" {
		t.Errorf("a failed reload: %v", err)
	}
	if got := fmt.Sprint(w.daemon.done); got != "[lock reload reload]" {
		t.Errorf("done %v", got)
	}
	if _, err := w.client.Queue(w.ctx); !errors.Is(err, ctl.ErrLocked) {
		t.Errorf("queue of a daemon without a key: %v", err)
	}
}

// What a process without the key learns is counts, and a public key.
func TestStatusSaysNothingMore(t *testing.T) {
	w := newWorld(t, nil)
	seat := w.attach(w.client)
	w.ask(request("secret plan"))
	w.shown(seat)
	c := w.raw()
	fmt.Fprintln(c, `{"op":"status"}`)
	var reply struct {
		Status map[string]any `json:"status"`
	}
	if err := json.NewDecoder(c).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	for k := range reply.Status {
		if !strings.Contains(" version locked sessions requests approvers journal_key ", " "+k+" ") {
			t.Errorf("status tells %q", k)
		}
	}
	if len(reply.Status) != 6 {
		t.Errorf("status %v", reply.Status)
	}
}

func TestNoDaemon(t *testing.T) {
	w := newWorld(t, nil)
	_, err := (&ctl.Client{Path: w.path + ".none"}).Status(w.ctx)
	if !errors.Is(err, ctl.ErrNoDaemon) {
		t.Errorf("no socket: %v", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.path + ".stale", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := (&ctl.Client{Path: w.path + ".stale"}).Status(w.ctx); !errors.Is(err, ctl.ErrNoDaemon) {
		t.Errorf("a stale socket: %v", err)
	}
}

func TestOneUserIsServed(t *testing.T) {
	w := newWorld(t, func(c *ctl.ServerConfig) { c.UID++ })
	if _, err := w.client.Status(w.ctx); !errors.Is(err, ctl.ErrLost) {
		t.Errorf("another uid: %v", err)
	}
}

// A seat over the socket shows and answers like one on the spot, byte for byte.
func TestARemoteSeat(t *testing.T) {
	w := newWorld(t, nil)
	seat := w.attach(w.client)
	r := request("uptime \xff\xfe\u202e\x1b[2K\n")
	r.Level, r.Scope, r.Tool = action.Session, &approval.Scope{Key: "k", Text: "scope \xff"}, "t\xffool"
	call := w.ask(r)
	p := w.shown(seat)
	if !reflect.DeepEqual(p.Sheet, r.Sheet) || p.Scope != r.Scope.Text || p.Tool != r.Tool || p.Digest != r.Digest || p.Level != r.Level || p.Limit <= 0 {
		t.Errorf("arrived as %+v, was %+v", p, r)
	}
	if err := seat.Answer(w.ctx, to(p, approval.Yes)); err != nil {
		t.Fatal(err)
	}
	got := w.got(call)
	if got.err != nil || !strings.HasPrefix(got.By, "console pts/3 (pid ") {
		t.Errorf("got %+v", got)
	}
	w.desk.Say("line \xff\x1b")
	if e := w.next(seat, approval.Line); e.Line != "line \xff\x1b" {
		t.Errorf("line %q", e.Line)
	}
	grants, err := w.client.Grants(w.ctx)
	if err != nil || len(grants) != 1 {
		t.Fatalf("grants %+v, %v", grants, err)
	}
	if err := w.client.Revoke(w.ctx, grants[0].ID); err != nil || len(w.desk.Grants()) != 0 {
		t.Errorf("revoke: %v", err)
	}
	if err := w.client.Revoke(w.ctx, grants[0].ID); !errors.Is(err, approval.ErrNoGrant) {
		t.Errorf("second revoke: %v", err)
	}
	w.ask(request("df"))
	w.next(seat, approval.Opened)
	q, err := w.client.Queue(w.ctx)
	if err != nil || len(q.Open) != 1 || q.Open[0].Tool != "ssh_exec" || q.Approvers != 1 {
		t.Errorf("queue %+v, %v", q, err)
	}
}

func TestErrorsKeepTheirMeaning(t *testing.T) {
	w := newWorld(t, nil)
	seat := w.attach(w.client)
	if _, err := w.client.Attach(w.ctx, approval.Attachment{Only: "zzzzz"}); !errors.Is(err, approval.ErrGone) {
		t.Errorf("attach to what is not there: %v", err)
	}
	r := request("reboot")
	r.Level = action.Presence
	r.Holds = func() error { return errors.New("rotated") }
	call := w.ask(r)
	p := w.next(seat, approval.Opened).Prompt
	answer := func(a approval.Answer, want error) {
		t.Helper()
		if err := seat.Answer(w.ctx, a); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	yes := to(p, approval.Yes)
	answer(yes, approval.ErrNotShown)
	if err := seat.Shown(w.ctx, "zzzzz"); !errors.Is(err, approval.ErrGone) {
		t.Errorf("shown: %v", err)
	}
	if err := seat.Shown(w.ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	answer(yes, approval.ErrPresence)
	answer(to(p, approval.Exact), approval.ErrVerdict)
	answer(approval.Answer{ID: p.ID, Digest: digest("x"), Verdict: approval.Yes}, approval.ErrMismatch)
	yes.Presence = true
	w.waits(call)
	answer(yes, approval.ErrChanged)
	if got := w.got(call); !errors.Is(got.err, approval.ErrChanged) {
		t.Errorf("got %+v", got)
	}
	answer(yes, approval.ErrGone)
	if err := seat.Awake(w.ctx); err != nil {
		t.Error(err)
	}
	seat.Close()
	answer(yes, approval.ErrLeft)
	if _, err := seat.Next(w.ctx); !errors.Is(err, approval.ErrLeft) {
		t.Errorf("Next: %v", err)
	}
}

func TestAConsoleThatLeavesIsNoApprover(t *testing.T) {
	w := newWorld(t, nil)
	seat := w.attach(w.client)
	call := w.ask(request("uptime"))
	w.shown(seat)
	seat.Close()
	if got := w.got(call); !errors.Is(got.err, approval.ErrNoApprover) {
		t.Errorf("got %+v", got)
	}
}

func TestTwoConsolesAnswerAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	seats := []*ctl.Seat{w.attach(w.client), w.attach(w.client)}
	w.until("both are seated", func() bool { return w.desk.Queue().Approvers == 2 })
	for i := range 30 {
		call := w.ask(request(fmt.Sprint(i)))
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for _, s := range seats {
			w.shown(s)
		}
		p := w.desk.Queue().Open[0]
		for j, s := range seats {
			v := []approval.Verdict{approval.Yes, approval.No}[j]
			a := approval.Answer{ID: p.ID, Digest: digest("approval" + fmt.Sprint(i)), Verdict: v}
			wg.Go(func() { errs[j] = s.Answer(w.ctx, a) })
		}
		wg.Wait()
		got := w.got(call)
		if (errs[0] == nil) == (errs[1] == nil) || (got.err == nil) != (errs[0] == nil) {
			t.Fatalf("answers %v, call %+v", errs, got)
		}
	}
}

// The identity arrives, and is nowhere on the wire.
func TestUnlock(t *testing.T) {
	w := newWorld(t, nil)
	r := w.relay(pass, pass)
	const canary = "AGE-SECRET-KEY-1CANARY9F2C71D0"
	c := &ctl.Client{Path: r.path, Key: key(7)}
	if err := c.Unlock(w.ctx, secret.New([]byte(canary))); err != nil {
		t.Fatal(err)
	}
	if string(w.daemon.identity) != canary || w.daemon.kept.Len() != 0 {
		t.Errorf("arrived as %q, still holds %d bytes", w.daemon.identity, w.daemon.kept.Len())
	}
	r.mu.Lock()
	wire := bytes.Clone(r.all.Bytes())
	r.mu.Unlock()
	for _, secret := range [][]byte{[]byte(canary), bytes.Repeat([]byte{7}, 32)} {
		for _, form := range []string{string(secret), hex.EncodeToString(secret),
			base64.StdEncoding.EncodeToString(secret)[:20], base64.StdEncoding.EncodeToString(append([]byte("x"), secret...))[4:24],
			base64.StdEncoding.EncodeToString(append([]byte("xx"), secret...))[4:24]} {
			if bytes.Contains(wire, []byte(form)) {
				t.Errorf("%q is on the wire", form)
			}
		}
	}
	w.daemon.fail = errors.New("wrong identity")
	if err := c.Unlock(w.ctx, secret.New([]byte("x"))); err == nil || err.Error() != "wrong identity" {
		t.Errorf("refused identity: %v", err)
	}
}

func TestTheEndOfTheDaemonEndsTheSeat(t *testing.T) {
	w := newWorld(t, nil)
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	path := w.path + ".2"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	k := key(7)
	ended := make(chan error, 1)
	s := ctl.NewServer(ctl.ServerConfig{Daemon: w.daemon, Desk: w.desk, Key: func() *secret.Secret { return k }, UID: uid})
	go func() { ended <- s.Serve(ctx, l) }()
	seat, err := (&ctl.Client{Path: path, Key: key(7)}).Attach(w.ctx, approval.Attachment{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := seat.Next(w.ctx); !errors.Is(err, ctl.ErrLost) {
		t.Errorf("Next: %v", err)
	}
	if err := seat.Answer(w.ctx, approval.Answer{}); !errors.Is(err, ctl.ErrLost) {
		t.Errorf("Answer: %v", err)
	}
	seat.Close()
	goleak.VerifyNone(t, before)
}
