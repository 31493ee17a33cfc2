package executor_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"executor/approval"
	"executor/executor"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/mask"
	"executor/internal/peer"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/journal"
)

const canary = "canary-7d1e9b40c2f8"

// A world is an executor on a real journal and a real desk. What lies outside of
// it, the vault and the downstream, is in the test's hands.
type world struct {
	t       *testing.T
	dir     string
	journal *journal.Journal
	desk    *approval.Desk
	vault   *vaultStub
	runner  *runnerStub
	x       *executor.Executor
	session *executor.Session
	ahead   atomic.Int64 // how far the pipeline's clock is ahead, in nanoseconds

	suggested []string
	mu        sync.Mutex
	trouble   []string
}

// troubles are the causes that the operator was told.
func (w *world) troubles() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

// vaultStub is the pipeline's view of a vault that a test can change.
type vaultStub struct {
	mu     sync.Mutex
	policy *policy.Generation
	mask   *mask.Set
	leased []action.Credential
	lease  leaseNote
}

// leaseNote is the newest lease that was handed out.
type leaseNote struct{ *executor.Lease }

func (n leaseNote) is(activity string) bool { return n.Lease != nil && n.Activity == activity }

func (v *vaultStub) set(t *testing.T, items ...policy.Item) {
	t.Helper()
	g, err := policy.Load(1, items)
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.policy = g
	v.mask = mask.NewSet([]mask.Named{{Name: "api", Secret: secret.New([]byte(canary))}, {Name: "weak", Secret: secret.New([]byte("hunter2"))}})
}

func (v *vaultStub) lock() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.policy = nil
}

func (v *vaultStub) Current() (*policy.Generation, *mask.Set, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.policy == nil {
		return nil, nil, executor.ErrLocked
	}
	return v.policy, v.mask, nil
}

func (v *vaultStub) Lease(a action.Action) (*executor.Lease, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.policy == nil {
		return nil, executor.ErrLocked
	}
	if a.Cred() != nil {
		v.leased = append(v.leased, *a.Cred())
	}
	v.lease = leaseNote{&executor.Lease{Secret: secret.New([]byte(canary))}}
	return v.lease.Lease, nil
}

// runnerStub is the downstream: it notes what ran and answers as it is told.
type runnerStub struct {
	mu     sync.Mutex
	ran    []action.Action
	before func(ctx context.Context, a action.Action) // looks at the world before the first byte
	answer func(a action.Action) (executor.Response, error)
	unsent bool // fails before the first byte
}

func (r *runnerStub) Run(ctx context.Context, a action.Action, l *executor.Lease, started func()) (executor.Response, error) {
	if r.before != nil {
		r.before(ctx, a)
	}
	if r.unsent {
		return nil, &executor.RunError{Code: executor.UpstreamUnreachable, Message: "no connection"}
	}
	started()
	r.mu.Lock()
	r.ran = append(r.ran, a)
	r.mu.Unlock()
	if r.answer != nil {
		return r.answer(a)
	}
	if _, ok := a.(*action.SSH); ok {
		code := 0
		return &executor.SSHResponse{Exit: &code, Stdout: []byte("ok\n"), Total: 3}, nil
	}
	return &executor.HTTPResponse{Status: 200, ContentType: "application/json", Body: []byte(`{"ok":true}`), Total: 11, FinalURL: a.(*action.HTTP).URL}, nil
}

func (r *runnerStub) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ran)
}

func item(t *testing.T, kind, name string, version int, body any) policy.Item {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return policy.Item{Kind: kind, Name: name, Version: version, Body: raw}
}

func apiCredential(t *testing.T, version int, level action.Level) policy.Item {
	return item(t, policy.KindCredential, "api", version, policy.Credential{
		Type: policy.Bearer, Targets: []string{"https://api.example.com/v1/"}, Approval: level,
	})
}

