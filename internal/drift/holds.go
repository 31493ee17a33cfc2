package drift

import "math/big"

// holds proves b one keyword at a time, from the shape s of c.
func (p *prover) holds(c conj, s *shape, b *node) bool {
	if b.never || s.types&^b.types != 0 || b.hasEnum || b.refBad != "" {
		return false
	}
	return b.unevalProps == nil && b.unevalItems == nil && p.words(s, b) &&
		(s.types&tNumber == 0 || p.rangeHolds(s, b) && p.multipleHolds(s, b)) &&
		(s.types&tString == 0 || countsHold(s, b, "Length") && patternHolds(s, b)) &&
		(s.types&tArray == 0 || p.arrayHolds(s, b)) &&
		(s.types&tObject == 0 || p.objectHolds(c, s, b)) &&
		p.composed(c, s, b)
}

// words are the keywords that are compared as text only.
func (p *prover) words(s *shape, b *node) bool {
	if b.format != nil && !s.formats[*b.format] {
		return false
	}
	for k, v := range b.unknown {
		if !s.unknown[k+" "+v] {
			return false
		}
	}
	return true
}

func (p *prover) rangeHolds(s *shape, b *node) bool {
	low, high := b.low, b.high
	if s.types&tNumber == tInt {
		low, high = wholeLow(low), wholeHigh(high)
	}
	return within(low, s.low, 1) && within(high, s.high, -1)
}

// within says that the end have is at least as strict as want.
func within(want, have *limit, sign int) bool {
	if want == nil {
		return true
	}
	if have == nil {
		return false
	}
	c := have.at.Cmp(want.at) * sign
	return c > 0 || c == 0 && (have.open || !want.open)
}

func (p *prover) multipleHolds(s *shape, b *node) bool {
	if b.multipleOf == nil {
		return true
	}
	if s.types&tNumber == tInt && new(big.Rat).Inv(b.multipleOf).IsInt() {
		return true
	}
	for _, m := range s.multiple {
		if new(big.Rat).Quo(m, b.multipleOf).IsInt() {
			return true
		}
	}
	return false
}

func countsHold(s *shape, b *node, of string) bool {
	if want := b.counts["min"+of]; want != nil {
		if have := s.counts["min"+of]; have == nil || have.Cmp(want) < 0 {
			return false
		}
	}
	if want := b.counts["max"+of]; want != nil {
		if have := s.counts["max"+of]; have == nil || have.Cmp(want) > 0 {
			return false
		}
	}
	return true
}

func patternHolds(s *shape, b *node) bool { return b.pattern == nil || s.patterns[*b.pattern] }

// composed proves the keywords that combine whole schemas.
func (p *prover) composed(c conj, s *shape, b *node) bool {
	if b.ref != nil && !p.subset(c, b.ref) {
		return false
	}
	for _, part := range b.allOf {
		if !p.subset(c, part) {
			return false
		}
	}
	return p.anyOfHolds(c, b.anyOf) && p.oneOfHolds(c, b.oneOf) && p.notHolds(c, s, b.not) && p.condHolds(c, s, b)
}

func (p *prover) anyOfHolds(c conj, branches []*node) bool {
	for _, branch := range branches {
		if p.subset(c, branch) {
			return true
		}
	}
	return branches == nil
}

// oneOfHolds wants one branch that takes all and the others that take nothing.
func (p *prover) oneOfHolds(c conj, branches []*node) bool {
	for i, branch := range branches {
		if p.subset(c, branch) {
			return p.disjointFromOthers(c, branches, i)
		}
	}
	return branches == nil
}

func (p *prover) disjointFromOthers(c conj, branches []*node, i int) bool {
	for j, other := range branches {
		if j != i && !p.disjoint(c, other) {
			return false
		}
	}
	return true
}

func (p *prover) notHolds(c conj, s *shape, not *node) bool {
	if not == nil || p.disjoint(c, not) {
		return true
	}
	for _, have := range s.nots {
		if p.subset(conjOf(not), have) {
			return true
		}
	}
	return false
}

func (p *prover) condHolds(c conj, s *shape, b *node) bool {
	if b.ifNode == nil {
		return true
	}
	for _, have := range s.nodes {
		if have.ifNode != nil && p.sameCondition(have, b) {
			return true
		}
	}
	thens, elses := p.consequences(s, b.ifNode)
	then := b.thenNode == nil || p.subset(c, b.thenNode) || p.disjoint(c, b.ifNode) ||
		p.subset(c.and(b.ifNode).and(thens...), b.thenNode)
	return then && (b.elseIt == nil || p.subset(c, b.ifNode) || p.subset(c.and(elses...), b.elseIt))
}

// consequences lists what c's own conditions demand where a condition holds, and where it does not.
func (p *prover) consequences(s *shape, condition *node) (thens, elses []*node) {
	for _, n := range s.nodes {
		if n.ifNode == nil {
			continue
		}
		if p.subset(conjOf(condition), n.ifNode) {
			thens = append(thens, present(n.thenNode)...)
		}
		if p.subset(conjOf(n.ifNode), condition) {
			elses = append(elses, present(n.elseIt)...)
		}
	}
	return thens, elses
}

func (p *prover) sameCondition(a, b *node) bool {
	return p.same(a.ifNode, b.ifNode) && p.sameOptional(a.thenNode, b.thenNode) && p.sameOptional(a.elseIt, b.elseIt)
}

func (p *prover) sameOptional(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return p.same(a, b)
}
