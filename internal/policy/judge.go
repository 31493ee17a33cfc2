package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/target"
)

// A Case is a call as rules see it.
type Case struct {
	Tool   string
	Action action.Action
	// Default is the level where no rule applies.
	Default action.Level
	// At is the time by which rules expire.
	At time.Time
	// Used says how many calls a rule with MaxCalls let run already. Nil: such a
	// rule does not apply.
	Used func(*Rule) int
}

// A Finding says whether a rule applies to a case, and why.
type Finding struct {
	Rule    *Rule
	Applies bool
	// Unclear: it would be stricter than the default, and whether it applies
	// cannot be told from the command line.
	Unclear bool
	Why     string
}

// A Ruling is what the rules make of a case, floors apart.
type Ruling struct {
	Level action.Level
	// Rule decides: of those that apply the strictest, of equals the first by
	// name. Nil: none applies, and Level is the default.
	Rule *Rule
	// Items are the rules that took part.
	Items    []Ref
	Findings []Finding
}

// Judge asks every rule about c. Of those that apply the strictest counts.
// Where a rule on a command would deny or ask and the command line cannot be
// read as words, the call is asked about, whatever wider rules say.
func (g *Generation) Judge(c Case) Ruling {
	out := Ruling{Level: c.Default}
	unclear := false
	for _, r := range g.Rules() {
		f := r.judge(c)
		out.Findings = append(out.Findings, f)
		if !f.Applies && !f.Unclear {
			continue
		}
		out.Items = append(out.Items, r.Ref())
		unclear = unclear || f.Unclear
		if f.Applies && (out.Rule == nil || r.Approval < out.Rule.Approval) {
			out.Rule, out.Level = r, r.Approval
		}
	}
	if unclear && out.Level > action.Call {
		out.Rule, out.Level = nil, action.Call
	}
	return out
}

func (r *Rule) judge(c Case) Finding {
	f := Finding{Rule: r}
	no := func(format string, args ...any) Finding {
		f.Why = fmt.Sprintf(format, args...)
		return f
	}
	if !r.Expires.IsZero() && !c.At.Before(r.Expires) {
		return no("it expired at %s", r.Expires.UTC().Format(time.RFC3339))
	}
	if r.Tool != "" && r.Tool != c.Tool {
		return no("it is for the tool %s", r.Tool)
	}
	var why string
	switch {
	case r.Host != "":
		why, f.Unclear = r.missesHost(c.Action)
	case r.Target != "" || len(r.Methods) > 0:
		why = r.missesRequest(c.Action)
	}
	if why != "" {
		return no("%s", why)
	}
	if r.MaxCalls > 0 && (c.Used == nil || c.Used(r) >= r.MaxCalls) {
		return no("its %d calls are used up", r.MaxCalls)
	}
	f.Applies, f.Why = true, "it applies"
	return f
}

// missesHost says why the rule is not for an action on a host.
func (r *Rule) missesHost(a action.Action) (why string, unclear bool) {
	if a.Target() != "ssh://"+r.Host {
		return "it is for the host " + r.Host, false
	}
	s, ok := a.(*action.SSH)
	if !ok {
		if r.Argv != "" || r.Widens() && r.Tool == "" {
			return "it is for commands, and this is none; a rule for it names the tool", false
		}
		return "", false
	}
	if r.Argv != "" {
		args, err := Args(s)
		switch {
		case err != nil:
			return "the command line cannot be compared: " + err.Error(), !r.Widens()
		case !matches(r.words, args):
			return "the command is another: " + r.Argv, false
		}
	}
	return r.missesExtras(s), false
}

// missesExtras holds a rule that widens to the variables and input that it names.
func (r *Rule) missesExtras(s *action.SSH) string {
	if !r.Widens() {
		return ""
	}
	for _, e := range s.Env {
		if !slices.Contains(r.Env, e.Name) {
			return "the call sets " + e.Name + ", which the rule does not name"
		}
	}
	if len(s.Stdin.Bytes) > 0 && !r.Stdin {
		return "the call has standard input, which the rule does not name"
	}
	return ""
}

// Args are the words of a command: its argv, or the plain words of its line.
func Args(s *action.SSH) ([]string, error) {
	if s.Argv != nil {
		return s.Argv, nil
	}
	return PlainWords(s.Command)
}

func (r *Rule) missesRequest(a action.Action) string {
	h, ok := a.(*action.HTTP)
	if !ok {
		return "it is for HTTP requests"
	}
	if len(r.Methods) > 0 && !slices.Contains(r.Methods, h.Method) {
		return "the method is " + h.Method + ", and it is for " + strings.Join(r.Methods, ", ")
	}
	if r.Target == "" {
		return ""
	}
	u, err := target.Parse(h.URL)
	if err != nil || !r.pattern.MatchURL(u) {
		return "the URL does not lie under " + r.Target
	}
	return ""
}

// StricterBelow reports whether some URL under within, a target pattern, may
// need more than level for this tool and method: then a redirect could lead
// past a rule. Whether a rule has expired does not matter here.
func (g *Generation) StricterBelow(tool, method, within string, level action.Level) bool {
	for _, r := range g.Rules() {
		switch {
		case r.Approval >= level || r.Host != "",
			r.Tool != "" && r.Tool != tool,
			len(r.Methods) > 0 && !slices.Contains(r.Methods, method):
			continue
		case r.Target == "" || strings.HasPrefix(r.Target, within) || strings.HasPrefix(within, r.Target):
			return true
		}
	}
	return false
}
