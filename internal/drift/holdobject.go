package drift

import "math/big"

// property lists what c's nodes say of one property, as far as it is certain.
// A pattern that cannot be matched here adds nothing, and neither does the
// additionalProperties beside it.
func (p *prover) property(s *shape, name string) []*node {
	var out []*node
	for _, n := range s.nodes {
		p.steps.take(1 + len(n.patProps))
		c, known := n.props[name]
		if known {
			out = append(out, c)
		}
		for _, pattern := range sortedKeys(n.patProps) {
			switch p.matches(pattern, name) {
			case yes:
				out, known = append(out, n.patProps[pattern]), true
			case unsure:
				known = true
			}
		}
		if !known && n.addl != nil && !n.addl.trivial() {
			out = append(out, n.addl)
		}
	}
	return out
}

// explicit lists the properties that c's nodes name.
func explicit(s *shape) map[string]bool {
	out := map[string]bool{}
	for _, n := range s.nodes {
		for k := range n.props {
			out[k] = true
		}
	}
	return out
}

func (p *prover) objectHolds(c conj, s *shape, b *node) bool {
	for k := range b.required {
		if !s.required[k] {
			return false
		}
	}
	return p.propsCountHolds(s, b) && p.propsHold(s, b) && p.patternsHold(s, b) && p.additionalHolds(s, b) &&
		p.namesHold(s, b) && p.dependentHolds(c, s, b)
}

// propsCountHolds counts what is required and what a closed object can hold, too.
func (p *prover) propsCountHolds(s *shape, b *node) bool {
	if len(b.counts) == 0 {
		return true
	}
	with := *s
	with.counts = map[string]*big.Rat{}
	for k, r := range s.counts {
		with.counts[k] = r
	}
	with.count("minProperties", whole(len(s.required)))
	for _, n := range s.nodes {
		if n.addl != nil && n.addl.never && len(n.patProps) == 0 {
			with.count("maxProperties", whole(len(n.props)))
		}
	}
	return countsHold(&with, b, "Properties")
}

func (p *prover) propsHold(s *shape, b *node) bool {
	for _, k := range sortedKeys(b.props) {
		want := b.props[k]
		have := p.property(s, k)
		if len(have) == 0 && p.lax[want] {
			continue
		}
		if !p.inside(have, want) {
			return false
		}
	}
	return true
}

func (p *prover) patternsHold(s *shape, b *node) bool {
	for _, pattern := range sortedKeys(b.patProps) {
		want := b.patProps[pattern]
		for _, k := range sortedKeys(explicit(s)) {
			if p.matches(pattern, k) != no && !p.inside(p.property(s, k), want) {
				return false
			}
		}
		if !p.inside(otherNames(s, pattern), want) {
			return false
		}
	}
	return true
}

// otherNames lists what holds for a name that no node spells out and that matches pattern.
func otherNames(s *shape, pattern string) []*node {
	var out []*node
	for _, n := range s.nodes {
		if c := n.patProps[pattern]; c != nil {
			out = append(out, c)
		} else if len(n.patProps) == 0 && n.addl != nil {
			out = append(out, n.addl)
		}
	}
	return out
}

func (p *prover) additionalHolds(s *shape, b *node) bool {
	if b.addl == nil || b.addl.trivial() {
		return true
	}
	for _, k := range sortedKeys(explicit(s)) {
		if b.props[k] == nil && !p.certainlyMatched(b, k) && !p.inside(p.property(s, k), b.addl) {
			return false
		}
	}
	return p.inside(beyond(s, b), b.addl) || p.everySourceInside(s, b)
}

func (p *prover) certainlyMatched(b *node, name string) bool {
	for pattern := range b.patProps {
		if p.matches(pattern, name) == yes {
			return true
		}
	}
	return false
}

// beyond lists what holds for a name that neither side spells out and no
// pattern of b matches: additionalProperties, where each pattern is b's too.
func beyond(s *shape, b *node) []*node {
	var out []*node
	for _, n := range s.nodes {
		if n.addl != nil && len(foreignPatterns(n, b)) == 0 {
			out = append(out, n.addl)
		}
	}
	return out
}

func foreignPatterns(n, b *node) []string {
	var out []string
	for _, pattern := range sortedKeys(n.patProps) {
		if b.patProps[pattern] == nil {
			out = append(out, pattern)
		}
	}
	return out
}

// everySourceInside wants one node of which each schema that may govern an
// unknown name lies inside b's.
func (p *prover) everySourceInside(s *shape, b *node) bool {
	for _, n := range s.nodes {
		if n.addl == nil || !p.inside([]*node{n.addl}, b.addl) {
			continue
		}
		all := true
		for _, pattern := range foreignPatterns(n, b) {
			all = all && p.inside([]*node{n.patProps[pattern]}, b.addl)
		}
		if all {
			return true
		}
	}
	return false
}

func (p *prover) namesHold(s *shape, b *node) bool {
	if b.propNames == nil {
		return true
	}
	var have []*node
	for _, n := range s.nodes {
		if n.propNames != nil {
			have = append(have, n.propNames)
		}
		if n.addl != nil && n.addl.never && len(n.patProps) == 0 && p.namesAccepted(n, b.propNames) {
			return true
		}
	}
	return p.below(func() bool { return p.subset(conjOf(have...).limited(tString), b.propNames) })
}

func (p *prover) namesAccepted(closed, want *node) bool {
	for k := range closed.props {
		if p.accepts(want, k) != yes {
			return false
		}
	}
	return true
}

func (p *prover) dependentHolds(c conj, s *shape, b *node) bool {
	for _, k := range sortedKeys(b.depReq) {
		if !p.dependentNamed(s, k, b.depReq[k]) {
			return false
		}
	}
	for _, k := range sortedKeys(b.depSchemas) {
		with := c
		for _, n := range s.nodes {
			with = with.and(present(n.depSchemas[k])...)
		}
		if p.mayHave(s, k) && !p.subset(with, b.depSchemas[k]) {
			return false
		}
	}
	return true
}

func (p *prover) dependentNamed(s *shape, k string, want map[string]bool) bool {
	for name := range want {
		have := s.required[name] || name == k
		for _, n := range s.nodes {
			have = have || n.depReq[k][name]
		}
		if !have {
			return !p.mayHave(s, k)
		}
	}
	return true
}
