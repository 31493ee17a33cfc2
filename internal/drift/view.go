package drift

// view is a node as people mean it: a reference and its siblings, or allOf
// branches that do not touch each other, as one set of keywords. Rules speak
// about views. Proofs do not rest on them.
func view(n *node) *node {
	if n.viewed == nil {
		n.viewed = n // what a node finds that meets itself
		n.viewed = n.flatten()
	}
	return n.viewed
}

func (n *node) flatten() *node {
	if n.onlyRef() {
		return view(n.ref)
	}
	if n.ref == nil && len(n.allOf) == 0 {
		return n
	}
	merged := *n
	merged.ref, merged.allOf = nil, nil
	merged.viewed = &merged
	for _, part := range append(present(n.ref), n.allOf...) {
		if v := view(part); v == n || !merged.absorb(v) {
			return n
		}
	}
	return &merged
}

// absorb takes the keywords of a part over; false if both say something of the same kind.
func (n *node) absorb(part *node) bool {
	if n.doc.scoped || clash(n, part) {
		return false
	}
	n.types &= part.types
	n.declared, n.typeArray = n.declared || part.declared, n.typeArray || part.typeArray
	if part.hasEnum {
		n.enum, n.enumSet, n.hasEnum = part.enum, part.enumSet, true
	}
	n.low, n.high = tighterLow(n.low, part.low), tighterHigh(n.high, part.high)
	n.counts = joined(n.counts, part.counts)
	n.props = joined(n.props, part.props)
	n.patProps = joined(n.patProps, part.patProps)
	n.required = joined(n.required, part.required)
	n.depReq = joined(n.depReq, part.depReq)
	n.depSchemas = joined(n.depSchemas, part.depSchemas)
	n.unknown = joined(n.unknown, part.unknown)
	n.unique = n.unique || part.unique
	n.prefix = append(n.prefix, part.prefix...)
	for _, f := range []struct{ to, from **node }{
		{&n.items, &part.items}, {&n.contains, &part.contains}, {&n.addl, &part.addl},
		{&n.propNames, &part.propNames}, {&n.not, &part.not}, {&n.ifNode, &part.ifNode},
		{&n.thenNode, &part.thenNode}, {&n.elseIt, &part.elseIt},
	} {
		if *f.to == nil {
			*f.to = *f.from
		}
	}
	n.anyOf, n.oneOf = append(n.anyOf, part.anyOf...), append(n.oneOf, part.oneOf...)
	n.allOf = append(n.allOf, part.allOf...)
	takeFirst(&n.pattern, part.pattern)
	takeFirst(&n.format, part.format)
	if n.multipleOf == nil {
		n.multipleOf = part.multipleOf
	}
	n.never = n.never || part.never
	return true
}

func takeFirst(to **string, from *string) {
	if *to == nil {
		*to = from
	}
}

func joined[V any](a, b map[string]V) map[string]V {
	if len(a)+len(b) == 0 {
		return a
	}
	out := make(map[string]V, len(a)+len(b))
	for _, m := range []map[string]V{b, a} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// clash says that two nodes cannot be written as one by putting keywords side by side.
func clash(a, b *node) bool {
	closed := func(x, y *node) bool {
		return (x.addl != nil && !x.addl.trivial()) && (y.props != nil || y.patProps != nil || y.addl != nil)
	}
	both := a.hasEnum && b.hasEnum || a.multipleOf != nil && b.multipleOf != nil || a.pattern != nil && b.pattern != nil ||
		a.format != nil && b.format != nil || a.prefix != nil && b.prefix != nil || a.items != nil && b.items != nil ||
		(a.prefix != nil) != (b.prefix != nil) && (a.items != nil || b.items != nil) ||
		a.contains != nil && b.contains != nil || a.propNames != nil && b.propNames != nil ||
		a.anyOf != nil && b.anyOf != nil || a.oneOf != nil && b.oneOf != nil || a.not != nil && b.not != nil ||
		a.ifNode != nil && b.ifNode != nil || a.ref != nil && b.ref != nil || b.ref != nil || b.refBad != "" || b.never
	return both || closed(a, b) || closed(b, a) || shared(a.props, b.props) || shared(a.patProps, b.patProps) ||
		shared(a.counts, b.counts) || shared(a.depReq, b.depReq) || shared(a.depSchemas, b.depSchemas) || shared(a.unknown, b.unknown)
}

func shared[V any](a, b map[string]V) bool {
	for k := range a {
		if _, both := b[k]; both {
			return true
		}
	}
	return false
}

// A choice is one alternative of a place and where it is written.
type choice struct {
	n    *node
	path string
}

// choices opens a pure anyOf or oneOf into its alternatives; kind is "anyof",
// "oneof" or "" for a place that is not a choice.
func choices(n *node, path string) (out []choice, kind string) {
	left := maxChoices
	return choose(n, path, &left)
}

// maxChoices bounds how many alternatives are opened where unions hold unions.
const maxChoices = 256

func choose(n *node, path string, left *int) (out []choice, kind string) {
	bare := *n
	bare.oneOf = nil
	switch {
	case *left <= 0:
	case n.pureUnion():
		return open(n.anyOf, path+".anyOf.", left), "anyof"
	case n.oneOf != nil && bare.trivial():
		return open(n.oneOf, path+".oneOf.", left), "oneof"
	}
	return []choice{{n, path}}, ""
}

func opened(branches []*node, path string) []choice {
	left := maxChoices
	return open(branches, path, &left)
}

func open(branches []*node, path string, left *int) []choice {
	var out []choice
	for i, b := range branches {
		*left--
		inner, kind := choose(view(b), path+itoa(i), left)
		if kind == "anyof" {
			out = append(out, inner...)
			continue
		}
		out = append(out, choice{b, path + itoa(i)})
	}
	return out
}

// eachTyped says that no two alternatives share a type, so that they can be told apart by it.
func eachTyped(list []choice) bool {
	var seen typeSet
	for _, c := range list {
		t := effectiveTypes(view(c.n))
		if t&seen != 0 || t == tAll {
			return false
		}
		seen |= t
	}
	return true
}

// effectiveTypes is the declared types, or those of the enum's values.
func effectiveTypes(n *node) typeSet {
	if n.never {
		return 0
	}
	if !n.hasEnum {
		return n.types
	}
	var t typeSet
	for _, v := range n.enum {
		t |= typeOf(v)
	}
	return t & n.types
}
