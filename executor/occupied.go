package executor

import (
	"strings"

	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/target"
)

// occupied refuses a query that names the parameter that carries the credential,
// or that its signature could not cover.
func occupied(u target.URL, c *policy.Credential) error {
	switch {
	case c == nil:
		return nil
	case c.OccupiesParam(u.RawQuery()):
		return action.Problems{{Path: "/url", Problem: "the query, here or in /query, names the parameter that carries the credential; leave it out"}}
	case c.Type == policy.AWSSigV4 && strings.ContainsAny(u.RawQuery(), ";+"):
		return action.Problems{{Path: "/url", Problem: "a query with a bare ; or + cannot be signed for AWS; write %3B, and %20 for a space or %2B for a plus"}}
	}
	return nil
}
