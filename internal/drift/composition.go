package drift

// compositions compares the keywords that combine whole schemas beside others.
func (w *walker) compositions(path string, o, n *node) {
	w.choiceBeside(path, "anyof", ".anyOf", o, n, o.anyOf, n.anyOf, func(b *node) *node {
		k := always(b.doc)
		k.anyOf = b.anyOf
		return k
	})
	w.choiceBeside(path, "oneof", ".oneOf", o, n, o.oneOf, n.oneOf, func(b *node) *node {
		k := always(b.doc)
		k.oneOf = b.oneOf
		return k
	})
	w.allOf(path+".allOf", o, n)
	w.single(path+".not", "not", o, n, o.not, n.not, func(b *node) *node {
		k := always(b.doc)
		k.not = b.not
		return k
	})
	w.conditional(path, o, n)
}

func (w *walker) choiceBeside(path, kind, keyword string, o, n *node, a, b []*node, only func(*node) *node) {
	switch {
	case a == nil && b == nil:
	case a != nil && b != nil:
		w.matchBranches(path+keyword, kind, only(o), only(n), opened(a, path+keyword+"."), opened(b, path+keyword+"."))
	default:
		w.guarded(Change{Path: path + keyword, Before: rawList(a), After: rawList(b)}, "composition", a != nil, b != nil, o, n, only)
	}
}

func rawList(list []*node) any {
	if list == nil {
		return nil
	}
	out := make([]any, len(list))
	for i, n := range list {
		out[i] = n.raw
	}
	return out
}

// branches compares two places of which at least one is a choice.
func (w *walker) branches(path string, o, n *node, kind string, a, b []choice) {
	at := path
	if _, ok := choiceKind(o); ok {
		if keyword, ok := choiceKind(n); ok {
			at += keyword
		}
	}
	w.matchBranches(at, kind, o, n, a, b)
}

func choiceKind(n *node) (string, bool) {
	switch _, kind := choices(n, ""); kind {
	case "anyof":
		return ".anyOf", true
	case "oneof":
		return ".oneOf", true
	}
	return "", false
}

// matchBranches pairs equal branches, then those that are clearly the same one
// changed; the rest was added or removed.
func (w *walker) matchBranches(path, kind string, o, n *node, a, b []choice) {
	for _, alike := range []func(x, y choice) bool{
		func(x, y choice) bool { return w.p.same(x.n, y.n) },
		func(x, y choice) bool { return sameBranch(x.n, y.n) },
		func(x, y choice) bool { return len(a) == 1 && len(b) == 1 },
	} {
		a, b = w.pairUp(path, a, b, alike)
	}
	for _, x := range a {
		w.branchRemoved(path, kind, x, o, n)
	}
	for _, y := range b {
		w.branchAdded(path, kind, y, o, n)
	}
}

// pairUp compares the pairs that are alike and returns what is left over.
func (w *walker) pairUp(path string, a, b []choice, alike func(x, y choice) bool) (restA, restB []choice) {
	used := make([]bool, len(b))
	var pairs [][2]choice
	for _, x := range a {
		found := false
		for j, y := range b {
			w.p.steps.take(1)
			if !used[j] && !w.p.steps.spent() && alike(x, y) {
				used[j], found = true, true
				pairs = append(pairs, [2]choice{x, y})
				break
			}
		}
		if !found {
			restA = append(restA, x)
		}
	}
	for j, y := range b {
		if !used[j] {
			restB = append(restB, y)
		}
	}
	for _, both := range pairs {
		w.pairCompare(path, both[0], both[1])
	}
	return restA, restB
}

func (w *walker) pairCompare(path string, x, y choice) {
	if x.n == w.at.old && y.n == w.at.new {
		return
	}
	at := y.path
	if len(at) < len(x.path) {
		at = x.path
	}
	w.compare(at, x.n, y.n)
}

// sameBranch knows a changed branch by its constant, its reference or its title.
func sameBranch(x, y *node) bool {
	a, b := constants(view(x)), constants(view(y))
	for k, v := range a {
		if b[k] == v {
			return true
		}
		if b[k] != "" {
			return false
		}
	}
	if x.refText != "" && x.refText == y.refText {
		return true
	}
	title, _ := x.texts["title"].(string)
	return title != "" && title == y.texts["title"]
}

// constants lists the required properties of one possible value.
func constants(n *node) map[string]string {
	out := map[string]string{}
	for k := range n.required {
		if c := n.props[k]; c != nil {
			if v := view(c); v.hasEnum && len(v.enum) == 1 {
				out[k] = canonical(v.enum[0])
			}
		}
	}
	return out
}

func (w *walker) branchAdded(path, kind string, y choice, o, n *node) {
	c := Change{Path: path, After: y.n.raw}
	switch {
	case w.side == Output:
		if w.p.subset(conjOf(y.n), o) {
			c.Class, c.Reason = Compatible, "proved: an old branch covers it"
		}
	case kind == "oneof":
		c.Class, c.Reason = w.disjointBranch(y, n)
	}
	w.rule(c, kind+"-branch-added")
}

// disjointBranch wants the new branch apart from all others: where two match, oneOf refuses.
func (w *walker) disjointBranch(y choice, n *node) (Class, string) {
	others, _ := choices(n, "")
	if n.oneOf == nil {
		return NeedsHuman, "not proved disjoint from the other branches"
	}
	constant := ""
	for _, x := range others {
		if x.n == y.n {
			continue
		}
		if !w.p.disjoint(conjOf(y.n), x.n) {
			return NeedsHuman, "not proved disjoint from the other branches: a value that matches two is refused"
		}
		constant = discriminator(view(x.n), view(y.n))
	}
	if constant != "" {
		return Compatible, "disjoint by const discriminator '" + constant + "'"
	}
	return Compatible, "proved disjoint from the other branches"
}

func discriminator(x, y *node) string {
	a, b := constants(x), constants(y)
	for _, k := range sortedKeys(a) {
		if b[k] != "" && a[k] != b[k] {
			return k
		}
	}
	return ""
}

func (w *walker) branchRemoved(path, kind string, x choice, o, n *node) {
	c := Change{Path: path, Before: x.n.raw}
	switch {
	case w.side == Input && w.p.subset(conjOf(x.n), n):
		c.Class, c.Reason = Compatible, "proved: a remaining branch covers it"
	case w.side == Output && kind == "oneof" && w.p.subset(conjOf(n), o):
		c.Class, c.Reason = Compatible, "proved: every new result is an old one"
	}
	w.rule(c, kind+"-branch-removed")
}

func (w *walker) allOf(path string, o, n *node) {
	if o.allOf == nil && n.allOf == nil {
		return
	}
	a, b := opened(o.allOf, path+"."), opened(n.allOf, path+".")
	a, b = w.pairUp(path, a, b, func(x, y choice) bool { return w.p.same(x.n, y.n) })
	a, b = w.pairUp(path, a, b, func(x, y choice) bool { return sameBranch(x.n, y.n) || len(a) == 1 && len(b) == 1 })
	for _, x := range a {
		w.part(Change{Path: path, Before: x.n.raw}, "allof-branch-removed", o, n, x.n)
	}
	for _, y := range b {
		w.part(Change{Path: path, After: y.n.raw}, "allof-branch-added", o, n, y.n)
	}
}

// part files an allOf branch that came or went: harmless if it held anyway.
func (w *walker) part(c Change, id string, o, n, branch *node) {
	w.tightening(c, id, o, n, func(*node) *node { return branch })
}
