package console

import (
	"strings"

	"executor/approval"
)

// verdict reads a whole line as an answer. Anything that is not exactly one is none.
func verdict(typed string) (v approval.Verdict, reason string, ok bool) {
	switch typed {
	case "y":
		return approval.Yes, "", true
	case "e":
		return approval.Exact, "", true
	case "n":
		return approval.No, "", true
	case "b":
		return approval.Block, "", true
	}
	if reason, ok := strings.CutPrefix(typed, "n "); ok {
		return approval.No, strings.TrimSpace(reason), true
	}
	return "", "", false
}
