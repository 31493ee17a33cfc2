package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"executor/internal/secret"
	"executor/journal"

	"github.com/google/go-cmp/cmp"
)

func TestActivityReadsBackWhole(t *testing.T) {
	w := newWorld(t)
	at := time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)
	w.now = func() time.Time { return at }
	j := w.open(t)
	want := call(1)
	want.Adapter = "r1→r2"
	want.DeclaredRevision = 1
	want.RawArgs = "{\"b\" : 1.0,\n\"a\":\"\\u00e9é<\u2028\"}"
	seq, err := j.Intend(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	r := w.reader(t)
	got, err := r.Activity(t.Context(), want.ActivityID)
	if err != nil {
		t.Fatal(err)
	}
	want.Seq, want.Time, want.Outcome.Status = seq, at, journal.Running
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("running (-want +got):\n%s", d)
	}
	code := 3
	want.Outcome = journal.Outcome{Status: journal.Error, ErrorCode: "SSH_AUTH_FAILED", SideEffectStarted: true, ExitCode: &code,
		Bytes: 1 << 40, ResponseSHA256: strings.Repeat("f", 64), Redactions: 2, DurationMS: 99}
	want.Downstream = json.RawMessage(`{"banner": "hello\u0000"}`)
	if _, err := j.Settle(t.Context(), want.ActivityID, want.SessionID, want.Outcome, want.Downstream); err != nil {
		t.Fatal(err)
	}
	want.Settled, want.SettledSeq = &at, seq+1
	if got, err = r.Activity(t.Context(), want.ActivityID); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("settled (-want +got):\n%s", d)
	}
	w.mustVerify(t, journal.VerdictOK)
}

