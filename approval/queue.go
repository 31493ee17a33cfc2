package approval

import (
	"encoding/base32"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"executor/internal/action"
)

// States of an open request.
const (
	StateWaiting    = "waiting"     // its turn has not come
	StateShown      = "shown"       // on a screen, the limit runs
	StateCallerGone = "caller gone" // kept a few seconds for adoption
)

// An Open is a request that waits, as it is listed. Tool, Target and Client may be foreign text.
type Open struct {
	ID         string       `json:"id"`
	ActivityID string       `json:"activity_id"`
	SessionID  string       `json:"session_id"`
	Tool       string       `json:"tool"`
	Target     string       `json:"target"`
	Client     string       `json:"client"`
	Level      action.Level `json:"level"`
	State      string       `json:"state"`
	Created    time.Time    `json:"created"`
	// Deadline is when it expires; while it waits, when it expires at the latest.
	Deadline time.Time `json:"deadline"`
}

// A Snapshot is what a listing of the desk shows.
type Snapshot struct {
	// Open is in order of arrival.
	Open []Open `json:"open"`
	// Approvers counts the seats that take any request.
	Approvers int `json:"approvers"`
	// Away says that the last request went unanswered and no key was pressed since.
	Away bool `json:"away"`
}

// Queue returns the open requests and who is there to answer them.
func (d *Desk) Queue() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	s := Snapshot{Open: []Open{}, Away: d.away, Approvers: d.approvers()}
	for _, e := range d.open {
		r := e.req
		s.Open = append(s.Open, Open{e.id, r.ActivityID, r.SessionID, r.Tool, r.Target, r.Client, r.Level,
			e.state(), e.created, d.deadline(e)})
	}
	return s
}

func (e *entry) state() string {
	switch {
	case e.wait == nil:
		return StateCallerGone
	case !e.shown.IsZero():
		return StateShown
	}
	return StateWaiting
}

// advance puts the next request on the screen if there is room, and arms the timer.
// Clients take turns; within one client the order is that of arrival.
func (d *Desk) advance() {
	if d.head == nil {
		for _, e := range d.open {
			if e.wait != nil && (d.head == nil || d.turns[e.req.Client] < d.turns[d.head.req.Client]) {
				d.head = e
			}
		}
		if d.head != nil {
			d.turn++
			d.turns[d.head.req.Client] = d.turn
			d.show(d.head)
		}
	}
	d.arm()
}

// settle ends e: out goes to its caller, why to the seats.
func (d *Desk) settle(e *entry, out outcome, why string) {
	out.decision.ApprovalID, out.decision.Level = e.id, e.req.Level
	out.decision.ShownDigest = e.shownDigest()
	if e.wait != nil {
		e.wait <- out
		e.wait = nil
	}
	d.open = slices.DeleteFunc(d.open, func(o *entry) bool { return o == e })
	if d.head == e {
		d.head = nil
	}
	d.remember(e.id, why)
	d.tell(e, Event{Kind: Gone, ID: e.id, Why: why})
	d.forgetTurns()
}

// forgetTurns keeps the turns of clients that wait, so the map cannot grow with clients that left.
func (d *Desk) forgetTurns() {
	if len(d.turns) < 1024 {
		return
	}
	kept := map[string]uint64{}
	for _, e := range d.open {
		kept[e.req.Client] = d.turns[e.req.Client]
	}
	d.turns = kept
}

// endAll settles every open request that match selects.
func (d *Desk) endAll(match func(*entry) bool, out outcome, why string) {
	for _, e := range slices.Clone(d.open) {
		if match(e) {
			d.settle(e, out, why)
		}
	}
	d.advance()
}

func (d *Desk) find(id string) *entry {
	for _, e := range d.open {
		if e.id == id {
			return e
		}
	}
	return nil
}

// past is what became of a request.
type past struct{ id, why string }

const keptPast = 256

func (d *Desk) remember(id, why string) {
	d.past = append(d.past, past{id, why})
	if len(d.past) > keptPast {
		d.past = slices.Clone(d.past[len(d.past)-keptPast:])
	}
}

// goneError tells a late answer what happened before it came.
func (d *Desk) goneError(id string) error {
	for _, p := range slices.Backward(d.past) {
		if p.id == id {
			return fmt.Errorf("%w: %s", ErrGone, p.why)
		}
	}
	return ErrGone
}

var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID makes a short id that no open request, grant or recent request has.
func (d *Desk) newID(prefix string) (string, error) {
	var b [5]byte
	for range 16 {
		if _, err := io.ReadFull(d.cfg.Rand, b[:]); err != nil {
			return "", fmt.Errorf("approval id: %w", err)
		}
		id := prefix + idEncoding.EncodeToString(b[:])[:5]
		if !d.taken(id) {
			return id, nil
		}
	}
	return "", fmt.Errorf("approval id: no free one found")
}

func (d *Desk) taken(id string) bool {
	return d.find(id) != nil ||
		slices.ContainsFunc(d.past, func(p past) bool { return p.id == id }) ||
		slices.ContainsFunc(d.grants, func(g *Grant) bool { return strings.EqualFold(g.ID, id) })
}
