package approval

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"sync"
	"time"
)

// What a Config leaves at zero becomes these.
const (
	DefaultLimit     = 120 * time.Second
	DefaultMax       = 10 * time.Minute
	DefaultPerClient = 20
)

// Fixed limits.
const (
	// DenialFor is how long a denied action digest is refused without asking.
	DenialFor = 10 * time.Minute
	// AdoptFor is how long a request outlives its caller.
	AdoptFor = 10 * time.Second
	// ExactFor and ExactUses bound what an Exact verdict covers.
	ExactFor  = time.Hour
	ExactUses = 10
	// sharedFactor bounds the requests of one client that share slots.
	sharedFactor = 10
	// tick is how often the wall clock is looked at while requests wait.
	tick = time.Second
)

// Config sets up a Desk. The zero value works: nobody is there, so it refuses.
// The callbacks run with the desk locked and must not call it.
type Config struct {
	// Limit is how long a shown request may stay unanswered.
	Limit time.Duration
	// Max is how long a request may live in all, shown or not.
	Max time.Duration
	// PerClient is how many requests one client may have open.
	PerClient int
	// Clock is WallClock when nil, Rand is crypto/rand when nil.
	Clock Clock
	Rand  io.Reader
	// OnShow, if set, hears the short id of each request that comes onto the screens.
	OnShow func(id string)
	// OnGrant makes a grant durable. It counts only if nil is returned;
	// otherwise the request ends with ErrNotRecorded.
	OnGrant func(ctx context.Context, sessionID string, g Grant) error
	// OnGrantEnd records that a grant ended and why. The grant is over whatever it returns.
	OnGrantEnd func(ctx context.Context, sessionID string, g Grant, why string) error
}

// A Desk is safe for concurrent use. It starts no goroutine of its own; while
// requests wait it keeps one timer of its Clock.
type Desk struct {
	cfg Config

	mu      sync.Mutex
	open    []*entry // in order of arrival
	head    *entry   // the one on the screen
	seats   []*Seat
	away    bool
	grants  []*Grant
	denials []denial
	blocked map[string]string // session → who blocked it
	turns   map[string]uint64 // client → when it last had the screen
	turn    uint64
	past    []past // what became of the latest requests
	closed  error  // why nothing is asked any more
	stop    func() bool
}

// An entry is a request that is not settled.
type entry struct {
	id      string
	req     Request
	created time.Time
	shown   time.Time    // zero until a seat reported it
	wait    chan outcome // capacity 1; nil while the caller is gone
	leaves  time.Time    // when a request without a caller goes
}

type outcome struct {
	decision Decision
	err      error
}

// NewDesk returns a desk with no seats taken: it refuses everything.
func NewDesk(cfg Config) *Desk {
	if cfg.Limit <= 0 {
		cfg.Limit = DefaultLimit
	}
	if cfg.Max <= 0 {
		cfg.Max = DefaultMax
	}
	if cfg.PerClient <= 0 {
		cfg.PerClient = DefaultPerClient
	}
	if cfg.Clock == nil {
		cfg.Clock = WallClock{}
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	return &Desk{cfg: cfg, blocked: map[string]string{}, turns: map[string]uint64{}}
}

// Ask waits until r is answered, refused or given up. A nil error means that the
// caller, and nobody else, may run the action once. When a cancel and a yes
// meet, the earlier one counts.
func (d *Desk) Ask(ctx context.Context, r Request) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Decision{Level: r.Level}, err
	}
	e, wait, out := d.admit(ctx, r)
	if e == nil {
		return out.decision, out.err
	}
	select {
	case out = <-wait:
		return out.decision, out.err
	case <-ctx.Done():
		return d.abandon(e, wait, ctx.Err())
	}
}

// Settled says what earlier answers make of r: a grant that covers it is used, a
// denial or a block that was remembered refuses it. ok is false when r has to be
// asked about; until then its Sheet need not be drawn up. The errors are those of Ask.
func (d *Desk) Settled(ctx context.Context, r Request) (dec Decision, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	out, done := d.settleAtOnce(ctx, r)
	return out.decision, done, out.err
}

