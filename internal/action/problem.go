package action

import "strings"

// A Problem is one thing that is wrong with a call, where it is, and what would be right.
type Problem struct {
	// Path is a JSON Pointer (RFC 6901) into the arguments, "" for the whole.
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// Problems is the error of arguments that cannot become an action.
type Problems []Problem

func (p Problems) Error() string {
	parts := make([]string, len(p))
	for i, one := range p {
		parts[i] = strings.TrimPrefix(one.Path+": "+one.Problem, ": ")
	}
	return strings.Join(parts, "; ")
}
