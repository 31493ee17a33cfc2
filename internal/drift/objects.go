package drift

// objects compares the object keywords of two views.
func (w *walker) objects(path string, o, n *node) {
	w.required(path, o, n)
	w.properties(path, o, n)
	w.additional(path+".additionalProperties", o, n)
	w.patterns(path, o, n)
	w.names(path, o, n)
	w.dependents(path, o, n)
}

func (w *walker) required(path string, o, n *node) {
	have := w.p.expand(conjOf(o)).required
	for _, k := range sortedKeys(n.required) {
		if have[k] || w.side == Output && o.props[k] == nil && n.props[k] != nil {
			continue
		}
		w.rule(Change{Path: path + ".required", Name: k}, "required-added")
	}
	still := w.p.expand(conjOf(n)).required
	for _, k := range sortedKeys(o.required) {
		if still[k] || o.props[k] != nil && n.props[k] == nil {
			continue
		}
		w.rule(Change{Path: path + ".required", Name: k}, "required-removed")
	}
}

func (w *walker) properties(path string, o, n *node) {
	var gone, more []string
	for _, k := range sortedKeys(o.props) {
		switch {
		case n.props[k] != nil:
			w.property(path+".properties."+k, k, o, n)
		case o.props[k].never:
			w.rule(Change{Path: path + ".properties." + k, Name: k}, "additional-opened")
		default:
			gone = append(gone, k)
			w.propRemoved(path+".properties."+k, k, o, n)
		}
	}
	for _, k := range sortedKeys(n.props) {
		if o.props[k] == nil {
			more = append(more, k)
			w.propAdded(path+".properties."+k, k, o, n)
		}
	}
	if !w.quiet {
		w.renames(path+".properties", gone, more, o, n)
	}
}

func (w *walker) property(path, name string, o, n *node) {
	w.compare(path, o.props[name], n.props[name])
	w.defaults(path, o.props[name], n.props[name], o.required[name])
	if w.side == Input && !w.quiet {
		w.authorityOpened(path, name, o.props[name], n.props[name])
	}
}

// governs lists what a view says of a name that it does not declare.
func (w *walker) governs(n *node, name string) []*node {
	return w.p.property(&shape{nodes: []*node{n}}, name)
}

func refuses(rules []*node) bool {
	for _, r := range rules {
		if r.never {
			return true
		}
	}
	return false
}

func (w *walker) propRemoved(path, name string, o, n *node) {
	c := Change{Path: path, Name: name, Before: o.props[name].raw}
	if w.side == Output {
		if !w.p.expand(conjOf(o)).required[name] {
			c.Class, c.Effect = NeedsHuman, effMeaning
		}
		w.rule(c, "prop-removed")
		return
	}
	c.Effect = effIgnored
	if refuses(w.governs(n, name)) {
		c.Effect = effRefused
	}
	w.rule(c, "prop-removed")
}

func (w *walker) propAdded(path, name string, o, n *node) {
	added := n.props[name]
	c := Change{Path: path, Name: name, After: added.raw}
	before := w.governs(o, name)
	switch {
	case w.side == Output:
		w.outputAdded(c, before, added)
	case added.never:
		if !refuses(before) {
			w.rule(c, "additional-closed")
		}
	default:
		w.inputAdded(c, before, added, n.required[name])
		w.authorityAdded(path, name)
	}
}

func (w *walker) outputAdded(c Change, before []*node, added *node) {
	switch {
	case refuses(before):
		w.rule(c, "prop-added-closed")
	case len(before) > 0 && !w.p.inside([]*node{added}, before[0]):
		c.Class, c.Reason = NeedsHuman, "the old schema said something else of properties of that name"
		w.rule(c, "prop-added")
	default:
		w.rule(c, "prop-added")
	}
}

// inputAdded knows three kinds of old object: closed (nobody sent the name),
// open (an old extra key of that name was untyped), and one with a schema for it.
func (w *walker) inputAdded(c Change, before []*node, added *node, required bool) {
	if required {
		return // in-required-added has said it
	}
	switch {
	case refuses(before):
	case len(before) == 0 && added.trivial():
	case len(before) == 0 && w.opt.Profile != Strict:
		w.p.lax[resolved(added)], w.p.lax[added] = true, true
		c.Reason = "an old call that sent an undeclared key of that name was not typed"
	case !w.p.inside(before, added):
		c.Class, c.Reason = NeedsHuman, "old calls could send another value under that name"
	}
	w.rule(c, "prop-added-optional")
}

func resolved(n *node) *node {
	for n.onlyRef() {
		n = n.ref
	}
	return n
}

// additional compares what is said of undeclared names: nothing, no, or a schema.
func (w *walker) additional(path string, o, n *node) {
	a, b := o.addl, n.addl
	openA, openB := a == nil || a.trivial(), b == nil || b.trivial()
	switch {
	case openA && openB || !openA && !openB && a.never && b.never:
	case !openB && b.never:
		w.rule(Change{Path: path, Before: rawOf(a), After: false}, "additional-closed")
	case !openA && a.never:
		w.rule(Change{Path: path, Before: false, After: rawOf(b), Reason: "undeclared names are let in"}, "additional-opened")
	default:
		w.compare(path, orAlways(a, w.old), orAlways(b, w.new))
	}
}

func rawOf(n *node) any {
	if n == nil {
		return nil
	}
	return n.raw
}

func orAlways(n *node, d *document) *node {
	if n == nil {
		return d.anything()
	}
	return n
}
