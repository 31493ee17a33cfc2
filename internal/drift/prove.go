package drift

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A prover answers whether every instance of some nodes is an instance of
// another node. It says yes only with a proof. The proof is by induction on the
// size of the instance: a claim met again deeper in the instance may be assumed,
// one met again at the same place may not.
type prover struct {
	hash     *hasher
	steps    *budget
	ids      map[*node]int
	active   map[string]int // claims under proof → depth in the instance
	depth    int            // how far below the root of the instance
	nested   int            // how deep the proof itself is
	given    map[pair]bool  // claims that somebody else answers for
	patterns map[string]*regexp.Regexp
	lax      map[*node]bool // new optional properties of open objects: C by rule
}

// A pair is a claim "a is inside b" between two nodes as they are written.
type pair struct{ a, b *node }

// maxNested bounds the proof where a conjunction grows at every turn.
const maxNested = 400

func newProver(steps *budget) *prover {
	return &prover{hash: newHasher(steps), steps: steps, ids: map[*node]int{}, active: map[string]int{},
		given: map[pair]bool{}, patterns: map[string]*regexp.Regexp{}, lax: map[*node]bool{}}
}

// same says that two nodes have one normal form.
func (p *prover) same(a, b *node) bool {
	return identical(a, b) || p.hash.sum(a) == p.hash.sum(b)
}

// subset proves that every instance of c is one of b.
func (p *prover) subset(c conj, b *node) bool {
	for b.onlyRef() {
		b = b.ref
	}
	if b.trivial() {
		return true
	}
	for _, a := range c.nodes {
		if p.given[pair{resolved(a), b}] || p.same(a, b) {
			return !p.steps.spent()
		}
	}
	p.steps.take(2 * len(c.nodes))
	return p.claim("⊆"+p.key(c)+">"+itoa(p.id(b)), func() bool {
		s := p.expand(c)
		switch {
		case s.types == 0:
			return true
		case s.hasEnum:
			return p.valuesInside(c, s, b)
		}
		return p.holds(c, s, b) || p.split(c, s, func(c conj) bool { return p.subset(c, b) })
	})
}

// claim runs a proof under the induction rule and the bounds.
func (p *prover) claim(key string, proof func() bool) bool {
	p.steps.take(1)
	if p.steps.spent() || p.nested > maxNested {
		return false
	}
	if depth, open := p.active[key]; open {
		return depth < p.depth
	}
	p.active[key] = p.depth
	p.nested++
	defer func() { delete(p.active, key); p.nested-- }()
	return proof()
}

// below runs a proof about a part of the instance.
func (p *prover) below(proof func() bool) bool {
	p.depth++
	defer func() { p.depth-- }()
	return proof()
}

// inside is subset for a part of the instance.
func (p *prover) inside(nodes []*node, b *node) bool {
	return p.below(func() bool { return p.subset(conjOf(nodes...), b) })
}

func (p *prover) id(n *node) int {
	if _, ok := p.ids[n]; !ok {
		p.ids[n] = len(p.ids)
	}
	return p.ids[n]
}

func (p *prover) key(c conj) string {
	parts := make([]string, 0, len(c.nodes)+len(c.done)+1)
	for _, n := range c.nodes {
		parts = append(parts, itoa(p.id(n)))
	}
	for g := range c.done {
		parts = append(parts, g.kw+itoa(p.id(g.n)))
	}
	slices.Sort(parts)
	return fmt.Sprint(c.only, strings.Join(slices.Compact(parts), ","))
}

// valuesInside asks for each value by itself.
func (p *prover) valuesInside(c conj, s *shape, b *node) bool {
	for _, v := range s.enum {
		if p.admits(c.nodes, v) != no && p.accepts(b, v) != yes {
			return false
		}
	}
	return true
}

// split takes c apart into cases that together cover it, and wants the claim of each.
func (p *prover) split(c conj, s *shape, claim func(conj) bool) bool {
	if len(s.some) > 0 {
		g := s.some[0]
		for _, branch := range g.branches {
			if !claim(c.without(g.key).and(branch)) {
				return false
			}
		}
		return true
	}
	if types := s.types.each(); len(types) > 1 {
		for _, t := range types {
			if !claim(c.limited(t)) {
				return false
			}
		}
		return true
	}
	if len(s.conds) == 0 {
		return false
	}
	n := s.conds[0]
	c = c.without(groupKey{n, "if"})
	return claim(c.and(n.ifNode).and(present(n.thenNode)...)) && claim(c.and(present(n.elseIt)...))
}

func present(n *node) []*node {
	if n == nil {
		return nil
	}
	return []*node{n}
}

// empty proves that c has no instance.
func (p *prover) empty(c conj) bool {
	p.steps.take(2 * len(c.nodes))
	return p.claim("∅"+p.key(c), func() bool {
		s := p.expand(c)
		switch {
		case s.types == 0:
			return true
		case s.hasEnum:
			return !slices.ContainsFunc(s.enum, func(v any) bool { return p.admits(c.nodes, v) != no })
		case s.types == tObject && p.needsImpossible(s):
			return true
		case s.types == tArray && p.firstImpossible(s):
			return true
		}
		for _, not := range s.nots {
			if p.subset(c, not) {
				return true
			}
		}
		return p.split(c, s, p.empty)
	})
}

func (p *prover) needsImpossible(s *shape) bool {
	for _, k := range sortedKeys(s.required) {
		if !p.mayHave(s, k) {
			return true
		}
	}
	return false
}

// mayHave says that no proof was found that the property is never there.
func (p *prover) mayHave(s *shape, name string) bool {
	nodes := p.property(s, name)
	return len(nodes) == 0 || !p.below(func() bool { return p.empty(conjOf(nodes...)) })
}

func (p *prover) firstImpossible(s *shape) bool {
	if s.counts["minItems"] == nil {
		return false
	}
	nodes := elementAt(s, 0)
	return len(nodes) > 0 && p.below(func() bool { return p.empty(conjOf(nodes...)) })
}

// disjoint proves that c and n share no instance.
func (p *prover) disjoint(c conj, n *node) bool { return p.empty(c.and(n)) }
