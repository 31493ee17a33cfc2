package mask

// A trie holds needles while an automaton is built of them. Node 0 is the root.
type trie struct {
	alias [256]byte // bytes that are to be the same
	nodes []node
}

type node struct {
	child, sibling, fail int32
	depth                int32
	out                  int32 // length of the longest needle that ends here, 0 for none
	outOwner             int32
	owner                int32 // of the first needle that passes here
	symbol               byte
	branches             bool
}

func newTrie(alias func(byte) byte) *trie {
	t := &trie{nodes: make([]node, 1)}
	for c := range t.alias {
		t.alias[c] = alias(byte(c))
	}
	return t
}

func (t *trie) add(needle []byte, owner int32) {
	at := int32(0)
	for _, c := range needle {
		c = t.alias[c]
		next := t.find(at, c)
		if next == 0 {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{
				symbol: c, sibling: t.nodes[at].child, owner: owner, depth: t.nodes[at].depth + 1,
			})
			t.nodes[at].branches = t.nodes[at].child != 0
			t.nodes[at].child = next
		}
		at = next
	}
	if n := &t.nodes[at]; at != 0 && n.out == 0 {
		n.out, n.outOwner = n.depth, owner
	}
}

// find returns the child of a node by its symbol, 0 for none.
func (t *trie) find(at int32, symbol byte) int32 {
	for c := t.nodes[at].child; c != 0; c = t.nodes[c].sibling {
		if t.nodes[c].symbol == symbol {
			return c
		}
	}
	return 0
}

// link sets where to go on when a node has no child for the next symbol, and
// returns the nodes by depth.
func (t *trie) link() []int32 {
	order := make([]int32, 1, len(t.nodes))
	for i := 0; i < len(order); i++ {
		parent := order[i]
		for c := t.nodes[parent].child; c != 0; c = t.nodes[c].sibling {
			order = append(order, c)
			n := &t.nodes[c]
			if parent != 0 {
				n.fail = t.after(t.nodes[parent].fail, n.symbol)
			}
			if f := t.nodes[n.fail]; n.out == 0 {
				n.out, n.outOwner = f.out, f.outOwner
			}
		}
	}
	return order
}

func (t *trie) after(at int32, symbol byte) int32 {
	for {
		if c := t.find(at, symbol); c != 0 || at == 0 {
			return c
		}
		at = t.nodes[at].fail
	}
}
