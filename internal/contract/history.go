package contract

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"executor/internal/strictjson"
)

// An Op is one entry of a published tool's history, as it is sealed in the vault.
// A history only grows; what a tool is follows from all of its entries.
//
//	{"op":"publish","at":"2026-11-30T12:00:00Z","file":{…},"kind":"migration","overlaps":[1]}
//	{"op":"retire","at":"…","replacement":"deploy_preview_v2"}
//	{"op":"prune","at":"…","revisions":[1]}
type Op struct {
	Op string    `json:"op"`
	At time.Time `json:"at"`
	// File, Kind and Overlaps belong to publish: the contract, how it changed against
	// the revision before, and which earlier revisions' calls could be mistaken for its own.
	File     *File  `json:"file,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Overlaps []int  `json:"overlaps,omitempty"`
	// Replacement is the tool to use instead, "" for none.
	Replacement string `json:"replacement,omitempty"`
	// Revisions are pruned: their adapters are gone.
	Revisions []int `json:"revisions,omitempty"`
}

// Kinds of Op.
const (
	OpPublish = "publish"
	OpRetire  = "retire"
	OpPrune   = "prune"
)

// DecodeOp reads one entry of a history.
func DecodeOp(raw []byte) (Op, error) {
	var op Op
	if err := strictjson.Decode(unescape(raw), &op); err != nil {
		return Op{}, err
	}
	switch {
	case op.Op != OpPublish && op.Op != OpRetire && op.Op != OpPrune:
		return Op{}, fmt.Errorf("unknown entry %q in a tool's history", op.Op)
	case (op.Op == OpPublish) != (op.File != nil):
		return Op{}, fmt.Errorf("an entry %q of a tool's history has the wrong parts", op.Op)
	}
	return op, nil
}

// A Tool is all that is known of one name: its current contract, the earlier ones,
// and which of them are still accepted. It is immutable.
type Tool struct {
	Name string
	// Current is nil for a tool that was retired.
	Current     *Contract
	Replacement string
	revisions   []*revision // ascending
	overlaps    []int       // revisions whose calls the current one could mistake for its own
}

// A revision is one contract of a tool with what it said of the earlier ones.
type revision struct {
	contract *Contract
	at       time.Time
	kind     string
	accepts  map[int]Accept
	pruned   bool
}

// NewTool makes a built-in tool, which has one revision.
func NewTool(c *Contract) *Tool {
	return &Tool{Name: c.Tool, Current: c, revisions: []*revision{{contract: c}}}
}

// Replay makes a published tool from its history, oldest entry first.
func Replay(name string, ops []Op) (*Tool, error) {
	t := &Tool{Name: name}
	for i, op := range ops {
		if err := t.apply(op); err != nil {
			return nil, fmt.Errorf("tool %s, entry %d of its history: %w", name, i+1, err)
		}
	}
	if len(t.revisions) == 0 {
		return nil, fmt.Errorf("tool %s: its history has no contract", name)
	}
	return t, nil
}

func (t *Tool) apply(op Op) error {
	switch op.Op {
	case OpPublish:
		c, err := New(op.File)
		if err != nil {
			return err
		}
		if c.Tool != t.Name {
			return fmt.Errorf("the contract is of another tool, %s", c.Tool)
		}
		if n := len(t.revisions); n > 0 && t.revisions[n-1].contract.Revision >= c.Revision {
			return fmt.Errorf("revision %d does not follow %d", c.Revision, t.revisions[n-1].contract.Revision)
		}
		r := &revision{contract: c, at: op.At, kind: op.Kind, accepts: map[int]Accept{}}
		for _, a := range op.File.Accepts {
			r.accepts[a.Revision] = a
		}
		t.revisions = append(t.revisions, r)
		t.Current, t.Replacement, t.overlaps = c, "", op.Overlaps
	case OpRetire:
		t.Current, t.Replacement = nil, op.Replacement
	case OpPrune:
		for _, n := range op.Revisions {
			if r := t.revision(n); r != nil {
				r.pruned = true
			}
		}
	}
	return nil
}

func (t *Tool) revision(n int) *revision {
	i := sort.Search(len(t.revisions), func(i int) bool { return t.revisions[i].contract.Revision >= n })
	if i < len(t.revisions) && t.revisions[i].contract.Revision == n {
		return t.revisions[i]
	}
	return nil
}

func (t *Tool) newest() *revision { return t.revisions[len(t.revisions)-1] }

// Revision returns the contract of a revision that was once published.
func (t *Tool) Revision(n int) (*Contract, bool) {
	r := t.revision(n)
	if r == nil {
		return nil, false
	}
	return r.contract, true
}

// Revisions lists the contracts that were ever published, oldest first.
func (t *Tool) Revisions() []*Contract {
	out := make([]*Contract, len(t.revisions))
	for i, r := range t.revisions {
		out[i] = r.contract
	}
	return out
}

// Accepted lists the revisions whose calls may be accepted, the current one
// included, without regard to a caller's session or the time.
func (t *Tool) Accepted() []int {
	var out []int
	for _, r := range t.revisions {
		if _, ok := t.window(r.contract.Revision); ok {
			out = append(out, r.contract.Revision)
		}
	}
	return out
}

// A Window says how long and for whom an earlier revision is accepted. The zero
// Window has no end.
type Window struct {
	Until    time.Time // zero: no end
	Sessions bool      // only sessions opened before Since
	Since    time.Time
}

// Ended says why the window does not admit a call, or "".
func (w Window) Ended(o Origin) string {
	switch {
	case !w.Until.IsZero() && !o.Now.Before(w.Until):
		return "was accepted until " + w.Until.AddDate(0, 0, -1).Format(time.DateOnly)
	case w.Sessions && o.Stateless:
		return "is accepted from sessions that were opened before the change, and this caller keeps none"
	case w.Sessions && !o.Opened.Before(w.Since):
		return "is accepted from sessions that were opened before the change only"
	}
	return ""
}

// window is how the current contract accepts revision n; ok is false when it does not.
func (t *Tool) window(n int) (Window, bool) {
	r := t.revision(n)
	switch {
	case t.Current == nil || r == nil:
		return Window{}, false
	case r.contract.SameAs(t.Current): // no adapter that could have been pruned
		return Window{}, true
	case r.pruned:
		return Window{}, false
	}
	return t.windowAt(len(t.revisions)-1, n)
}

// windowAt is how the revision at index i accepted revision n.
func (t *Tool) windowAt(i, n int) (Window, bool) {
	if i < 1 {
		return Window{}, false
	}
	r := t.revisions[i]
	if a, named := r.accepts[n]; named {
		if a.Change == Fence {
			return Window{}, false
		}
		w := Window{Sessions: a.Sessions, Since: r.at}
		if a.Until != "" {
			day, err := time.Parse(time.DateOnly, a.Until)
			if err != nil {
				return Window{}, false
			}
			w.Until = day.AddDate(0, 0, 1)
		}
		return w, t.connected(i, n)
	}
	if r.kind != Additive {
		return Window{}, false
	}
	if t.revisions[i-1].contract.Revision == n {
		return Window{}, true
	}
	return t.windowAt(i-1, n)
}

// connected reports whether declared steps lead from revision n to the one at index i.
func (t *Tool) connected(i, n int) bool {
	for ; i > 0 && t.revisions[i].contract.Revision > n; i-- {
		a, named := t.revisions[i].accepts[t.revisions[i-1].contract.Revision]
		if named && a.Change == Fence || !named && t.revisions[i].kind != Additive {
			return false
		}
	}
	return true
}

// Adapt leads arguments from revision n, which must have been published, to the
// current one, one revision at a time, and says in words what it did. It does not
// ask whether calls of n are accepted.
func (t *Tool) Adapt(n int, args json.RawMessage) (json.RawMessage, string, error) {
	if r := t.revision(n); r.contract.SameAs(t.Current) {
		return args, fmt.Sprintf("revision %d, which says the same", n), nil
	}
	words := ""
	for i, r := range t.revisions {
		if i == 0 || r.contract.Revision <= n {
			continue
		}
		from := t.revisions[i-1].contract.Revision
		var done string
		var err error
		if args, done, err = applySteps(r.accepts[from].Adapt, args); err != nil {
			return nil, "", fmt.Errorf("from revision %d to %d: %w", from, r.contract.Revision, err)
		}
		if words != "" {
			words += "; "
		}
		words += fmt.Sprintf("revision %d to %d: %s", from, r.contract.Revision, done)
	}
	return args, words, nil
}
