package drift

import (
	"cmp"
	"slices"
)

// A Report is what became of one contract. It is plain data.
type Report struct {
	// Verdict is the worst class of the changes that are not ignored.
	Verdict Class `json:"verdict"`
	// Bump is the version step to take: major, minor, patch or none.
	Bump string `json:"bump"`
	// Changes are grouped by tool, the tool with the worst change first and the
	// worst change of a tool first; changes of the server as a whole lead (Tool "").
	Changes []Change `json:"changes"`
	// Note says what no comparison of schemas can see. It is there when Changes is empty.
	Note string `json:"note,omitempty"`
}

// Blind is the note of an empty report.
const Blind = "No change in the contract. This compares what the server declares: a change of meaning, order, units, " +
	"namespace or authority behind an unchanged schema cannot be seen here. Only a declared revision or calls with known answers cover that."

// A Change is one finding. Rule ids are stable.
type Change struct {
	Tool  string `json:"tool,omitempty"`
	Rule  string `json:"rule"`
	Path  string `json:"path"` // "search_issues.inputSchema.required"
	Class Class  `json:"class"`
	// Effect is what an old call or reader meets: refused, silently-ignored, accepted,
	// unproven, may-mean-other, unexpected-result, result-fits, unknown-tool,
	// approval-covers-more, steers-the-model, host-may-reject,
	// error-result-refused, none.
	Effect     string     `json:"effect,omitempty"`
	Before     any        `json:"before,omitempty"`
	After      any        `json:"after,omitempty"`
	Name       string     `json:"name,omitempty"`   // the property or tool that it is about
	Values     []any      `json:"values,omitempty"` // enum values added or removed
	Added      []string   `json:"added,omitempty"`  // types
	Removed    []string   `json:"removed,omitempty"`
	Effective  *Effective `json:"effective,omitempty"` // annotations, defaults filled in
	Hint       string     `json:"hint,omitempty"`
	Reason     string     `json:"reason,omitempty"` // why this class
	Via        string     `json:"via,omitempty"`    // the $ref that led here
	Security   bool       `json:"security,omitempty"`
	Level      string     `json:"level,omitempty"` // error or warning, of security findings
	Codepoints []string   `json:"codepoints,omitempty"`
	// Overridden is the class before an override; Ignored changes do not count.
	Overridden    Class  `json:"overridden,omitempty"`
	Ignored       bool   `json:"ignored,omitempty"`
	IgnoreReason  string `json:"ignoreReason,omitempty"`
	IgnoreExpired string `json:"ignoreExpired,omitempty"` // the date from which an ignore no longer holds

	adapted bool // old calls are made to fit
}

// Effective is an annotation's value with the specification's default filled in.
type Effective struct {
	From bool `json:"from"`
	To   bool `json:"to"`
}

// finish sorts, judges and notes. It is the only maker of verdicts.
func finish(changes []Change) Report {
	worst := map[string]int{}
	r := Report{Verdict: None, Changes: slices.Clone(changes)}
	for _, c := range changes {
		if !c.Ignored {
			r.Verdict = worse(c.Class, r.Verdict)
			worst[c.Tool] = max(worst[c.Tool], c.Class.rank())
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(server(a), server(b)),
			cmp.Compare(worst[b.Tool], worst[a.Tool]),
			cmp.Compare(a.Tool, b.Tool),
			cmp.Compare(b.weight(), a.weight()),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Name, b.Name),
		)
	})
	if r.Changes == nil {
		r.Changes = []Change{}
	}
	if len(r.Changes) == 0 {
		r.Note = Blind
	}
	r.Bump = bump(r)
	return r
}

func server(c Change) int {
	if c.Tool == "" {
		return 0
	}
	return 1
}

func (c Change) weight() int {
	if c.Ignored {
		return -1
	}
	w := 2 * c.Class.rank()
	if c.Security {
		w++
	}
	return w
}

// bump takes the careful reading: what is not proved steps like what breaks,
// unless only words changed.
func bump(r Report) string {
	step := 0
	for _, c := range r.Changes {
		if !c.Ignored {
			step = max(step, c.step())
		}
	}
	return []string{"none", "patch", "minor", "major"}[step]
}

func (c Change) step() int {
	switch {
	case c.Class == Breaking, c.Class == NeedsHuman && (!ruleNamed(c.Rule).beside || isDefault(c.Rule)):
		return 3
	case c.Class == NeedsHuman, c.Rule == "tool-added", c.Class == Compatible && !ruleNamed(c.Rule).beside:
		return 2
	}
	return 1
}

func isDefault(id string) bool {
	return endsIn(id, "default-changed", "default-added", "default-removed")
}
