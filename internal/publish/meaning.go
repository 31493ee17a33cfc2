package publish

import (
	"encoding/json"
	"fmt"
	"sort"

	"executor/internal/contract"
)

// An oldCall is a generated call of an earlier revision, and the act that it is.
type oldCall struct {
	args json.RawMessage
	act  string
}

// oldCalls are the generated calls that an earlier contract takes.
func oldCalls(c *contract.Contract) (out []oldCall) {
	for _, args := range Arguments(c.Input) {
		d, err := c.Render(args)
		if err != nil {
			continue
		}
		act, err := canonical(d)
		if err != nil {
			continue // refused today, whatever becomes of it
		}
		out = append(out, oldCall{args, act})
	}
	return out
}

// meaning compares, for each earlier revision whose calls would be accepted, what
// they are with what they would become.
func (j *judgement) meaning() error {
	for _, n := range j.after.Accepted() {
		old, ok := j.after.Revision(n)
		if !ok || old == j.after.Current || old.SameAs(j.after.Current) {
			continue
		}
		if err := j.accepted(old); err != nil {
			return err
		}
		c := j.compare(old)
		j.Checks = append(j.Checks, c)
		if c.Outcome != Counterexample {
			continue
		}
		if c.Example.New == "" { // it would be refused, not mistaken
			j.Kind = stricter(j.Kind, contract.Migration)
			j.refuse("counterexample", fmt.Sprintf("a call of revision %d would be accepted and then not fit: %s", n, short(c.Example.Arguments)),
				fmt.Sprintf("accepts: [{revision: %d, change: migration, until: YYYY-MM-DD, adapt: [...]}] with steps that make it fit; or no entry that admits revision %d, whose calls are then refused", n, n))
			continue
		}
		j.Kind = contract.Fence
		j.refuse("counterexample", fmt.Sprintf("a call of revision %d would become another act: %s", n, short(c.Example.Arguments)),
			fmt.Sprintf("steps that keep what it meant, or accepts: [{revision: %d, change: fence}] and declare_revision: true", n))
	}
	return nil
}

// accepted judges the claim about an older revision by what is found against it.
func (j *judgement) accepted(old *contract.Contract) error {
	if old.Revision == j.Previous {
		return nil // judged as the change itself
	}
	r, err := findings(old, j.next)
	if err != nil {
		return err
	}
	kind := found(r, Authority(old, j.next))
	claim := j.claim(old.Revision)
	switch {
	case kind == contract.Fence:
		j.refuse("claim-too-weak", fmt.Sprintf("calls of revision %d would be accepted, and against it the change is a fence", old.Revision),
			fmt.Sprintf("accepts: [{revision: %d, change: fence}]", old.Revision))
	case kind == contract.Migration && claim == contract.Additive:
		j.refuse("claim-too-weak", fmt.Sprintf("the file claims additive for revision %d, and against it the change is a migration", old.Revision),
			fmt.Sprintf("accepts: [{revision: %d, change: migration, until: YYYY-MM-DD}]", old.Revision))
	}
	return nil
}

// compare renders calls of old by itself and, adapted, by the new contract.
func (j *judgement) compare(old *contract.Contract) Check {
	calls := oldCalls(old)
	c := Check{Revision: old.Revision, Outcome: Tested, Cases: len(calls)}
	for i, call := range calls {
		if e := j.differs(old.Revision, call); e != nil {
			c.Outcome, c.Cases, c.Example = Counterexample, i+1, e
			return c
		}
	}
	switch {
	case len(calls) == 0:
		c.Outcome = Untested
	case proves(old, j.next, j.after.Steps(old.Revision)):
		c.Outcome = Proved
	}
	return c
}

// differs is the example that a call makes if it would become another act, else nil.
func (j *judgement) differs(revision int, call oldCall) *Example {
	e := &Example{Arguments: call.args, Old: show(call.act)}
	adapted, _, err := j.after.Adapt(revision, call.args)
	if err != nil {
		e.Problem = err.Error()
		return e
	}
	if string(adapted) != string(call.args) {
		e.Adapted = adapted
	}
	act, err := act(j.next, adapted)
	switch {
	case err != nil:
		e.Problem = err.Error()
		return e
	case act != call.act:
		e.New = show(act)
		return e
	}
	return nil
}

func act(c *contract.Contract, args json.RawMessage) (string, error) {
	d, err := c.Render(args)
	if err != nil {
		return "", err
	}
	return canonical(d)
}

// overlap renders calls of every earlier revision as if they were new ones. Calls
// of a revision that declares itself carry its token and are never taken for another.
func (j *judgement) overlap() error {
	for _, old := range j.old.Revisions() {
		if old.Declares() || old.SameAs(j.next) {
			continue
		}
		for _, call := range oldCalls(old) {
			now, err := act(j.next, call.args)
			if err != nil || now == call.act {
				continue
			}
			j.Overlaps = append(j.Overlaps, Overlap{old.Revision, Example{Arguments: call.args, Old: show(call.act), New: show(now)}})
			break
		}
	}
	return nil
}

func properties(input json.RawMessage) map[string]bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	out := map[string]bool{}
	if json.Unmarshal(input, &schema) == nil {
		for name := range schema.Properties {
			out[name] = true
		}
	}
	return out
}

func sortedNames[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// short is JSON for one line.
func short(raw json.RawMessage) string {
	const most = 200
	if len(raw) <= most {
		return string(raw)
	}
	return string(raw[:most]) + "…"
}
