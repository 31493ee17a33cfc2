package publish

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"executor/internal/contract"
	"executor/internal/drift"
	"executor/internal/policy"
)

// Options are what the judgement may lean on besides the file and the history.
type Options struct {
	// Now is the time of the publish.
	Now time.Time
	// Policy, if set, is the vault's: credentials and hosts that it lacks are warned of.
	Policy *policy.Generation
}

// A judgement is one file on its way through the rules.
type judgement struct {
	*Report
	opt  Options
	file *contract.File
	ops  []contract.Op
	next *contract.Contract
	// old is the tool as it is, nil for a new name; after is the tool with the file published.
	old   *contract.Tool
	after *contract.Tool
}

// Judge says what publishing f over the history ops, oldest entry first, would do.
// An error means that f is no contract, or that the history cannot be read; what
// the rules refuse is in Report.Refusals.
func Judge(f *contract.File, ops []contract.Op, opt Options) (*Report, error) {
	j := &judgement{Report: &Report{
		Tool: f.Tool, Revision: f.Revision, Findings: drift.Report{Verdict: drift.None, Bump: "none", Changes: []drift.Change{}},
		Authority: []string{}, Checks: []Check{}, Overlaps: []Overlap{}, Refused: []int{}, Unclaimed: []int{},
		Questions: []string{}, Refusals: []Refusal{}, Warnings: []string{}, Answers: []Answer{}, file: f, at: opt.Now,
	}, opt: opt, file: f, ops: ops}
	var err error
	if j.next, err = contract.New(f); err != nil {
		return nil, err
	}
	if len(ops) > 0 {
		if j.old, err = contract.Replay(f.Tool, ops); err != nil {
			return nil, err
		}
		j.Previous = j.old.Newest().Revision
	}
	if err := j.name(); err != nil {
		return nil, err
	}
	j.closed()
	j.reachable()
	if j.old == nil {
		j.first()
	} else if err := j.change(); err != nil {
		return nil, err
	}
	j.answer()
	return j.Report, nil
}

// first judges a tool that has no history.
func (j *judgement) first() {
	for _, a := range j.file.Accepts {
		j.refuse("no-such-revision", fmt.Sprintf("accepts names revision %d, which was never published", a.Revision), "leave the entry out: a new tool has no earlier calls")
	}
}

// change judges a file against the revisions before it.
func (j *judgement) change() error {
	same, err := j.known()
	if err != nil || same {
		return err
	}
	newest := j.old.Newest()
	if j.Findings, err = findings(newest, j.next); err != nil {
		return err
	}
	j.Claim = j.claim(newest.Revision)
	j.Authority = append(j.Authority, Authority(newest, j.next)...)
	j.Kind = stricter(found(j.Findings, j.Authority), j.Claim)
	j.entries()
	if len(j.Refusals) > 0 {
		return nil // the steps do not hold together; there is nothing to compare
	}
	if j.after, err = contract.Replay(j.Tool, append(slices.Clone(j.ops), j.Op())); err != nil {
		return err
	}
	if err := j.meaning(); err != nil {
		return err
	}
	if err := j.overlap(); err != nil {
		return err
	}
	j.rules()
	j.ending()
	j.wording()
	return nil
}

// claim is what the file says of revision n, "" for nothing.
func (j *judgement) claim(n int) string {
	for _, a := range j.file.Accepts {
		if a.Revision == n {
			return a.Change
		}
	}
	return ""
}

// ending lists the revisions whose calls would not be accepted any more.
func (j *judgement) ending() {
	after := j.after.Accepted()
	for _, n := range j.old.Accepted() {
		if slices.Contains(after, n) {
			continue
		}
		j.Refused = append(j.Refused, n)
		if j.claim(n) == "" {
			j.Unclaimed = append(j.Unclaimed, n)
		}
	}
	// Whoever fences the newest revision has said what becomes of the ones before it.
	if j.Kind == contract.Fence && j.Claim == contract.Fence {
		j.Unclaimed = []int{}
	}
}

func revisions(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = fmt.Sprint(n)
	}
	if len(words) == 1 {
		return "revision " + words[0]
	}
	return "revisions " + strings.Join(words, ", ")
}
