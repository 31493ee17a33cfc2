package publish

import (
	"fmt"
	"strings"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
)

// Authority lists what calls of old would reach, or need, otherwise under next.
// It compares what both templates state as constants; a place where an argument
// stands is settled by rendering.
func Authority(old, next *contract.Contract) []string {
	a, b := old.Published, next.Published
	var out []string
	changed := func(what, from, to string) {
		if from != to {
			out = append(out, fmt.Sprintf("%s: %s is now %s", what, orNothing(from), orNothing(to)))
		}
	}
	switch {
	case a.HTTP != nil && b.HTTP != nil:
		changed("method", a.HTTP.Method, b.HTTP.Method)
		changed("credential", a.HTTP.Credential, b.HTTP.Credential)
		oldOrigin, oldPath, _ := cutURL(a.HTTP.URL)
		newOrigin, newPath, _ := cutURL(b.HTTP.URL)
		if constant(oldOrigin, newOrigin) {
			changed("target", oldOrigin, newOrigin)
		}
		if constant(oldPath, newPath) {
			changed("path", oldPath, newPath)
		}
	case a.SSH != nil && b.SSH != nil:
		changed("host", a.SSH.Host, b.SSH.Host)
	default:
		changed("transport", transport(a), transport(b))
	}
	return append(out, lowered(a, b)...)
}

// lowered compares levels of approval. Where a contract states none the default by
// effect holds, of which the careful side is taken.
func lowered(a, b *contract.Published) []string {
	if a.Approval == nil && b.Approval == nil {
		return nil
	}
	before, after := due(a, true), due(b, false)
	if action.Stricter(before, after) == after {
		return nil
	}
	return []string{fmt.Sprintf("approval: %s is now %s", before, after)}
}

func due(p *contract.Published, old bool) action.Level {
	if p.Approval != nil {
		return *p.Approval
	}
	// A read under a binding needs session; without one it needs call.
	if p.HTTP != nil && policy.SafeMethod(p.HTTP.Method) && !(old && p.HTTP.Credential == "") {
		return action.Session
	}
	return action.Call
}

func transport(p *contract.Published) string {
	if p.SSH != nil {
		return "SSH to " + p.SSH.Host
	}
	origin, _, _ := cutURL(p.HTTP.URL)
	return "HTTP to " + origin
}

// cutURL divides a URL template into scheme with host and port, path, and query.
func cutURL(raw string) (origin, path, query string) {
	scheme, rest, _ := strings.Cut(raw, "://")
	end := len(rest)
	for _, mark := range []string{"/", "?", "{/", "{?"} {
		if i := strings.Index(rest, mark); i >= 0 && i < end {
			end = i
		}
	}
	origin, rest = scheme+"://"+rest[:end], rest[end:]
	end = len(rest)
	for _, mark := range []string{"?", "{?", "{&"} {
		if i := strings.Index(rest, mark); i >= 0 && i < end {
			end = i
		}
	}
	return origin, rest[:end], rest[end:]
}

func constant(parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(p, "{") {
			return false
		}
	}
	return true
}

func orNothing(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
