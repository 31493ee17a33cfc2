package approval

import (
	"context"
	"fmt"
	"slices"
)

const whySessionEnded = "its session ended, nothing was run"

// EndSession ends the grants, denials and open requests of a session that
// closed. The error is that of OnGrantEnd.
func (d *Desk) EndSession(ctx context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.blocked, id)
	err := d.endGrants(ctx, "session ended", func(g *Grant) bool { return g.SessionID == id })
	kept := d.denials[:0]
	for _, n := range d.denials {
		if n.session != id {
			kept = append(kept, n)
		}
	}
	d.denials = kept
	d.endAll(ofSession(id), outcome{Decision{Result: Changed, Reason: whySessionEnded}, ErrChanged}, whySessionEnded)
	return err
}

// BlockSession refuses whatever the session asks until EndSession, and ends its
// grants and open requests. by names who did it.
func (d *Desk) BlockSession(ctx context.Context, id, by string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.block(ctx, by, func(session string) bool { return session == id }, id)
}

// blockAsking blocks the session of e, and where its client floods the desk every
// session of it that asks: a flood is ended at once, over however many sessions it comes.
func (d *Desk) blockAsking(ctx context.Context, e *entry, by string) {
	asking := append([]string{e.req.SessionID}, d.flooding(e)...)
	d.block(ctx, by, func(session string) bool { return slices.Contains(asking, session) }, asking...)
}

// flooding names the other sessions of e's client that have requests open, if the
// client has half of what is allowed open or more.
func (d *Desk) flooding(e *entry) []string {
	var others []string
	n := 0
	for _, o := range d.open {
		if o.req.Client != e.req.Client {
			continue
		}
		n++
		if s := o.req.SessionID; s != e.req.SessionID && !slices.Contains(others, s) {
			others = append(others, s)
		}
	}
	if 2*n < d.cfg.PerClient {
		return nil
	}
	return others
}

func (d *Desk) block(ctx context.Context, by string, blocked func(session string) bool, ids ...string) {
	for _, id := range ids {
		d.blocked[id] = by
	}
	// The grants are over even if their end cannot be recorded.
	d.endGrants(ctx, "session blocked", func(g *Grant) bool { return blocked(g.SessionID) })
	d.endAll(func(e *entry) bool { return blocked(e.req.SessionID) }, outcome{Decision{Result: Denied, By: by, Basis: "session blocked", Reason: reasonBlocked}, ErrDenied},
		"denied, its session was blocked at "+by)
}

// Blocked says whether the operator blocked the session, for calls that need no approval.
func (d *Desk) Blocked(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.blocked[id]
	return ok
}

// Wipe ends all grants and open requests because of why, which the requests end
// with beside ErrChanged. The error is that of OnGrantEnd.
func (d *Desk) Wipe(ctx context.Context, why error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wipe(ctx, why)
}

// Close is Wipe for good: what is asked from then on ends in the same way, so that
// nothing begins to wait behind it.
func (d *Desk) Close(ctx context.Context, why error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = why
	return d.wipe(ctx, why)
}

func (d *Desk) wipe(ctx context.Context, why error) error {
	err := d.endGrants(ctx, why.Error(), func(*Grant) bool { return true })
	out := wiped(why)
	d.endAll(func(*entry) bool { return true }, out, out.decision.Reason)
	return err
}

func wiped(why error) outcome {
	return outcome{Decision{Result: Changed, Reason: why.Error() + ", nothing was run"}, fmt.Errorf("%w: %w", ErrChanged, why)}
}

func ofSession(id string) func(*entry) bool {
	return func(e *entry) bool { return e.req.SessionID == id }
}