// admit settles r at once or puts it into the queue.
func (d *Desk) admit(ctx context.Context, r Request) (*entry, chan outcome, outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	if out, done := d.settleAtOnce(ctx, r); done {
		return nil, nil, out
	}
	wait := make(chan outcome, 1)
	if e := d.adopt(r, wait); e != nil {
		return e, wait, outcome{}
	}
	if err := d.refuseNew(r); err != nil {
		dec := Decision{Level: r.Level, Reason: err.Error()}
		if err != ErrFlood {
			dec.Result = NoApprover
		}
		return nil, nil, outcome{dec, err}
	}
	id, err := d.newID("")
	if err != nil {
		return nil, nil, outcome{Decision{Level: r.Level, Result: Denied, Reason: "no randomness"}, err}
	}
	e := &entry{id: id, req: r, created: d.now(), wait: wait}
	d.open = append(d.open, e)
	d.advance()
	return e, wait, outcome{}
}

// settleAtOnce decides what needs nobody at a seat.
func (d *Desk) settleAtOnce(ctx context.Context, r Request) (outcome, bool) {
	if d.closed != nil {
		out := wiped(d.closed)
		out.decision.Level = r.Level
		return out, true
	}
	dec := Decision{Level: r.Level, Result: Denied}
	if err := r.check(); err != nil {
		dec.Reason = err.Error()
		return outcome{dec, fmt.Errorf("%w: %w", ErrDenied, err)}, true
	}
	if by, ok := d.blocked[r.SessionID]; ok {
		dec.By, dec.Basis, dec.Reason = by, "session blocked", reasonBlocked
		return outcome{dec, fmt.Errorf("%w: %s", ErrDenied, reasonBlocked)}, true
	}
	if old := d.denied(r.SessionID, r.ActionDigest); old != nil {
		dec.By, dec.Basis, dec.Reason = old.by, "denied as "+old.id, old.reason
		return outcome{dec, ErrDenied}, true
	}
	if g := d.covering(ctx, &r); g != nil {
		return d.useGrant(ctx, g, &r, ""), true
	}
	return outcome{}, false
}

// abandon is the caller's cancel: the request stays for AdoptFor without it.
func (d *Desk) abandon(e *entry, wait chan outcome, cause error) (Decision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case out := <-wait:
		return out.decision, out.err
	default:
	}
	e.wait = nil
	e.leaves = d.now().Add(AdoptFor)
	d.tell(e, Event{Kind: CallerGone, ID: e.id})
	if e != d.head {
		d.arm()
	} else {
		d.advance()
	}
	return Decision{ApprovalID: e.id, Level: e.req.Level, ShownDigest: e.shownDigest()}, cause
}

// adopt gives a request whose caller is gone to a call that asks for the same.
func (d *Desk) adopt(r Request, wait chan outcome) *entry {
	for _, e := range d.open {
		if e.wait == nil && e.req.SessionID == r.SessionID && e.req.Digest == r.Digest && e.req.Level == r.Level {
			e.wait = wait
			e.leaves = time.Time{}
			e.req.ActivityID, e.req.Holds = r.ActivityID, r.Holds
			d.tell(e, Event{Kind: Adopted, ID: e.id})
			d.advance()
			return e
		}
	}
	return nil
}

// refuseNew says why a new request cannot wait here.
func (d *Desk) refuseNew(r Request) error {
	if !d.attended() {
		return ErrNoApprover
	}
	if d.away {
		return fmt.Errorf("%w: the last request was not answered, and no key was pressed since", ErrNoApprover)
	}
	slots, all := map[string]bool{}, 0
	for _, e := range d.open {
		if e.req.Client == r.Client {
			slots[e.req.slot(e.id)] = true
			all++
		}
	}
	if (len(slots) >= d.cfg.PerClient && !slots[r.slot("")]) || all >= d.cfg.PerClient*sharedFactor {
		return ErrFlood
	}
	return nil
}

func (d *Desk) now() time.Time { return d.cfg.Clock.Now().Round(0) }

func (e *entry) shownDigest() string {
	if e.shown.IsZero() {
		return ""
	}
	return e.req.ActionDigest
}
