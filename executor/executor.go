package executor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/mask"
	"executor/internal/policy"
	"executor/journal"
)

// ErrLocked is what Credentials returns while the vault is locked, and ErrDraining
// the end of a call that came or still waited for an answer when Stop was called.
var (
	ErrLocked   = errors.New("the vault is locked")
	ErrDraining = errors.New("executor is shutting down")
)

// Credentials is the operator's vault, as the pipeline sees it.
type Credentials interface {
	// Current returns one reading of the vault: the policy, and the mask over every
	// secret that it holds. Both are immutable. ErrLocked while there is none.
	Current() (*policy.Generation, *mask.Set, error)
	// Lease hands out exactly the versions that an action names; the caller wipes it.
	Lease(a action.Action) (*Lease, error)
}

// An Approver asks the operator. *approval.Desk is one; see Desk.Ask for the errors.
type Approver interface {
	// Settled is Ask as far as earlier answers settle a request; its Sheet may be empty.
	Settled(context.Context, approval.Request) (d approval.Decision, ok bool, err error)
	Ask(context.Context, approval.Request) (approval.Decision, error)
	// EndSession ends the grants of a session and withdraws its requests.
	EndSession(ctx context.Context, id string) error
	// Blocked says whether the operator blocked the session.
	Blocked(id string) bool
}

// A Journal writes down what is about to happen and what came of it. A nil error
// means that the entry is durable. *journal.Journal is one.
type Journal interface {
	Writable(context.Context) error
	OpenSession(context.Context, journal.Session) error
	AddCatalog(ctx context.Context, sessionID string, c journal.Catalog) error
	CloseSession(ctx context.Context, id, reason string) error
	Refuse(ctx context.Context, a journal.Activity, count int) (int64, error)
	Intend(context.Context, journal.Activity) (int64, error)
	Settle(ctx context.Context, activityID, sessionID string, o journal.Outcome, downstream json.RawMessage) (int64, error)
	RanBefore(ctx context.Context, actionDigest string) (journal.Runs, error)
	// RanUnder counts the calls that a rule, by its title, let run unasked.
	RanUnder(ctx context.Context, title string, since time.Time) (int, error)
	// EndedUnknown reports whether a crash left the last run of an action without an outcome.
	EndedUnknown(ctx context.Context, actionDigest string) (bool, error)
}

// Config is what the pipeline is made of. Every field but Events, Trouble, Suggest
// and Limits is required: New refuses a config with a part missing.
type Config struct {
	Credentials Credentials
	Approver    Approver
	Journal     Journal
	// Runners by kind of action.
	Runners map[string]Runner
	Clock   func() time.Time
	Rand    io.Reader
	Build   journal.Build
	Limits  Limits
	// Events, if set, is told of each activity when it ends; it must not block.
	Events func(journal.Activity)
	// Trouble, if set, is told the cause of what an agent was told in general words
	// only, with the activity's id. Secrets are masked in it; the rest is foreign text.
	Trouble func(string)
	// Suggest, if set, is told, after three similar yeses, the command that adds a
	// rule which would cover them. The line is foreign text; it must not block.
	Suggest func(line string)
}

// Limits bound what agents may ask for at once. Zero fields take the defaults.
type Limits struct {
	// ArgumentBytes is the size of one call's arguments; 16 MiB by default.
	ArgumentBytes int
	// CallsPerSession is how many calls of a session may be open at once; 64 by default.
	CallsPerSession int
	// SettleTime is how long the outcome entry is tried for; 90 s by default.
	SettleTime time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.ArgumentBytes <= 0 {
		l.ArgumentBytes = 16 << 20
	}
	if l.CallsPerSession <= 0 {
		l.CallsPerSession = 64
	}
	if l.SettleTime <= 0 {
		l.SettleTime = 90 * time.Second
	}
	return l
}

// An Executor runs calls. It is safe for concurrent use.
type Executor struct {
	cfg      Config
	contract atomic.Pointer[contract.Snapshot]
	tally    tally
	habits   habits

	mu       sync.Mutex
	draining bool
	open     sync.WaitGroup
}

// New makes an executor that serves the contracts of snapshot.
func New(cfg Config, snapshot *contract.Snapshot) (*Executor, error) {
	switch {
	case cfg.Credentials == nil, cfg.Approver == nil, cfg.Journal == nil, cfg.Clock == nil, cfg.Rand == nil, len(cfg.Runners) == 0, snapshot == nil:
		return nil, errors.New("executor: a part of the configuration is missing")
	}
	cfg.Limits = cfg.Limits.withDefaults()
	x := &Executor{cfg: cfg}
	x.contract.Store(snapshot)
	return x, nil
}

// Contracts returns the snapshot that new calls are judged by.
func (x *Executor) Contracts() *contract.Snapshot { return x.contract.Load() }

// Publish makes snapshot the one that new calls are judged by, at once for all.
// Calls in flight end on the one that they were admitted with.
func (x *Executor) Publish(snapshot *contract.Snapshot) { x.contract.Store(snapshot) }

// Stop refuses new calls with DRAINING from now on. The open ones go on.
func (x *Executor) Stop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.draining = true
}

// Drain is Stop, and waits until the open calls are settled, or ctx ends.
func (x *Executor) Drain(ctx context.Context) error {
	x.Stop()
	done := make(chan struct{})
	go func() { x.open.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter counts a call in, unless the executor drains.
func (x *Executor) enter() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.draining {
		return false
	}
	x.open.Add(1)
	return true
}
