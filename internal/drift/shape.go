package drift

import (
	"math/big"
	"slices"
	"strings"
)

// A conj is the intersection of some nodes, taken apart as the proof goes on.
type conj struct {
	nodes []*node
	only  typeSet           // instances of these types only
	done  map[groupKey]bool // compositions of which one branch was already chosen
}

type groupKey struct {
	n  *node
	kw string
}

func conjOf(nodes ...*node) conj { return conj{nodes: nodes, only: tAll} }

func (c conj) and(nodes ...*node) conj {
	c.nodes = append(slices.Clip(c.nodes), nodes...)
	return c
}

func (c conj) without(k groupKey) conj {
	done := map[groupKey]bool{k: true}
	for old := range c.done {
		done[old] = true
	}
	c.done = done
	return c
}

func (c conj) limited(t typeSet) conj {
	c.only &= t
	return c
}

// A shape is what all nodes of a conj say together, as far as it can be said
// without choosing a branch. It never refuses what the conj accepts.
type shape struct {
	types    typeSet
	enum     []any
	hasEnum  bool
	low      *limit
	high     *limit
	counts   map[string]*big.Rat
	multiple []*big.Rat
	patterns map[string]bool
	formats  map[string]bool
	unknown  map[string]bool
	unique   bool
	required map[string]bool
	nodes    []*node // every node that takes part, through $ref and allOf
	some     []group // anyOf and oneOf whose branch is not chosen yet
	nots     []*node
	conds    []*node
}

type group struct {
	key      groupKey
	branches []*node
}

func (p *prover) expand(c conj) *shape {
	s := &shape{types: c.only, counts: map[string]*big.Rat{}, patterns: map[string]bool{},
		formats: map[string]bool{}, unknown: map[string]bool{}, required: map[string]bool{}}
	seen := map[*node]bool{}
	todo := slices.Clone(c.nodes)
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		p.steps.take(1 + len(n.required))
		s.add(n, c.done)
		if n.ref != nil {
			todo = append(todo, n.ref)
		}
		todo = append(todo, n.allOf...)
	}
	s.reconcile()
	return s
}

func (s *shape) add(n *node, done map[groupKey]bool) {
	s.nodes = append(s.nodes, n)
	if n.never {
		s.types = 0
	}
	s.types &= n.types
	s.addEnum(n)
	s.low, s.high = tighterLow(s.low, n.low), tighterHigh(s.high, n.high)
	for k, r := range n.counts {
		s.count(k, r)
	}
	if n.multipleOf != nil {
		s.multiple = append(s.multiple, n.multipleOf)
	}
	if n.pattern != nil {
		s.patterns[*n.pattern] = true
	}
	if n.format != nil {
		s.formats[*n.format] = true
	}
	for k, v := range n.unknown {
		s.unknown[k+" "+v] = true
	}
	s.unique = s.unique || n.unique
	for k := range n.required {
		s.required[k] = true
	}
	s.groups(n, done)
}

func (s *shape) groups(n *node, done map[groupKey]bool) {
	for _, g := range []group{{groupKey{n, "anyOf"}, n.anyOf}, {groupKey{n, "oneOf"}, n.oneOf}} {
		if g.branches != nil && !done[g.key] {
			s.some = append(s.some, g)
		}
	}
	if n.not != nil {
		s.nots = append(s.nots, n.not)
	}
	if n.ifNode != nil && !done[groupKey{n, "if"}] {
		s.conds = append(s.conds, n)
	}
}

func (s *shape) addEnum(n *node) {
	if !n.hasEnum {
		return
	}
	if !s.hasEnum {
		s.enum, s.hasEnum = n.enum, true
		return
	}
	s.enum = slices.DeleteFunc(slices.Clone(s.enum), func(v any) bool { return !n.lists(v) })
}

// count keeps the tighter of two counts. minContains and maxContains belong to
// their own node and stay there.
func (s *shape) count(k string, r *big.Rat) {
	if strings.HasSuffix(k, "Contains") {
		return
	}
	have := s.counts[k]
	min := strings.HasPrefix(k, "min")
	if have == nil || min && r.Cmp(have) > 0 || !min && r.Cmp(have) < 0 {
		s.counts[k] = r
	}
}

// reconcile takes away the types that the rest leaves no instance of.
func (s *shape) reconcile() {
	for _, m := range s.multiple {
		if m.IsInt() {
			s.types &^= tFrac
		}
	}
	if s.types&tNumber == tInt {
		s.low, s.high = wholeLow(s.low), wholeHigh(s.high)
	}
	if s.low != nil && s.high != nil {
		if c := s.low.at.Cmp(s.high.at); c > 0 || c == 0 && (s.low.open || s.high.open) {
			s.types &^= tNumber
		}
	}
	for _, of := range []struct {
		name string
		t    typeSet
	}{{"Length", tString}, {"Items", tArray}, {"Properties", tObject}} {
		low, high := s.counts["min"+of.name], s.counts["max"+of.name]
		if low != nil && high != nil && low.Cmp(high) > 0 {
			s.types &^= of.t
		}
	}
	if s.hasEnum {
		s.enum = slices.DeleteFunc(slices.Clone(s.enum), func(v any) bool { return typeOf(v)&s.types == 0 })
		if len(s.enum) == 0 {
			s.types = 0
		}
		return
	}
	s.finite()
}

// finite writes a type of two values as what it is.
func (s *shape) finite() {
	if s.types == 0 || s.types&^(tNull|tBool) != 0 {
		return
	}
	s.hasEnum = true
	if s.types&tNull != 0 {
		s.enum = append(s.enum, nil)
	}
	if s.types&tBool != 0 {
		s.enum = append(s.enum, false, true)
	}
}
