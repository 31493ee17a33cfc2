package approval

import (
	"context"
	"fmt"
	"strings"
	"time"

	"executor/internal/action"
)

const (
	reasonBlocked = "the operator blocked this session"
	whyChanged    = "changed since it was shown, nothing was run"
)

// A denial is remembered so that the same is not asked again at once.
type denial struct {
	session, digest string
	until           time.Time
	id, by, reason  string
}

func (d *Desk) denied(session, digest string) *denial {
	for i := range d.denials {
		if n := &d.denials[i]; n.session == session && n.digest == digest {
			return n
		}
	}
	return nil
}

// answer settles one request with one verdict. Nothing of it happens if an
// error other than ErrChanged or ErrNotRecorded is returned.
func (d *Desk) answer(ctx context.Context, s *Seat, a Answer) error {
	d.sweep()
	e := d.find(a.ID)
	if e == nil {
		return d.goneError(a.ID)
	}
	if err := e.takes(s, a); err != nil {
		return err
	}
	d.setAway(false)
	switch a.Verdict {
	case No:
		d.deny(e, s.name, a.Reason)
	case Block:
		d.blockAsking(ctx, e, s.name)
	default:
		err := d.allow(ctx, e, s.name, a.Verdict)
		d.advance()
		return err
	}
	d.advance()
	return nil
}

// takes says whether a is an answer to e from seat s.
func (e *entry) takes(s *Seat, a Answer) error {
	switch {
	case a.Digest != e.req.Digest:
		return ErrMismatch
	case s.shown != e.id:
		return ErrNotShown
	case e.wait == nil:
		return ErrCallerGone
	}
	presence := e.req.Level == action.Presence
	switch a.Verdict {
	case No, Block:
		return nil
	case Yes:
		if presence && !a.Presence {
			return ErrPresence
		}
		return nil
	case Exact:
		if !presence {
			return nil
		}
	}
	return ErrVerdict
}

// deny settles e and whatever else of its session waits for the same digest.
func (d *Desk) deny(e *entry, by, reason string) {
	reason = strings.ToValidUTF8(reason[:min(len(reason), MaxReason)], "\uFFFD")
	session, digest := e.req.SessionID, e.req.ActionDigest
	d.denials = append(d.denials, denial{session, digest, d.now().Add(DenialFor), e.id, by, reason})
	err := ErrDenied
	if reason != "" {
		err = fmt.Errorf("%w: %s", ErrDenied, reason)
	}
	d.settle(e, outcome{Decision{Result: Denied, By: by, Basis: BasisAsked, Reason: reason}, err},
		"denied at "+by)
	same := func(o *entry) bool { return o.req.SessionID == session && o.req.ActionDigest == digest }
	d.endAll(same, outcome{Decision{Result: Denied, By: by, Basis: "denied as " + e.id, Reason: reason}, err},
		"denied with "+e.id)
}

// allow redeems a yes: what was shown still holds, the grant is on record, then
// the caller may run it.
func (d *Desk) allow(ctx context.Context, e *entry, by string, v Verdict) error {
	if err := e.req.Holds(); err != nil {
		return d.changed(e, by, err)
	}
	g, err := d.grantFor(ctx, e, by, v)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		d.settle(e, outcome{Decision{Result: Denied, By: by, Basis: BasisAsked, Reason: ErrNotRecorded.Error()}, err},
			ErrNotRecorded.Error()+", nothing was run")
		return err
	}
	d.settle(e, outcome{decision: Decision{Result: Allowed, By: by, Basis: BasisAsked}}, "allowed at "+by)
	if g != nil {
		d.spread(ctx, g)
	}
	return nil
}

func (d *Desk) changed(e *entry, by string, err error) error {
	err = fmt.Errorf("%w: %w", ErrChanged, err)
	d.settle(e, outcome{Decision{Result: Changed, By: by, Basis: BasisAsked, Reason: err.Error()}, err}, whyChanged)
	return err
}

// Recheck drops the open requests whose Holds fails now, and ends the grants that
// were given for a request whose Holds does: what they cover moved. To be called
// when something that requests depend on was edited. The error is that of OnGrantEnd.
func (d *Desk) Recheck(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	ended := d.endGrants(ctx, "changed", func(g *Grant) bool { return g.holds() != nil })
	for _, e := range append([]*entry(nil), d.open...) {
		if err := e.req.Holds(); err != nil {
			err = fmt.Errorf("%w: %w", ErrChanged, err)
			d.settle(e, outcome{Decision{Result: Changed, Reason: err.Error()}, err}, whyChanged)
		}
	}
	d.advance()
	return ended
}
