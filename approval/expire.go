package approval

import (
	"slices"
	"time"
)

const (
	whyExpired   = "expired, nothing was run"
	whyWithdrawn = "withdrawn by its caller, nothing was run"
)

// deadline is when e expires: Limit after it was shown, Max after it came.
func (d *Desk) deadline(e *entry) time.Time {
	end := e.created.Add(d.cfg.Max)
	if !e.shown.IsZero() {
		if limit := e.shown.Add(d.cfg.Limit); limit.Before(end) {
			end = limit
		}
	}
	return end
}

// sweep settles what ran out. It runs before every decision, so that a late
// answer loses whether or not the timer came in time.
func (d *Desk) sweep() {
	now, any := d.now(), false
	for _, e := range slices.Clone(d.open) {
		switch {
		case e.wait == nil && !now.Before(e.leaves):
			d.settle(e, outcome{}, whyWithdrawn)
		case !now.Before(d.deadline(e)):
			if e == d.head && e.wait != nil {
				d.setAway(true)
			}
			d.settle(e, outcome{Decision{Result: Expired, Reason: whyExpired}, ErrExpired}, whyExpired)
		default:
			continue
		}
		any = true
	}
	d.denials = slices.DeleteFunc(d.denials, func(n denial) bool { return !now.Before(n.until) })
	if any {
		d.advance()
	}
}

// arm sets the one timer to the next deadline, but looks at the wall clock
// every tick: timers stand still while the machine sleeps.
func (d *Desk) arm() {
	if d.stop != nil {
		d.stop()
		d.stop = nil
	}
	if len(d.open) == 0 {
		return
	}
	wait, now := tick, d.now()
	for _, e := range d.open {
		end := d.deadline(e)
		if e.wait == nil && e.leaves.Before(end) {
			end = e.leaves
		}
		wait = min(wait, end.Sub(now))
	}
	d.stop = d.cfg.Clock.AfterFunc(max(wait, 0), d.wake)
}

func (d *Desk) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	d.arm()
}

// setAway notes whether somebody reacts, and tells the seats when that changes.
func (d *Desk) setAway(away bool) {
	if d.away == away {
		return
	}
	d.away = away
	kind := Back
	if away {
		kind = Away
	}
	for _, s := range d.seats {
		s.push(Event{Kind: kind})
	}
}
