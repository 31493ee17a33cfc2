package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// pathArguments lists the arguments that stand before the query of a URL template
// that was parsed, and demands that those in a place of their own are always given:
// without its {id}, /items/{id} is another thing. {/id} leaves its segment out whole.
func pathArguments(raw string, in *input) (out []string, err error) {
	inPath := true
	for {
		literal, rest, ok := strings.Cut(raw, "{")
		if !ok {
			return out, nil
		}
		expression, after, _ := strings.Cut(rest, "}")
		if strings.Contains(expression, ":") {
			return nil, errors.New("a prefix such as {x:3} would cut an argument short, so that two calls are one")
		}
		inPath = inPath && !strings.ContainsAny(literal, "?#") && !strings.HasPrefix(expression, "?")
		names, slash := strings.CutPrefix(expression, "/")
		for name := range strings.SplitSeq(names, ",") {
			name = strings.TrimSuffix(name, "*")
			if !inPath {
				break
			}
			if _, has := in.defaults[name]; !slash && !has && !slices.Contains(in.schema.Required, name) {
				return nil, fmt.Errorf("the argument %q stands in the path: it must be required, or {/%s} leaves its segment out", name, name)
			}
			out = append(out, name)
		}
		raw = after
	}
}
