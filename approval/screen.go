package approval

import (
	"slices"

	"executor/internal/action"
)

func (d *Desk) show(e *entry) {
	for _, s := range d.seats {
		if s.only == "" {
			s.push(Event{Kind: Opened, ID: e.id, Prompt: d.prompt(e)})
		}
	}
	if d.cfg.OnShow != nil {
		d.cfg.OnShow(e.id)
	}
}

// tell sends an event about e to the seats that were sent it.
func (d *Desk) tell(e *entry, ev Event) {
	for _, s := range d.seats {
		if s.sent == e.id {
			s.push(ev)
		}
	}
}

func (d *Desk) prompt(e *entry) *Prompt {
	r := &e.req
	p := &Prompt{ID: e.id, SessionID: r.SessionID, Tool: r.Tool, Level: r.Level, Digest: r.Digest,
		ActionDigest: r.ActionDigest, Sheet: r.Sheet, Waiting: len(d.open) - 1, Flooding: len(d.flooding(e))}
	p.Limit = d.deadline(e).Sub(d.now())
	if e.shown.IsZero() {
		p.Limit = min(p.Limit, d.cfg.Limit)
	}
	if r.Scope != nil && r.Level == action.Session {
		p.Scope = r.Scope.Text
	}
	return p
}

func (d *Desk) approvers() int {
	n := 0
	for _, s := range d.seats {
		if s.only == "" {
			n++
		}
	}
	return n
}

func (d *Desk) attended() bool { return d.approvers() > 0 }

func (d *Desk) answerable(e *entry) bool {
	return d.attended() || slices.ContainsFunc(d.seats, func(s *Seat) bool { return s.only == e.id })
}