func TestRefusedCall(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	openSession(t, j, call(1).SessionID, "claude-code")
	a := call(1)
	a.Tool, a.KnownTool, a.Credential = "made_up", false, nil
	a.Decision = journal.Decision{}
	a.RawArgs = strings.Repeat("é", 40<<10)
	a.Outcome = journal.Outcome{Status: journal.Refused, ErrorCode: "INVALID_ARGUMENTS"}
	if _, err := j.Refuse(t.Context(), a, 7); err != nil {
		t.Fatal(err)
	}
	got, err := w.reader(t).Activity(t.Context(), a.ActivityID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Tool != "made_up" || got.KnownTool || got.Outcome.Status != journal.Refused || got.Downstream != nil {
		t.Errorf("got %+v", got)
	}
	if len(got.RawArgs) > journal.MaxRefusedArgs+200 || !strings.Contains(got.RawArgs, "81920 bytes in all, sha256:") {
		t.Errorf("arguments were not cut: %d bytes, end %q", len(got.RawArgs), got.RawArgs[len(got.RawArgs)-100:])
	}
	s, err := w.reader(t).Session(t.Context(), a.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if s.Calls["total"] != 7 || s.Calls["refused"] != 7 {
		t.Errorf("calls %v, want the 7 that one entry stands for", s.Calls)
	}
	w.mustVerify(t, journal.VerdictOK)
}

func TestSessionStory(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	openSession(t, j, "session-1", "claude-code")
	must(t, j.AddCatalog(ctx, "session-1", journal.Catalog{Digest: "sha256:aa", Tools: map[string]int{"http_request": 1, "ssh_exec": 2}}))
	expires := time.Date(2027, 1, 1, 0, 0, 0, 5, time.UTC)
	must(t, j.AddGrant(ctx, "session-1", journal.Grant{ID: "g1", Scope: "GET https://api.example.com", By: "console", Expires: &expires}))
	must(t, j.EndGrant(ctx, "session-1", "g1", "operator"))
	run(t, j, call(1))
	if _, err := j.Intend(ctx, call(2)); err != nil {
		t.Fatal(err)
	}
	must(t, j.CloseSession(ctx, "session-1", "end of input"))
	openSession(t, j, "session-2", "cursor")

	r := w.reader(t)
	s, err := r.Session(ctx, "session-1")
	if err != nil {
		t.Fatal(err)
	}
	if s.Client.Name != "claude-code" || !s.SameUID || s.Transport != "stdio" || s.CloseReason != "end of input" || s.Closed == nil ||
		!bytes.Contains(s.Peer, []byte("/usr/bin/node")) {
		t.Errorf("session %+v", s)
	}
	if len(s.Grants) != 1 || s.Grants[0].Ended == nil || s.Grants[0].EndedBy != "operator" || !s.Grants[0].Expires.Equal(expires) {
		t.Errorf("grants %+v", s.Grants)
	}
	if len(s.Catalogs) != 1 || s.Catalogs[0].Tools["ssh_exec"] != 2 {
		t.Errorf("catalogs %+v", s.Catalogs)
	}
	if d := cmp.Diff(map[string]int64{"total": 2, "ok": 1, "running": 1}, s.Calls); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	_, err = r.Session(ctx, "session-")
	wantErr(t, err, journal.ErrAmbiguous)
	_, err = r.Session(ctx, "nobody")
	wantErr(t, err, journal.ErrNotFound)
	for name, f := range map[string]journal.Filter{
		"session-2": {N: 1},
		"session-1": {Match: journal.Match{Client: []string{"claude-code"}}},
	} {
		got := collect(t, r.Sessions(ctx, f))
		if len(got) != 1 || got[0].SessionID != name {
			t.Errorf("filter %+v: got %+v, want %s", f, got, name)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestChangesAndGenerations(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	if g, mac, err := j.LastGeneration(ctx); g != 0 || mac != "" || err != nil {
		t.Fatalf("fresh: %d %q %v", g, mac, err)
	}
	must(t, j.RecordGeneration(ctx, 1, "m1", "init"))
	must(t, j.RecordChange(ctx, journal.Change{Action: "credential.add", By: "operator", Detail: json.RawMessage(`{"name":"api"}`), Generation: 2, MAC: "m"}))
	must(t, j.RecordGeneration(ctx, 2, "m2", "credential add"))
	if g, mac, err := j.LastGeneration(ctx); g != 2 || mac != "m2" || err != nil {
		t.Fatalf("got %d %q %v", g, mac, err)
	}
	got := collect(t, w.reader(t).Changes(ctx, journal.Filter{}))
	if len(got) != 4 || got[0].Action != "journal.create" || got[2].Action != "credential.add" || string(got[2].Detail) != `{"name":"api"}` ||
		string(got[3].Detail) != `"credential add"` || got[3].MAC != "m2" {
		t.Errorf("changes %+v", got)
	}
	wantErr(t, j.RecordGeneration(ctx, 1<<53, "m", ""), journal.ErrInvalid)
	wantErr(t, j.RecordChange(ctx, journal.Change{}), journal.ErrInvalid)
}

func TestOrderOfEntriesIsEnforced(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	o, downstream := okOutcome()
	_, err := j.Settle(ctx, "nobody", "session-1", o, nil)
	wantErr(t, err, journal.ErrNotFound)
	run(t, j, call(1))
	_, err = j.Settle(ctx, call(1).ActivityID, "session-1", o, downstream)
	wantErr(t, err, journal.ErrDuplicate)
	_, err = j.Intend(ctx, call(1))
	wantErr(t, err, journal.ErrDuplicate)
	refused := call(1)
	refused.Outcome.Status = journal.Refused
	_, err = j.Refuse(ctx, refused, 1)
	wantErr(t, err, journal.ErrDuplicate)
	for name, a := range map[string]journal.Activity{
		"no id":    {SessionID: "s", Tool: "t"},
		"no tool":  {ActivityID: "a", SessionID: "s"},
		"not JSON": {ActivityID: "a", SessionID: "s", Tool: "t", NormalizedArgs: json.RawMessage("{")},
	} {
		if _, err := j.Intend(ctx, a); err == nil {
			t.Errorf("%s: was taken", name)
		} else {
			wantErr(t, err, journal.ErrInvalid)
		}
	}
	_, err = j.Settle(ctx, "a", "s", journal.Outcome{Status: journal.Refused}, nil)
	wantErr(t, err, journal.ErrInvalid)
	_, err = j.Refuse(ctx, call(9), 1)
	wantErr(t, err, journal.ErrInvalid)
}

func TestHeadAndExtends(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	var heads [][32]byte
	for n := range 9 {
		size, root, err := j.Head(ctx)
		if err != nil || size != int64(n+1) {
			t.Fatalf("head %d: size %d, %v", n, size, err)
		}
		heads = append(heads, root)
		if _, err := j.Intend(ctx, call(n)); err != nil {
			t.Fatal(err)
		}
	}
	for n, root := range heads {
		must(t, j.Extends(ctx, int64(n+1), root))
		root[0] ^= 1
		wantErr(t, j.Extends(ctx, int64(n+1), root), journal.ErrRolledBack)
	}
	wantErr(t, j.Extends(ctx, 11, heads[0]), journal.ErrRolledBack)
	wantErr(t, j.Extends(ctx, -1, heads[0]), journal.ErrRolledBack)
}

func TestRanBefore(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	digest := call(1).ActionDigest
	if runs, err := j.RanBefore(ctx, digest); err != nil || runs.Count != 0 {
		t.Fatalf("fresh: %+v %v", runs, err)
	}
	for n := 1; n <= 3; n++ {
		a := call(n)
		a.ActionDigest = digest
		run(t, j, a)
	}
	lost := call(4)
	lost.ActionDigest = digest
	if _, err := j.Intend(ctx, lost); err != nil {
		t.Fatal(err)
	}
	if n, err := j.Recover(ctx); n != 1 || err != nil {
		t.Fatalf("recovered %d, %v", n, err)
	}
	refused := call(5)
	refused.ActionDigest, refused.Outcome.Status = digest, journal.Refused
	if _, err := j.Refuse(ctx, refused, 1); err != nil {
		t.Fatal(err)
	}
	runs, err := j.RanBefore(ctx, digest)
	if err != nil || runs.Count != 4 || runs.Unknown != 1 || runs.LastStatus != journal.Unknown || runs.LastTime.IsZero() {
		t.Fatalf("got %+v %v", runs, err)
	}
}

func TestRecoverSettlesEachLostIntentOnce(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	run(t, j, call(1))
	for n := 2; n < 5; n++ {
		if _, err := j.Intend(ctx, call(n)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, j.Close())
	if report := w.mustVerify(t, journal.VerdictOK); report.Unsettled != 3 {
		t.Fatalf("unsettled %d, want 3", report.Unsettled)
	}
	j = w.open(t)
	if n, err := j.Recover(ctx); n != 3 || err != nil {
		t.Fatalf("recovered %d, %v", n, err)
	}
	if n, err := j.Recover(ctx); n != 0 || err != nil {
		t.Fatalf("again: recovered %d, %v", n, err)
	}
	a, err := w.reader(t).Activity(ctx, call(3).ActivityID)
	if err != nil || a.Outcome.Status != journal.Unknown || !a.Outcome.SideEffectStarted {
		t.Fatalf("got %+v %v", a.Outcome, err)
	}
}

// TestRecoverClosesSessions: a session that a crash left open is open no more, and
// one that was closed keeps its reason.
func TestRecoverClosesSessions(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	for _, id := range []string{"a", "b", "c"} {
		openSession(t, j, id, "agent")
	}
	must(t, j.AddCatalog(ctx, "c", journal.Catalog{Digest: "sha256:aa"}))
	must(t, j.CloseSession(ctx, "b", "closed by the client"))
	for range 2 {
		if n, err := j.Recover(ctx); n != 0 || err != nil {
			t.Fatalf("recovered %d, %v", n, err)
		}
	}
	openSession(t, j, "d", "agent")
	for id, want := range map[string]string{"a": "recovered after a crash", "b": "closed by the client", "c": "recovered after a crash", "d": ""} {
		s, err := w.reader(t).Session(ctx, id)
		must(t, err)
		if s.CloseReason != want || (s.Closed == nil) != (want == "") {
			t.Errorf("session %s is closed %v for %q, want %q", id, s.Closed, s.CloseReason, want)
		}
	}
	if report := w.mustVerify(t, journal.VerdictOK); report.Size != 1+4+1+1+2 {
		t.Errorf("%d entries: some session was closed twice", report.Size)
	}
}

func TestConfigZeroValueOpensNothing(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*journal.Config){
		"dir":     func(c *journal.Config) { c.Dir = "" },
		"key":     func(c *journal.Config) { c.Key = nil },
		"clock":   func(c *journal.Config) { c.Clock = nil },
		"rand":    func(c *journal.Config) { c.Rand = nil },
		"reserve": func(c *journal.Config) { c.Reserve = -1 },
		"short":   func(c *journal.Config) { c.Key = secret.New([]byte("short")) },
	} {
		c := w.config()
		change(&c)
		_, err := journal.Open(t.Context(), c)
		if err == nil {
			t.Errorf("%s: opened", name)
			continue
		}
		wantErr(t, err, journal.ErrInvalid)
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	for _, name := range []string{"journal.db", "journal.pub", "journal.pin"} {
		w := newWorld(t)
		for _, other := range []string{"journal.db", "journal.pub", "journal.pin"} {
			if other != name {
				must(t, os.Remove(filepath.Join(w.dir, other)))
			}
		}
		before, err := os.ReadFile(filepath.Join(w.dir, name))
		must(t, err)
		wantErr(t, journal.Create(t.Context(), w.config()), journal.ErrExists)
		after, err := os.ReadFile(filepath.Join(w.dir, name))
		must(t, err)
		if !bytes.Equal(before, after) {
			t.Errorf("%s was changed", name)
		}
		if list, _ := os.ReadDir(w.dir); len(list) != 1 {
			t.Errorf("%s: Create left %v behind", name, list)
		}
	}
}

func TestOpenRefusesWideModes(t *testing.T) {
	for _, name := range []string{".", "journal.db", "journal.pub", "journal.pin"} {
		w := newWorld(t)
		must(t, os.Chmod(filepath.Join(w.dir, name), 0o755))
		_, err := journal.Open(t.Context(), w.config())
		wantErr(t, err, journal.ErrExposed)
		if !strings.Contains(err.Error(), "chmod ") {
			t.Errorf("%s: %v names no remedy", name, err)
		}
		_, err = journal.OpenReader(t.Context(), w.dir)
		wantErr(t, err, journal.ErrExposed)
	}
}

func TestOpenMissing(t *testing.T) {
	w := newWorld(t)
	must(t, os.Remove(filepath.Join(w.dir, "journal.pin")))
	_, err := journal.Open(t.Context(), w.config())
	wantErr(t, err, journal.ErrMissing)
	_, err = journal.OpenReader(t.Context(), filepath.Join(w.dir, "nowhere"))
	wantErr(t, err, journal.ErrMissing)
}

func TestClosedJournal(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	must(t, j.Close())
	must(t, j.Close())
	_, err := j.Intend(t.Context(), call(1))
	wantErr(t, err, journal.ErrClosed, journal.ErrUnavailable)
	wantErr(t, j.Writable(t.Context()), journal.ErrClosed)
}

func TestCanceledCallerWritesNothing(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantErr(t, j.Writable(ctx), journal.ErrUnavailable, context.Canceled)
	for n := range 50 {
		_, err := j.Intend(ctx, call(n))
		if _, readErr := w.reader(t).Activity(t.Context(), call(n).ActivityID); (err == nil) != (readErr == nil) {
			t.Fatalf("Intend said %v, and reading back %v", err, readErr)
		}
	}
}

func TestTailFollowsBothEntries(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	r := w.reader(t)
	ctx := t.Context()
	_, seq, err := r.Tail(ctx, 0)
	must(t, err)
	var seen []string
	poll := func() {
		for {
			list, next, err := r.Tail(ctx, seq)
			must(t, err)
			for _, a := range list {
				seen = append(seen, fmt.Sprint(a.ActivityID[len(a.ActivityID)-1:], " ", a.Outcome.Status))
			}
			if next == seq {
				return
			}
			seq = next
		}
	}
	if _, err := j.Intend(ctx, call(1)); err != nil {
		t.Fatal(err)
	}
	poll()
	o, _ := okOutcome()
	if _, err := j.Settle(ctx, call(1).ActivityID, "session-1", o, nil); err != nil {
		t.Fatal(err)
	}
	run(t, j, call(2))
	poll()
	if got := strings.Join(seen, ", "); got != "1 running, 1 ok, 2 ok" {
		t.Errorf("saw %s", got)
	}
}
