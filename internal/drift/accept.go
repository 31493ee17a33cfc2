package drift

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"
)

// An answer is what can be said of one instance and one schema.
type answer int

const (
	no answer = iota
	unsure
	yes
)

func sure(b bool) answer {
	if b {
		return yes
	}
	return no
}

// accepts says whether the node takes a value. Formats, unknown keywords and
// unevaluated* leave it unsure.
func (p *prover) accepts(n *node, v any) answer {
	p.steps.take(1)
	p.nested++
	defer func() { p.nested-- }()
	if p.steps.spent() || p.nested > maxNested {
		return unsure
	}
	if n.never || typeOf(v)&n.types == 0 || n.hasEnum && !n.lists(v) {
		return no
	}
	out := yes
	if n.format != nil || len(n.unknown) > 0 || n.refBad != "" || n.unevalProps != nil || n.unevalItems != nil {
		out = unsure
	}
	switch v := v.(type) {
	case json.Number:
		out = min(out, acceptsNumber(n, v))
	case string:
		out = min(out, p.acceptsString(n, v))
	case []any:
		out = min(out, p.acceptsArray(n, v))
	case map[string]any:
		out = min(out, p.acceptsObject(n, v))
	case overDeep:
		out = unsure
	}
	return min(out, p.acceptsComposed(n, v))
}

func (p *prover) admits(nodes []*node, v any) answer {
	out := yes
	for _, n := range nodes {
		out = min(out, p.accepts(n, v))
	}
	return out
}

func acceptsNumber(n *node, v json.Number) answer {
	r, ok := exact(v)
	if !ok {
		return unsure
	}
	at := &limit{at: r}
	return sure(within(n.low, at, 1) && within(n.high, at, -1) &&
		(n.multipleOf == nil || new(big.Rat).Quo(r, n.multipleOf).IsInt()))
}

func acceptsCount(n *node, of string, have int) bool {
	low, high := n.counts["min"+of], n.counts["max"+of]
	return (low == nil || low.Cmp(whole(have)) <= 0) && (high == nil || high.Cmp(whole(have)) >= 0)
}

func (p *prover) acceptsString(n *node, v string) answer {
	if !acceptsCount(n, "Length", utf8.RuneCountInString(v)) {
		return no
	}
	if n.pattern == nil {
		return yes
	}
	return p.matches(*n.pattern, v)
}

func (p *prover) acceptsArray(n *node, v []any) answer {
	if !acceptsCount(n, "Items", len(v)) || n.unique && len(sortedSet(v)) != len(v) {
		return no
	}
	out := yes
	for i, e := range v {
		switch {
		case i < len(n.prefix):
			out = min(out, p.accepts(n.prefix[i], e))
		case n.items != nil:
			out = min(out, p.accepts(n.items, e))
		}
	}
	if n.contains != nil {
		out = min(out, unsure)
	}
	return out
}

func (p *prover) acceptsObject(n *node, v map[string]any) answer {
	out := sure(acceptsCount(n, "Properties", len(v)))
	for k := range n.required {
		if _, ok := v[k]; !ok {
			return no
		}
	}
	s := &shape{nodes: []*node{n}}
	for k, e := range v {
		for _, c := range p.property(s, k) {
			out = min(out, p.accepts(c, e))
		}
		if n.propNames != nil {
			out = min(out, p.accepts(n.propNames, k))
		}
		for pattern := range n.patProps {
			if p.matches(pattern, k) == unsure {
				out = min(out, unsure)
			}
		}
	}
	if len(n.depReq)+len(n.depSchemas) > 0 {
		out = min(out, unsure)
	}
	return out
}

func (p *prover) acceptsComposed(n *node, v any) answer {
	out := yes
	if n.ref != nil {
		out = p.accepts(n.ref, v)
	}
	for _, c := range n.allOf {
		out = min(out, p.accepts(c, v))
	}
	if n.anyOf != nil {
		best := no
		for _, c := range n.anyOf {
			best = max(best, p.accepts(c, v))
		}
		out = min(out, best)
	}
	if n.oneOf != nil {
		out = min(out, p.exactlyOne(n.oneOf, v))
	}
	if n.not != nil {
		out = min(out, yes-p.accepts(n.not, v))
	}
	return min(out, p.acceptsCondition(n, v))
}

func (p *prover) exactlyOne(branches []*node, v any) answer {
	var count [3]int
	for _, c := range branches {
		count[p.accepts(c, v)]++
	}
	switch {
	case count[yes] > 1 || count[yes]+count[unsure] == 0:
		return no
	case count[unsure] > 0:
		return unsure
	}
	return yes
}

func (p *prover) acceptsCondition(n *node, v any) answer {
	if n.ifNode == nil {
		return yes
	}
	then, other := yes, yes
	if n.thenNode != nil {
		then = p.accepts(n.thenNode, v)
	}
	if n.elseIt != nil {
		other = p.accepts(n.elseIt, v)
	}
	switch p.accepts(n.ifNode, v) {
	case yes:
		return then
	case no:
		return other
	}
	if then == other {
		return then
	}
	return unsure
}

// plainPattern is the part of ECMA-262 regular expressions that means the same to RE2.
var plainPattern = regexp.MustCompile(`^(?:[\w \-^$()\[\]{}|+*?,.:@/#=!]|\\[dw.\-/$^])*$`)

// matches says whether a pattern finds something in s.
func (p *prover) matches(pattern, s string) answer {
	re, known := p.patterns[pattern]
	if !known {
		p.steps.take(10 * (1 + len(pattern)))
		re = plainRegexp(pattern)
		p.patterns[pattern] = re
	}
	if re == nil || strings.ContainsAny(s, "\n\r\u2028\u2029") {
		return unsure
	}
	p.steps.take(1 + len(s)/64)
	return sure(re.MatchString(s))
}

// plainRegexp compiles a pattern, nil if it may not mean the same here.
func plainRegexp(pattern string) *regexp.Regexp {
	if len(pattern) > 512 || !plainPattern.MatchString(pattern) || strings.Contains(pattern, "(?") ||
		strings.Contains(pattern, "[^]") || strings.Contains(pattern, "[]") || strings.Contains(pattern, "[[:") {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return re
}
