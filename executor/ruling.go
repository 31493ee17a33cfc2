package executor

import (
	"fmt"
	"time"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
)

// A question is what the rules are asked besides the action.
type question struct {
	tool string
	at   time.Time
	used func(*policy.Rule) int
}

// judged binds a call, and judges it by floors and rules.
func judged(g *policy.Generation, r contract.Resolution, q question) (bound, error) {
	b, err := bindBoth(g, r)
	if err != nil {
		return bound{}, err
	}
	b.ruling = g.Judge(policy.Case{Tool: q.tool, Action: b.action, Default: b.usual, At: q.at, Used: q.used})
	b.level = action.Stricter(b.ruling.Level, b.floor)
	// Where a floor asks for more than the rule, the rule matters only by what a
	// session yes covers.
	if r := b.ruling.Rule; r != nil && (r.Approval == b.level || b.level == action.Session) {
		b.rule = r
	}
	if h, ok := b.action.(*action.HTTP); ok {
		h.Redirects = redirects(g, &b, h, q.tool)
		if c := h.Credential; c != nil && c.Token != nil {
			c.Token.Resend = h.Redirects.Max > 0 // reads that may be more than one request
		}
	}
	if b.level == action.Session {
		b.scope, b.exact = b.sessionScope()
	}
	return b, nil
}

// redirects allows a read to be redirected inside what its level was judged by:
// the binding, or the target of the rule where that is narrower. Where a stricter
// rule may hold in there none is followed: the 3xx is the result, and the next
// call is judged anew.
func redirects(g *policy.Generation, b *bound, h *action.HTTP, tool string) action.Redirects {
	within := h.Binding
	if b.rule != nil && len(b.rule.Target) > len(within) {
		within = b.rule.Target
	}
	if b.level < action.Session || h.Method != "GET" && h.Method != "HEAD" || h.Binding == "" ||
		g.StricterBelow(tool, h.Method, within, b.level) {
		return action.Redirects{}
	}
	return action.Redirects{Max: maxRedirects, Within: within}
}

// sessionScope says what a session yes covers; exact: this very action alone.
func (b *bound) sessionScope() (scope string, exact bool) {
	with := "without credential"
	if c := b.action.Cred(); c != nil {
		with = fmt.Sprintf("with credential %s version %d", c.Name, c.Version)
	}
	if a, ok := b.action.(interface{ Route() []action.Hop }); ok {
		last := a.Route()[len(a.Route())-1]
		with = fmt.Sprintf("at %s as %s %s", last.Address, last.User, with)
	}
	switch {
	case b.rule != nil:
		return b.rule.Text() + ", " + with, false
	case b.covers != "":
		return b.covers, false
	}
	return fmt.Sprintf("exactly this action on %s, %s", b.action.Target(), with), true
}

// basis is the ground on which a call runs or is refused without being asked about.
func (b *bound) basis() string {
	if b.rule != nil {
		return b.rule.Text()
	}
	return "level"
}