func webHost(t *testing.T) []policy.Item {
	return []policy.Item{
		item(t, policy.KindCredential, "web", 1, policy.Credential{Type: policy.SSHKey, Targets: []string{"ssh://10.0.0.7:22"}, Approval: action.None}),
		item(t, policy.KindHost, "web-1", 1, policy.Host{
			Addr: "10.0.0.7:22", User: "deploy", Credential: "web", Approval: action.None,
			HostKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ4bCwKf1nVwJrcwvZtPYxqPSGmfFhQ2rLlTzJvZ8m9"},
		}),
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return newWorldIn(t, dir, 0)
}

// newWorldIn makes a world whose journal is in dir and leaves reserve bytes free.
func newWorldIn(t *testing.T, dir string, reserve int64) *world {
	t.Helper()
	w := &world{t: t, dir: dir, vault: &vaultStub{}, runner: &runnerStub{}}
	w.vault.set(t, append(webHost(t), apiCredential(t, 1, action.None))...)
	key, err := journal.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cfg := journal.Config{Dir: w.dir, Key: key, Clock: time.Now, Rand: rand.Reader, Reserve: reserve}
	if err := journal.Create(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if w.journal, err = journal.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.journal.Close() })
	w.again()
	return w
}

// again starts an executor with a session on the journal as it is: a restart.
func (w *world) again() {
	w.t.Helper()
	w.desk = approval.NewDesk(approval.Config{})
	contracts, err := contract.Builtin()
	if err != nil {
		w.t.Fatal(err)
	}
	snapshot, err := contract.NewSnapshot(contracts...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.x, err = executor.New(executor.Config{
		Credentials: w.vault, Approver: w.desk, Journal: w.journal,
		Runners: map[string]executor.Runner{"http": w.runner, "ssh": w.runner, "sftp": w.runner, "targets": executor.Targets{Credentials: w.vault}},
		Clock:   func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
		Rand:    rand.Reader,
		Suggest: func(line string) { w.suggested = append(w.suggested, line) },
		Trouble: func(text string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.trouble = append(w.trouble, text)
		},
	}, snapshot)
	if err != nil {
		w.t.Fatal(err)
	}
	w.session, err = w.x.Begin(w.t.Context(), executor.SessionInfo{
		Transport: "stdio", SameUID: true,
		Client: journal.Client{Name: "test agent", Version: "1"},
		Peer:   peer.Peer{UID: 1000, PID: 42, Chain: []peer.Process{{PID: 42, Name: "executor"}, {PID: 41, Name: "agent"}}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// operator answers every request with what verdict says, until the test ends.
func (w *world) operator(verdict func(*approval.Prompt) approval.Answer) {
	w.t.Helper()
	seat, err := w.desk.Attach(approval.Attachment{Name: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w.t.Cleanup(func() { cancel(); <-done; seat.Close() })
	go func() {
		defer close(done)
		for {
			e, err := seat.Next(ctx)
			if err != nil {
				return
			}
			if e.Kind != approval.Opened {
				continue
			}
			if err := seat.Shown(ctx, e.ID); err != nil {
				continue
			}
			a := verdict(e.Prompt)
			a.ID, a.Digest = e.ID, e.Prompt.Digest
			_ = seat.Answer(ctx, a)
		}
	}()
}

func says(v approval.Verdict) func(*approval.Prompt) approval.Answer {
	return func(*approval.Prompt) approval.Answer { return approval.Answer{Verdict: v} }
}

func (w *world) call(tool, args string) executor.Reply {
	w.t.Helper()
	return w.x.Call(w.t.Context(), w.session, executor.Call{Tool: tool, Arguments: json.RawMessage(args)})
}

// code is the error code of a reply, "" for a success.
func code(r executor.Reply) string {
	c, _ := r.Structured["error_code"].(string)
	return c
}

func (w *world) activities() []journal.Activity {
	w.t.Helper()
	r, err := journal.OpenReader(w.t.Context(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Close()
	var out []journal.Activity
	for a, err := range r.Activities(w.t.Context(), journal.Filter{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// last is the newest activity.
func (w *world) last() journal.Activity {
	w.t.Helper()
	all := w.activities()
	if len(all) == 0 {
		w.t.Fatal("the journal is empty")
	}
	return all[len(all)-1]
}

// noSecret searches everything that came out for the canary.
func noSecret(t *testing.T, what string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(raw), fmt.Sprintf("%+v", v)} {
		if strings.Contains(text, canary) {
			t.Errorf("%s holds the secret: %s", what, text)
		}
	}
}

var errBoom = errors.New("boom " + canary)
