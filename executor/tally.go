package executor

import (
	"context"
	"math"
	"strings"
	"sync"

	"executor/internal/policy"
)

// A tally counts the calls that rules with a limit let run unasked. What ran
// before this start is counted from the journal, so that no restart gives a rule
// its calls back. A call holds its place from the time it is judged until its
// intent is written or it is refused: two calls never share the last one.
type tally struct {
	mu   sync.Mutex
	uses map[policy.Ref]*uses
}

type uses struct{ ran, held int }

// learn reads what the journal knows of rules that are new here.
func (t *tally) learn(ctx context.Context, g *policy.Generation, j Journal) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range g.Rules() {
		if r.MaxCalls == 0 || t.uses[r.Ref()] != nil {
			continue
		}
		ran, err := j.RanUnder(ctx, r.Title(), r.Created)
		if err != nil {
			return err
		}
		if t.uses == nil {
			t.uses = map[policy.Ref]*uses{}
		}
		t.uses[r.Ref()] = &uses{ran: ran}
	}
	return nil
}

// used is how many calls of r ran or hold a place, mine apart. A rule that was
// not learned counts as used up.
func (t *tally) used(r, mine *policy.Rule) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.uses[r.Ref()]
	switch {
	case u == nil:
		return math.MaxInt
	case mine != nil && mine.Ref() == r.Ref():
		return u.ran + u.held - 1
	}
	return u.ran + u.held
}

// hold takes a place, if there is one left.
func (t *tally) hold(r *policy.Rule) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.uses[r.Ref()]
	if u == nil || u.ran+u.held >= r.MaxCalls {
		return false
	}
	u.held++
	return true
}

// give ends a hold; ran says that the call ran under the rule.
func (t *tally) give(r *policy.Rule, ran bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.uses[r.Ref()]
	u.held--
	if ran {
		u.ran++
	}
}

// judge binds the draft, and holds a place under a rule that counts its calls.
func (w *work) judge() (err error) {
	for {
		w.bound, err = judged(w.policy, w.resolution, w.question(nil))
		r := w.bound.rule
		if err != nil || r == nil || r.MaxCalls == 0 {
			return err
		}
		if w.tally.hold(r) {
			w.held = r
			return nil
		}
	}
}

// question asks the rules for this call. mine is the rule in which it holds a place.
func (w *work) question(mine *policy.Rule) question {
	return question{w.call.Tool, w.cfg.Clock(), func(r *policy.Rule) int { return w.tally.used(r, mine) }}
}

// letGo ends the call's hold, if it has one.
func (w *work) letGo(ran bool) {
	if w.held == nil {
		return
	}
	w.tally.give(w.held, ran && underRule(w.record.Decision.Basis, w.held))
	w.held = nil
}

// underRule reads a basis as the journal's count of a rule's calls does.
func underRule(basis string, r *policy.Rule) bool {
	if strings.HasPrefix(basis, "grant ") {
		_, basis, _ = strings.Cut(basis, ": ")
	}
	return strings.HasPrefix(basis, r.Title()+": ")
}
