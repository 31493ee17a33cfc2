package publish

import (
	"encoding/json"
	"time"

	"executor/internal/contract"
	"executor/internal/drift"
)

// A Report is what a contract file would do. Its JSON names are stable.
type Report struct {
	Tool     string `json:"tool"`
	Revision int    `json:"revision"`
	// Previous is the newest revision so far, 0 for a new tool.
	Previous int `json:"previous_revision"`
	// Already: exactly this is published and current; there is nothing to do.
	Already bool `json:"already_published"`
	// Kind is the kind of change, "" for a new tool; Claim is what the file says of it.
	Kind  string `json:"kind"`
	Claim string `json:"claim"`
	// Findings are the differ's, against the newest revision.
	Findings drift.Report `json:"findings"`
	// Authority lists what an old call would reach or need otherwise.
	Authority []string `json:"authority"`
	// Checks has one entry for each earlier revision whose calls would be accepted.
	Checks   []Check   `json:"checks"`
	Overlaps []Overlap `json:"overlaps"`
	// Refused are revisions that are accepted today and would not be any more.
	Refused []int `json:"refused_revisions"`
	// Unclaimed are those of Refused of which the file says nothing.
	Unclaimed []int `json:"unclaimed_revisions"`
	// Questions are for a person.
	Questions []string `json:"questions"`
	// Refusals are why it cannot be published. Without any it can.
	Refusals []Refusal `json:"refusals"`
	// Warnings refuse nothing.
	Warnings []string `json:"warnings"`
	Answers  []Answer `json:"release_questions"`

	file *contract.File
	at   time.Time
}

// A Check is the comparison of old calls under both contracts.
type Check struct {
	Revision int    `json:"revision"`
	Outcome  string `json:"outcome"` // Proved, Tested, Untested or Counterexample
	// Cases is how many old calls were rendered under both.
	Cases   int      `json:"cases"`
	Example *Example `json:"counterexample,omitempty"`
}

// Outcomes of a Check.
const (
	Proved         = "proved"
	Tested         = "tested"
	Untested       = "untested" // no valid old argument could be generated
	Counterexample = "counterexample"
)

// An Example is one old call that would mean something else.
type Example struct {
	Arguments json.RawMessage `json:"arguments"`
	// Adapted is what the declared steps make of the arguments, where they do.
	Adapted json.RawMessage `json:"adapted,omitempty"`
	// Old and New are the acts as both contracts render them; New is "" where there
	// is none, and Problem says why.
	Old     string `json:"old"`
	New     string `json:"new"`
	Problem string `json:"problem,omitempty"`
}

// An Overlap is an earlier revision whose calls the new contract could take for its own.
type Overlap struct {
	Revision int     `json:"revision"`
	Example  Example `json:"example"`
}

// A Refusal is a rule that the file breaks.
type Refusal struct {
	Rule string `json:"rule"`
	What string `json:"what"`
	// Declare is what would make it acceptable.
	Declare string `json:"declare"`
}

// An Answer is one of the five questions that a release must answer.
type Answer struct {
	Name     string `json:"name"`
	Question string `json:"question"`
	// Answer is yes, no or "a person decides"; Why explains it.
	Answer string `json:"answer"`
	Why    string `json:"why"`
}

// A Verdict is what becomes of a file.
type Verdict int

// Verdicts. The zero value refuses.
const (
	Refused    Verdict = iota
	Acceptable         // nobody has to be asked
	NeedsPerson
)

// Verdict is Refused for a file that the rules refuse, or that breaks calls of a
// served revision without saying so.
func (r *Report) Verdict() Verdict {
	switch {
	case len(r.Refusals) > 0 || len(r.Unclaimed) > 0:
		return Refused
	case r.Already:
		return Acceptable
	case len(r.Questions) > 0 || r.Kind == contract.Fence || len(r.Refused) > 0:
		return NeedsPerson
	}
	return Acceptable
}

// Publishable reports whether the rules let a person publish the file.
func (r *Report) Publishable() bool { return len(r.Refusals) == 0 && !r.Already }

// Op is the entry of the tool's history that publishes the file.
func (r *Report) Op() contract.Op {
	op := contract.Op{Op: contract.OpPublish, At: r.at, File: r.file, Kind: r.Kind}
	for _, o := range r.Overlaps {
		op.Overlaps = append(op.Overlaps, o.Revision)
	}
	return op
}

func (r *Report) refuse(rule, what, declare string) {
	for _, x := range r.Refusals {
		if x.What == what {
			return
		}
	}
	r.Refusals = append(r.Refusals, Refusal{rule, what, declare})
}
