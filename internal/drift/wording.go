package drift

import (
	"encoding/json"
	"fmt"
	"strings"

	"executor/internal/term"
)

// meets says in words what an effect means to whoever holds the old contract.
func meets(effect string) string {
	switch effect {
	case effRefused:
		return "an old call is refused"
	case effIgnored:
		return "an old call passes and the argument is silently ignored"
	case effAccepted:
		return "old calls stay valid"
	case effUnproven:
		return "not proved: an old call may be refused"
	case effMeaning:
		return "an old call may mean something else"
	case effSurprise:
		return "a reader of the old contract meets a result that it does not know"
	case effFits:
		return "new results fit the old contract"
	case effUnknown:
		return "an old call gets an unknown tool"
	case effApproval:
		return "an approval given before now covers more"
	case effSteers:
		return "the text may steer the model"
	case effHost:
		return "some hosts refuse it"
	case effErrors:
		return "clients that check failed calls against the schema refuse them"
	}
	return ""
}

// detail is the part of a line that names what the change is about.
func (c Change) detail() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.Name != "" && c.Hint == "" && !strings.HasSuffix(c.Path, c.Name) {
		add("%s", c.Name)
	}
	switch {
	case len(c.Values) > 0:
		add("%s", brief(c.Values))
	case len(c.Added)+len(c.Removed) > 0:
		parts = append(parts, plusMinus(c.Added, c.Removed)...)
	case c.Effective != nil:
		add("effective %t -> %t", c.Effective.From, c.Effective.To)
	case !c.sideBySide() && (c.Before != nil || c.After != nil) && small(c.Before) && small(c.After):
		add("%s -> %s", brief(c.Before), brief(c.After))
	}
	if c.Hint != "" {
		add("%s", c.Hint)
	}
	if len(c.Codepoints) > 0 {
		add("%s", strings.Join(c.Codepoints, " "))
	}
	return strings.Join(parts, "; ")
}

func plusMinus(added, removed []string) []string {
	var out []string
	for _, t := range added {
		out = append(out, "+"+t)
	}
	for _, t := range removed {
		out = append(out, "-"+t)
	}
	return out
}

// briefLength is how much of a value fits into a line.
const briefLength = 80

func brief(v any) string {
	if v == nil {
		return "absent"
	}
	text := jsonText(v)
	if r := []rune(text); len(r) > briefLength {
		return string(r[:briefLength]) + "…"
	}
	return text
}

func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func small(v any) bool { return v == nil || len(jsonText(v)) <= briefLength }

// sideBySide says that old and new are texts to be read in full, one above the other.
func (c Change) sideBySide() bool {
	_, before := c.Before.(string)
	_, after := c.After.(string)
	return (before || after) && endsIn(c.Path, ".description", ".title", "instructions", ".$comment")
}

// remarks are the parts of a change that explain it.
func (c Change) remarks() []string {
	var out []string
	switch m := meets(c.Effect); {
	case m == "" || c.Class == None:
	case c.adapted && c.Effect == effRefused:
		out = append(out, "an old call does not fit as it is")
	default:
		out = append(out, m)
	}
	if c.Reason != "" {
		out = append(out, c.Reason)
	}
	if c.Via != "" {
		out = append(out, "via "+c.Via)
	}
	if c.Overridden != "" {
		out = append(out, "class set by override, was "+string(c.Overridden))
	}
	if c.Ignored {
		out = append(out, "ignored: "+c.IgnoreReason)
	}
	if c.IgnoreExpired != "" {
		out = append(out, "an ignore for this expired on "+c.IgnoreExpired)
	}
	return out
}

// summary counts in words.
func (r Report) summary() string {
	n := map[Class]int{}
	ignored := 0
	for _, c := range r.Changes {
		if c.Ignored {
			ignored++
			continue
		}
		n[c.Class]++
	}
	text := fmt.Sprintf("%s: %d breaking, %d for a person to judge, %d compatible", r.Verdict, n[Breaking], n[NeedsHuman], n[Compatible])
	if ignored > 0 {
		text += fmt.Sprintf(", %d ignored", ignored)
	}
	return text + "; version step: " + r.Bump
}

// byTool calls f for each tool's changes, in report order.
func (r Report) byTool(f func(changes []Change)) {
	for i := 0; i < len(r.Changes); {
		j := i
		for j < len(r.Changes) && r.Changes[j].Tool == r.Changes[i].Tool {
			j++
		}
		f(r.Changes[i:j])
		i = j
	}
}

func safe(s string) string { return term.Safe(s) }
