package drift

import (
	"slices"
	"strings"
)

// A hasher gives every node the hash of its normal form: references replaced
// by what they mean, annotations left out, sets sorted, one-member compositions
// unwrapped, unions of types taken apart, keywords that cannot matter dropped.
// Equal hashes mean equal sets of instances; unequal ones mean nothing.
type hasher struct {
	memo  map[*node]string
	docs  map[*document]int
	steps *budget
}

func newHasher(steps *budget) *hasher {
	return &hasher{memo: map[*node]string{}, docs: map[*document]int{}, steps: steps}
}

// sum is the hash of one node. A node met again below itself is named by its
// document and place: that is sound anywhere, and recursive schemas of two
// documents are left to the prover.
func (h *hasher) sum(n *node) string {
	if n.onlyRef() {
		return h.sum(n.ref)
	}
	if text, ok := h.memo[n]; ok {
		return text
	}
	if n.doc.scoped {
		return h.scoped(n)
	}
	if _, ok := h.docs[n.doc]; !ok {
		h.docs[n.doc] = len(h.docs)
	}
	h.memo[n] = digest("recursion " + itoa(h.docs[n.doc]) + " " + n.at)
	h.memo[n] = (&normal{h}).node(n)
	return h.memo[n]
}

// scoped is the hash where the whole document decides what a part means.
func (h *hasher) scoped(n *node) string {
	whole, ok := h.memo[n.doc.root]
	if !ok {
		whole = digest(canonical(wordless(n.doc.root.raw)))
		h.memo[n.doc.root] = whole
	}
	if n == n.doc.root {
		return whole
	}
	h.memo[n] = digest(whole + n.at)
	return h.memo[n]
}

// onlyRef says that the node is its reference and nothing else but words.
func (n *node) onlyRef() bool { return n.ref != nil && !n.constrains() }

// constrains says whether any keyword but $ref refuses something or may.
func (n *node) constrains() bool {
	return n.never || n.declared || n.hasEnum || n.low != nil || n.high != nil || len(n.counts) > 0 ||
		n.multipleOf != nil || n.pattern != nil || n.format != nil || n.unique || n.prefix != nil ||
		n.items != nil || n.contains != nil || n.unevalItems != nil || n.props != nil || n.patProps != nil ||
		n.depSchemas != nil || n.addl != nil || n.propNames != nil || n.unevalProps != nil || len(n.required) > 0 ||
		len(n.depReq) > 0 || n.allOf != nil || n.anyOf != nil || n.oneOf != nil || n.not != nil ||
		n.ifNode != nil || n.refBad != "" || len(n.unknown) > 0
}

// trivial says that every instance is accepted, at a glance.
func (n *node) trivial() bool { return n.ref == nil && !n.constrains() }

// normal is the normal form of one node in the making.
type normal struct{ h *hasher }

func (v *normal) sub(n *node) string { return v.h.sum(n) }

func (v *normal) node(n *node) string {
	v.h.steps.take(1 + len(n.props) + len(n.enum))
	switch {
	case n.never:
		return "never"
	case n.trivial():
		return "any"
	case n.bareList(n.allOf):
		return v.sub(n.allOf[0])
	case n.bareList(n.oneOf):
		return v.sub(n.oneOf[0])
	}
	if n.pureUnion() {
		return v.union(n.anyOf)
	}
	shared := v.shared(n)
	if n.hasEnum {
		return digest("enum\n" + enumText(n) + strings.Join(v.byType(n, tAll), "\n") + shared)
	}
	if !n.declared {
		return digest("any\n" + strings.Join(v.byType(n, tAll), "\n") + shared)
	}
	var forms []string
	for _, one := range n.types.each() {
		forms = append(forms, digest(strings.Join(one.names(), ",")+"\n"+strings.Join(v.byType(n, one), "\n")+shared))
	}
	return v.join(forms)
}

// enumText lists the values that the types leave.
func enumText(n *node) string {
	var b strings.Builder
	for _, e := range n.enum {
		if typeOf(e)&n.types != 0 {
			writeCanonical(&b, e)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// bareList says that the node is one composition of one branch, unwrappable.
func (n *node) bareList(list []*node) bool {
	if len(list) != 1 {
		return false
	}
	bare := *n
	bare.allOf, bare.oneOf, bare.anyOf = nil, nil, nil
	return len(n.allOf)+len(n.oneOf)+len(n.anyOf) == 1 && bare.trivial()
}

// pureUnion says that the node is an anyOf and nothing else but words.
func (n *node) pureUnion() bool {
	bare := *n
	bare.anyOf = nil
	return n.anyOf != nil && bare.trivial()
}

// union joins branches; a union inside a union opens up through join.
func (v *normal) union(branches []*node) string {
	forms := make([]string, len(branches))
	for i, b := range branches {
		forms[i] = v.sub(b)
	}
	return v.join(forms)
}

// join writes a union as its sorted members, so that nested ones, type arrays
// and anyOf-of-types all look the same.
func (v *normal) join(forms []string) string {
	var flat []string
	for _, f := range forms {
		flat = append(flat, strings.Split(f, "|")...)
	}
	slices.Sort(flat)
	flat = slices.Compact(flat)
	flat = slices.DeleteFunc(flat, func(f string) bool { return f == "never" && len(flat) > 1 })
	return strings.Join(flat, "|")
}
