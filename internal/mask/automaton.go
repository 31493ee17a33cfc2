package mask

// An automaton is an Aho-Corasick matcher. Near the root, and where needles
// part, a state has a row with its successor for each class of byte; elsewhere
// it has one child and a failure link. Text that is no secret stays in the rows.
//
// A state below len(rows) is the offset of its row; the others follow, by one.
// States below quiet have a row and end no needle. The root is 0. A row ends
// with the fact of its state.
type automaton struct {
	class   [256]uint8
	classes uint32
	quiet   uint32
	rows    []uint32
	links   []link
}

type link struct {
	child, fail uint32
	class       uint8
	fact
}

// A fact is what is known of a state.
type fact struct {
	depth uint32 // symbols matched
	out   uint32 // length of the longest needle that ends here, 0 for none
	owner uint32 // of that needle, or of one that passes here
}

const factSize = 3 // of a row

const noClass = 0 // bytes in no needle

// newAutomaton gives rows to the states of a depth up to rowDepth.
func newAutomaton(t *trie, rowDepth int32) *automaton {
	a := &automaton{}
	a.classify(t)
	order := t.link()
	state := a.number(t, order, rowDepth)
	a.fill(t, order, state)
	clear(t.nodes)
	return a
}

func (a *automaton) classify(t *trie) {
	var class [256]uint8
	next := uint32(noClass + 1)
	for _, n := range t.nodes[1:] {
		if class[n.symbol] == noClass {
			class[n.symbol] = uint8(next)
			next++
		}
	}
	for c := range a.class {
		a.class[c] = class[t.alias[c]]
	}
	a.classes = next
}

// number gives each node its state: quiet rows, other rows, links.
func (a *automaton) number(t *trie, order []int32, rowDepth int32) []uint32 {
	state := make([]uint32, len(order))
	next := uint32(0)
	pass := func(step uint32, want func(n *node, row bool) bool) {
		for _, i := range order {
			n := &t.nodes[i]
			if want(n, n.depth <= rowDepth || n.branches) {
				state[i] = next
				next += step
			}
		}
	}
	pass(a.classes+factSize, func(n *node, row bool) bool { return row && n.out == 0 })
	a.quiet = next
	pass(a.classes+factSize, func(n *node, row bool) bool { return row && n.out != 0 })
	a.rows = make([]uint32, next)
	pass(1, func(_ *node, row bool) bool { return !row })
	a.links = make([]link, next-uint32(len(a.rows)))
	return state
}

func factOf(n *node) fact {
	if n.out != 0 {
		return fact{uint32(n.depth), uint32(n.out), uint32(n.outOwner)}
	}
	return fact{uint32(n.depth), 0, uint32(n.owner)}
}

func (a *automaton) fill(t *trie, order []int32, state []uint32) {
	for _, i := range order {
		n := &t.nodes[i]
		if s := state[i]; s >= uint32(len(a.rows)) {
			l := link{fail: state[n.fail], class: noClass, fact: factOf(n)}
			if n.child != 0 {
				l.child, l.class = state[n.child], a.class[t.nodes[n.child].symbol]
			}
			a.links[s-uint32(len(a.rows))] = l
			continue
		}
		row, f := a.rows[state[i]:], factOf(n)
		copy(row[a.classes:], []uint32{f.depth, f.out, f.owner})
		for k := range a.classes {
			if i != 0 {
				row[k] = a.next(state[n.fail], uint8(k))
			}
		}
		for c := n.child; c != 0; c = t.nodes[c].sibling {
			row[a.class[t.nodes[c].symbol]] = state[c]
		}
	}
}

// next takes amortized constant time: each failure link undoes a step.
func (a *automaton) next(state uint32, class uint8) uint32 {
	for state >= uint32(len(a.rows)) {
		l := &a.links[state-uint32(len(a.rows))]
		if l.class == class && class != noClass {
			return l.child
		}
		state = l.fail
	}
	return a.rows[state+uint32(class)]
}

func (a *automaton) fact(state uint32) fact {
	if state < uint32(len(a.rows)) {
		f := a.rows[state+a.classes:][:factSize]
		return fact{f[0], f[1], f[2]}
	}
	return a.links[state-uint32(len(a.rows))].fact
}

func (a *automaton) wipe() {
	clear(a.class[:])
	clear(a.rows)
	clear(a.links)
}
