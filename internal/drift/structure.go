package drift

// structure compares two views: as alternatives if either is a choice, else
// keyword by keyword.
func (w *walker) structure(path string, o, n *node) {
	oldChoices, oldKind := choices(o, path)
	newChoices, newKind := choices(n, path)
	switch {
	case oldKind == "" && newKind == "":
		w.plain(path, o, n)
	case eachTyped(oldChoices) && eachTyped(newChoices):
		w.typed(path, o, n, oldChoices, newChoices)
	default:
		w.branches(path, o, n, branchKind(oldKind, newKind), oldChoices, newChoices)
	}
}

func branchKind(o, n string) string {
	if n != "" {
		return n
	}
	return o
}

// plain compares two places that are not choices.
func (w *walker) plain(path string, o, n *node) {
	common := w.types(path+".type", o, n, effectiveTypes(o), effectiveTypes(n))
	if common == 0 {
		return
	}
	w.keywords(path, o, n, common)
}

// types reports the change of the type set and returns what both have.
func (w *walker) types(path string, o, n *node, ot, nt typeSet) typeSet {
	added, removed := nt&^ot, ot&^nt
	if ot == nt {
		return ot
	}
	id := "type-changed"
	switch {
	case removed == 0:
		id = "type-widened"
	case added == 0:
		id = "type-narrowed"
	}
	w.rule(Change{Path: path, Before: typeWords(ot), After: typeWords(nt), Added: newNames(ot, nt), Removed: newNames(nt, ot)}, id)
	if w.side == Output && id == "type-changed" && w.at.old == w.old.root && ot&nt == 0 {
		w.rule(Change{Path: w.at.path, Before: typeWords(ot), After: typeWords(nt)}, "root-type-changed")
	}
	return ot & nt
}

func typeWords(t typeSet) any {
	names := t.names()
	if t == tAll {
		return "any"
	}
	if len(names) == 1 {
		return names[0]
	}
	return names
}

// newNames lists the types of b that a does not cover.
func newNames(a, b typeSet) []string {
	var out []string
	for _, name := range b.names() {
		if t := typeNamed(name); t&^a != 0 {
			out = append(out, name)
		}
	}
	return out
}

// typed compares alternatives that a value's type tells apart.
func (w *walker) typed(path string, o, n *node, oldChoices, newChoices []choice) {
	var ot, nt typeSet
	for _, c := range oldChoices {
		ot |= effectiveTypes(view(c.n))
	}
	for _, c := range newChoices {
		nt |= effectiveTypes(view(c.n))
	}
	w.types(path, o, n, ot, nt)
	for _, a := range oldChoices {
		for _, b := range newChoices {
			av, bv := view(a.n), view(b.n)
			if common := effectiveTypes(av) & effectiveTypes(bv); common != 0 {
				w.alternative(path, a, b, func(path string) { w.keywords(path, av, bv, common) })
			}
		}
	}
}

// alternative compares two alternatives as places of their own. One that is
// the whole place keeps the place's node, which is what proofs see.
func (w *walker) alternative(path string, a, b choice, how func(path string)) {
	an, bn, at := a.n, b.n, b.path
	if a.path == path {
		an = w.at.old
	}
	if b.path == path {
		bn, at = w.at.new, a.path
	}
	spoken := an == w.at.old && bn == w.at.new
	defer w.enter(at, an, bn)()
	if !spoken {
		w.words(at, a.n, b.n)
	}
	how(at)
}

// keywords compares all keywords that matter for the types both sides have.
func (w *walker) keywords(path string, o, n *node, common typeSet) {
	w.p.steps.take(1 + len(o.props) + len(n.props))
	w.enums(path, o, n)
	if common&tNumber != 0 {
		w.numbers(path, o, n, common)
	}
	if common&tString != 0 {
		w.counts(path, o, n, "length", "minLength", "maxLength")
		w.pattern(path, o, n)
	}
	w.format(path, o, n)
	if common&tArray != 0 {
		w.counts(path, o, n, "items-count", "minItems", "maxItems")
		w.arrays(path, o, n)
	}
	if common&tObject != 0 {
		w.counts(path, o, n, "props-count", "minProperties", "maxProperties")
		w.objects(path, o, n)
	}
	w.compositions(path, o, n)
	w.unknowns(path, o, n)
	w.references(path, o, n)
}

// references reports a $ref that leads nowhere, or out.
func (w *walker) references(path string, o, n *node) {
	if n.refBad == "unresolved" && (o.refBad != n.refBad || o.refText != n.refText) {
		w.add(Change{Rule: "schema-ref-unresolved", Path: path + ".$ref", After: n.refText})
	}
	if o.refBad == "unresolved" && n.refBad == "" {
		w.add(Change{Rule: "schema-ref-unresolved", Path: path + ".$ref", Before: o.refText})
	}
}
