package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"executor/internal/action"
)

// Kinds of grant.
const (
	GrantSession = "session" // a yes at level Session
	GrantExact   = "exact"   // an Exact verdict
)

// A Grant is what an answer covers beyond the call it was given for. It belongs
// to one session and ends with it, on lock, on Revoke, on a block, at Expires, and
// when Recheck finds that what it was given for moved.
type Grant struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	// Kind is GrantSession or GrantExact.
	Kind string `json:"kind"`
	// Scope says what is covered. Foreign text.
	Scope string `json:"scope"`
	By    string `json:"by"`
	// ApprovalID is the request whose answer made it.
	ApprovalID string    `json:"approval_id"`
	Made       time.Time `json:"made"`
	// Expires and Left bound an exact grant; zero and -1 for the others.
	Expires time.Time `json:"expires,omitzero"`
	Left    int       `json:"left"`
	// Used counts the calls that it allowed.
	Used int `json:"used"`

	key   string       // the scope's key, or the action digest
	level action.Level // the level it was given at
	holds func() error // that of the request whose answer made it
}

// Grants returns the grants that hold, oldest first.
func (d *Desk) Grants() []Grant {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []Grant{}
	for _, g := range d.grants {
		if !g.over(d.now()) {
			out = append(out, *g)
		}
	}
	return out
}

// Revoke ends a grant. The error is ErrNoGrant, or that of OnGrantEnd; the grant
// is over in either case.
func (d *Desk) Revoke(ctx context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := false
	err := d.endGrants(ctx, "revoked", func(g *Grant) bool {
		found = found || g.ID == id
		return g.ID == id
	})
	if !found {
		return fmt.Errorf("%w: %q", ErrNoGrant, id)
	}
	return err
}

// endGrants removes the grants that match selects and records their end.
func (d *Desk) endGrants(ctx context.Context, why string, match func(*Grant) bool) error {
	var errs []error
	d.grants = slices.DeleteFunc(d.grants, func(g *Grant) bool {
		if !match(g) {
			return false
		}
		if d.cfg.OnGrantEnd != nil {
			errs = append(errs, d.cfg.OnGrantEnd(ctx, g.SessionID, *g, why))
		}
		return true
	})
	return errors.Join(errs...)
}

func (g *Grant) over(now time.Time) bool {
	return g.Kind == GrantExact && (g.Left <= 0 || !now.Before(g.Expires))
}

// covers says whether g lets r run unasked. A grant never covers a level
// stricter than the one it was given at.
func (g *Grant) covers(r *Request) bool {
	if g.SessionID != r.SessionID || r.Level < g.level {
		return false
	}
	if g.Kind == GrantExact {
		return g.key == r.ActionDigest
	}
	return r.Level == action.Session && r.Scope != nil && r.Scope.Key == g.key
}

// covering returns the grant that r falls under, and ends those that ran out.
// That their end may not be recorded takes nothing back: they no longer count.
func (d *Desk) covering(ctx context.Context, r *Request) *Grant {
	now := d.now()
	d.endGrants(ctx, "used up or expired", func(g *Grant) bool { return g.over(now) })
	for _, g := range d.grants {
		if g.covers(r) {
			return g
		}
	}
	return nil
}

// useGrant allows r under g if what it depends on still holds.
func (d *Desk) useGrant(ctx context.Context, g *Grant, r *Request, id string) outcome {
	dec := Decision{ApprovalID: id, Level: r.Level, By: g.By, Basis: "grant " + g.ID + ": " + g.Scope}
	if err := r.Holds(); err != nil {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
		dec.Result, dec.Reason = Changed, err.Error()
		return outcome{dec, err}
	}
	g.Used++
	if g.Kind == GrantExact {
		g.Left--
	}
	dec.Result = Allowed
	return outcome{decision: dec}
}

// grantFor makes the grant that verdict v leaves behind, or nil for none.
func (d *Desk) grantFor(ctx context.Context, e *entry, by string, v Verdict) (*Grant, error) {
	r := &e.req
	g := &Grant{SessionID: r.SessionID, By: by, ApprovalID: e.id, Made: d.now(), Left: -1, level: r.Level, holds: r.Holds}
	switch {
	case v == Exact:
		g.Kind, g.key = GrantExact, r.ActionDigest
		g.Scope = fmt.Sprintf("exactly this %s on %s, as in activity %s, %s", r.Tool, r.Target, r.ActivityID, r.ActionDigest)
		g.Expires, g.Left = g.Made.Add(ExactFor), ExactUses
	case v == Yes && r.Level == action.Session && r.Scope != nil:
		g.Kind, g.key, g.Scope = GrantSession, r.Scope.Key, r.Scope.Text
	default:
		return nil, nil
	}
	id, err := d.newID("g-")
	if err != nil {
		return nil, err
	}
	g.ID = id
	if d.cfg.OnGrant != nil {
		if err := d.cfg.OnGrant(ctx, g.SessionID, *g); err != nil {
			return nil, err
		}
	}
	d.grants = append(d.grants, g)
	return g, nil
}

// spread answers the waiting requests that a new grant covers.
func (d *Desk) spread(ctx context.Context, g *Grant) {
	for _, e := range slices.Clone(d.open) {
		if e.wait == nil || !g.covers(&e.req) || g.over(d.now()) {
			continue
		}
		out := d.useGrant(ctx, g, &e.req, e.id)
		d.settle(e, out, out.decision.Result+" under "+g.ID)
	}
}
