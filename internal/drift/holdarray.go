package drift

import "math/big"

func whole(i int) *big.Rat { return new(big.Rat).SetInt64(int64(i)) }

// elementAt lists what c's nodes say of the element at an index.
func elementAt(s *shape, i int) []*node {
	var out []*node
	for _, n := range s.nodes {
		if i < len(n.prefix) {
			out = append(out, n.prefix[i])
		} else if n.items != nil {
			out = append(out, n.items)
		}
	}
	return out
}

func longestPrefix(s *shape) int {
	longest := 0
	for _, n := range s.nodes {
		longest = max(longest, len(n.prefix))
	}
	return longest
}

// mayReach says whether an array of s can have an element at index i.
func mayReach(s *shape, i int) bool {
	most := s.counts["maxItems"]
	return most == nil || most.Cmp(whole(i)) > 0
}

func (p *prover) arrayHolds(s *shape, b *node) bool {
	return countsHold(s, b, "Items") && uniqueHolds(s, b) && p.elementsHold(s, b) && p.containsHolds(s, b)
}

func uniqueHolds(s *shape, b *node) bool { return !b.unique || s.unique || !mayReach(s, 1) }

// elementsHold goes one index past the longer prefix: from there on all are alike.
func (p *prover) elementsHold(s *shape, b *node) bool {
	last := max(longestPrefix(s), len(b.prefix))
	for i := 0; i <= last && mayReach(s, i); i++ {
		p.steps.take(len(s.nodes))
		want := b.items
		if i < len(b.prefix) {
			want = b.prefix[i]
		}
		if want != nil && !p.inside(elementAt(s, i), want) {
			return false
		}
	}
	return true
}

func (p *prover) containsHolds(s *shape, b *node) bool {
	if b.contains == nil {
		return true
	}
	least := b.counts["minContains"]
	if least == nil {
		least = whole(1)
	}
	return p.containsAtLeast(s, b, least) && p.containsAtMost(s, b, b.counts["maxContains"])
}

func (p *prover) containsAtLeast(s *shape, b *node, least *big.Rat) bool {
	if least.Sign() == 0 {
		return true
	}
	for _, n := range s.nodes {
		have := n.counts["minContains"]
		if have == nil {
			have = whole(1)
		}
		if n.contains != nil && have.Cmp(least) >= 0 && p.inside([]*node{n.contains}, b.contains) {
			return true
		}
	}
	enough := s.counts["minItems"] != nil && s.counts["minItems"].Cmp(least) >= 0
	return enough && p.allInside(s, b.contains)
}

func (p *prover) allInside(s *shape, want *node) bool {
	for i := 0; i <= longestPrefix(s); i++ {
		if !p.inside(elementAt(s, i), want) {
			return false
		}
	}
	return true
}

func (p *prover) containsAtMost(s *shape, b *node, most *big.Rat) bool {
	if most == nil {
		return true
	}
	if have := s.counts["maxItems"]; have != nil && have.Cmp(most) <= 0 {
		return true
	}
	for _, n := range s.nodes {
		have := n.counts["maxContains"]
		if n.contains != nil && have != nil && have.Cmp(most) <= 0 && p.inside([]*node{b.contains}, n.contains) {
			return true
		}
	}
	return false
}
