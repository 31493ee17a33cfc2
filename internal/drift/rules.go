package drift

import "strings"

// A Class is how much a change matters. The zero value is none.
type Class string

// The classes, and the verdicts of a Report, worst last.
const (
	None       Class = "none"
	Compatible Class = "compatible"
	NeedsHuman Class = "needs-human"
	Breaking   Class = "breaking"
)

func (c Class) rank() int {
	switch c {
	case Compatible:
		return 1
	case NeedsHuman:
		return 2
	case Breaking:
		return 3
	}
	return 0
}

func worse(a, b Class) Class {
	if a.rank() > b.rank() {
		return a
	}
	return b
}

// A rule says what class its changes have unless the differ knows better, and
// what an old call or reader meets.
type rule struct {
	class  Class
	effect string
	// beside: the change is no reason for a call to be refused or an answer to
	// surprise. It never stands in for a proof.
	beside bool
}

// Effects, in words that stay stable. They are for people and for filters.
const (
	effRefused  = "refused"
	effIgnored  = "silently-ignored"
	effAccepted = "accepted"
	effUnproven = "unproven"
	effMeaning  = "may-mean-other"
	effSurprise = "unexpected-result"
	effFits     = "result-fits"
	effUnknown  = "unknown-tool"
	effApproval = "approval-covers-more"
	effSteers   = "steers-the-model"
	effHost     = "host-may-reject"
	effErrors   = "error-result-refused"
	effNothing  = "none"
)

var (
	breakIn   = rule{class: Breaking, effect: effRefused}
	fineIn    = rule{class: Compatible, effect: effAccepted}
	askIn     = rule{class: NeedsHuman, effect: effUnproven}
	breakOut  = rule{class: Breaking, effect: effSurprise}
	fineOut   = rule{class: Compatible, effect: effFits}
	wording   = rule{class: NeedsHuman, effect: effMeaning, beside: true}
	harmless  = rule{class: Compatible, effect: effNothing, beside: true}
	security  = rule{class: NeedsHuman, effect: effSteers, beside: true}
	advisory  = rule{class: NeedsHuman, effect: effHost, beside: true}
	authority = rule{class: NeedsHuman, effect: effApproval, beside: true}
	approvals = rule{class: Breaking, effect: effApproval, beside: true}
	claimed   = rule{class: NeedsHuman, effect: effApproval, beside: true}
)

// ruleNamed finds a rule. The differ emits no other id; an unknown one breaks.
func ruleNamed(id string) rule {
	if r, ok := wholeRule(id); ok {
		return r
	}
	if rest, in := strings.CutPrefix(id, "in-"); in {
		return inputRule(rest)
	}
	if rest, out := strings.CutPrefix(id, "out-"); out {
		return outputRule(rest)
	}
	switch {
	case strings.HasPrefix(id, "sec-"):
		return security
	case strings.HasPrefix(id, "auth-"):
		return authority
	case strings.HasPrefix(id, "host-"):
		return advisory
	}
	return rule{class: Breaking}
}

func wholeRule(id string) (rule, bool) {
	r, ok := wholeRules[id]
	return r, ok
}

// wholeRules are the rules that belong to no side.
var wholeRules = map[string]rule{
	"schema-equivalent-rewrite":       harmless,
	"schema-unknown-keyword-changed":  askIn,
	"schema-dialect-changed":          askIn,
	"schema-ref-external":             {class: NeedsHuman, effect: effUnproven, beside: true},
	"schema-ref-unresolved":           askIn,
	"schema-too-complex":              askIn,
	"tool-removed":                    {class: Breaking, effect: effUnknown},
	"tool-added":                      harmless,
	"tool-rename-suspected":           wording,
	"tool-duplicate-name":             {class: NeedsHuman, effect: effMeaning},
	"tool-title-changed":              wording,
	"tool-description-changed":        wording,
	"server-instructions-changed":     wording,
	"tool-icons-changed":              harmless,
	"tool-meta-changed":               wording,
	"tool-task-support-changed":       wording,
	"revision-not-bumped":             {class: Breaking, effect: effMeaning, beside: true},
	"revision-went-back":              {class: Breaking, effect: effMeaning, beside: true},
	"revision-bumped-without-change":  wording,
	"list-changed-capability-removed": {class: NeedsHuman, effect: effUnproven, beside: true},
	"ann-readonly-lost":               approvals,
	"ann-readonly-claimed":            claimed,
	"ann-destructive-raised":          approvals,
	"ann-destructive-lowered":         claimed,
	"ann-idempotent-lost":             approvals,
	"ann-idempotent-claimed":          claimed,
	"ann-openworld-raised":            approvals,
	"ann-openworld-lowered":           claimed,
	"ann-title-changed":               wording,
}

// wordRule covers what reads alike on both sides.
func wordRule(id string) (rule, bool) {
	switch id {
	case "description-changed", "default-changed", "default-added", "default-removed",
		"prop-rename-suspected", "read-only-changed", "write-only-changed":
		return wording, true
	case "deprecated-set", "deprecated-unset", "examples-changed":
		return harmless, true
	}
	return rule{}, false
}

func inputRule(id string) rule {
	if r, ok := wordRule(id); ok {
		return r
	}
	switch id {
	case "required-removed", "prop-added-optional", "type-widened", "enum-value-added", "enum-constraint-removed",
		"additional-opened", "format-removed", "unique-items-dropped", "prefix-items-shorter",
		"anyof-branch-added", "oneof-branch-added", "allof-branch-removed":
		return fineIn
	case "subset-unproven", "pattern-changed", "format-added", "format-changed", "content-changed":
		return askIn
	case "mcp-header-added", "mcp-header-renamed", "mcp-header-removed":
		return rule{class: Breaking, effect: effRefused, beside: true}
	}
	switch {
	case endsIn(id, "-relaxed", "-removed") && id != "prop-removed" && id != "enum-value-removed" &&
		id != "anyof-branch-removed" && id != "oneof-branch-removed":
		return fineIn
	case endsIn(id, "-changed") && id != "type-changed":
		return askIn
	}
	return breakIn
}

func outputRule(id string) rule {
	if r, ok := wordRule(id); ok {
		return r
	}
	switch id {
	case "schema-added", "prop-added", "required-added", "type-narrowed", "enum-value-removed", "enum-constraint-added",
		"additional-closed", "format-added", "unique-items-required", "anyof-branch-removed", "allof-branch-added":
		return fineOut
	case "subset-unproven", "pattern-changed", "format-removed", "format-changed", "content-changed", "oneof-branch-removed",
		"prefix-items-longer":
		return askIn
	case "error-envelope-missing":
		return rule{class: NeedsHuman, effect: effErrors, beside: true}
	case "prop-added-closed", "anyof-branch-added", "oneof-branch-added", "enum-value-added":
		return breakOut
	}
	switch {
	case endsIn(id, "-tightened", "-added"):
		return fineOut
	case endsIn(id, "-changed") && id != "type-changed" && id != "root-type-changed":
		return askIn
	}
	return breakOut
}

func endsIn(s string, ends ...string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}
