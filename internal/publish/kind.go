package publish

import (
	"encoding/json"
	"slices"
	"strings"

	"executor/internal/contract"
	"executor/internal/drift"
)

// findings compares two contracts as tools/list would show them. The argument
// contract_revision takes no part: it differs always, and is judged by the rules.
func findings(old, next *contract.Contract) (drift.Report, error) {
	a, err := snapshot(old)
	if err != nil {
		return drift.Report{}, err
	}
	b, err := snapshot(next)
	if err != nil {
		return drift.Report{}, err
	}
	return drift.Diff(a, b, drift.Options{Profile: drift.DefaultsApplied}), nil
}

// Compare is what the differ says of two contracts.
func Compare(old, next *contract.Contract) (drift.Report, error) { return findings(old, next) }

func snapshot(c *contract.Contract) (*drift.Snapshot, error) {
	raw, err := json.Marshal(map[string]any{"tools": []any{map[string]any{
		"name": c.Tool, "title": c.Title, "description": c.Description, "annotations": c.Annotations,
		"inputSchema": c.Input, "outputSchema": c.Output,
	}}})
	if err != nil {
		return nil, err
	}
	return drift.Parse(raw)
}

// found is the kind of change that findings and a changed authority amount to.
func found(r drift.Report, authority []string) string {
	kind := contract.Additive
	for _, c := range r.Changes {
		kind = stricter(kind, kindOf(c))
	}
	if len(authority) > 0 {
		kind = contract.Fence
	}
	return kind
}

// kindOf is the kind of change that one finding amounts to by itself.
func kindOf(c drift.Change) string {
	switch {
	case c.Ignored:
		return contract.Additive
	case strings.HasPrefix(c.Rule, "auth-"):
		return contract.Fence
	case c.Class == drift.Breaking:
		return contract.Migration
	case c.Class == drift.NeedsHuman && !isWording(c.Rule):
		return contract.Migration
	}
	return contract.Additive
}

// isWording reports whether a rule is about words, hints and hosts: what a person
// answers by saying whether an old call still means this.
func isWording(rule string) bool {
	for _, prefix := range []string{"ann-", "sec-", "host-", "tool-"} {
		if strings.HasPrefix(rule, prefix) {
			return true
		}
	}
	for _, suffix := range []string{"-description-changed", "read-only-changed", "write-only-changed", "prop-rename-suspected", "error-envelope-missing"} {
		if strings.HasSuffix(rule, suffix) {
			return true
		}
	}
	return false
}

// wording asks a person about what no comparison can settle.
func (j *judgement) wording() {
	for _, c := range j.Findings.Changes {
		if c.Ignored || c.Class != drift.NeedsHuman || !isWording(c.Rule) {
			continue
		}
		if strings.HasSuffix(c.Rule, "prop-rename-suspected") && j.renames() {
			continue // no suspicion: it is declared, and was compared
		}
		j.Questions = append(j.Questions, "Does an old call still mean this? "+c.Path+" ["+c.Rule+"]")
	}
	for _, c := range j.Checks {
		if c.Outcome == Untested {
			j.Questions = append(j.Questions, "Does an old call still mean this? No arguments could be generated to compare "+revisions([]int{c.Revision})+" with")
		}
	}
}

func (j *judgement) renames() bool {
	return slices.ContainsFunc(j.after.Steps(j.Previous), func(s contract.Step) bool { return s.Rename != nil })
}

func stricter(a, b string) string {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

func rank(kind string) int {
	switch kind {
	case contract.Additive:
		return 1
	case contract.Migration:
		return 2
	case contract.Fence:
		return 3
	}
	return 0
}
