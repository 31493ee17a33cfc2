package drift

// run walks both documents and then makes sure that nothing fell through.
func (w *walker) run(path string) {
	root := &visit{path: path}
	w.at = root
	w.compare(path, w.old.root, w.new.root)
	if len(root.kids) == 1 {
		w.at = nil
		w.settle(root.kids[0], false)
	}
	w.via = ""
	w.unspoken(path)
	w.advise(path)
}

// settle proves inclusion wherever no rule has said that it may fail. A place
// that a rule spoke of is taken as given above it, and its parts are looked at
// one by one.
func (w *walker) settle(v *visit, covered bool) {
	w.assume(v)
	w.prove(v, covered)
}

func (w *walker) assume(v *visit) {
	if v.explained {
		w.p.given[pair{resolved(w.narrow(v.old, v.new)), resolved(w.wide(v.old, v.new))}] = true
	}
	for _, k := range v.kids {
		w.assume(k)
	}
}

func (w *walker) prove(v *visit, covered bool) {
	if !v.explained && !covered {
		if !w.p.subset(conjOf(w.narrow(v.old, v.new)), w.wide(v.old, v.new)) && !w.p.steps.spent() {
			w.rule(Change{Path: v.path, Reason: "not proved that every " + w.what()}, "subset-unproven")
		}
		covered = true
	}
	for _, k := range v.kids {
		w.prove(k, covered && !v.explained)
	}
}

func (w *walker) what() string {
	if w.side == Input {
		return "old argument is still accepted"
	}
	return "new result was possible before"
}

// unspoken catches a word that changed where no pair of places was found for it.
func (w *walker) unspoken(path string) {
	for _, c := range w.out {
		if c.Class != Compatible || moves(c.Rule) {
			return
		}
	}
	a, b := spoken(w.old.root), spoken(w.new.root)
	for _, k := range sortedKeys(joined(a, b)) {
		if a[k] == b[k] {
			continue
		}
		id := "description-changed"
		if a[k] == "default" || b[k] == "default" {
			id = "default-changed"
		}
		w.rule(Change{Path: path, Reason: "a word somewhere in the schema changed"}, id)
		return
	}
}

// moves says that a change brings or takes words with it, or has told of one.
func moves(id string) bool {
	_, id, _ = cutSide(id)
	return endsIn(id, "prop-added-optional", "prop-added", "branch-added", "branch-removed", "composition-added",
		"composition-removed", "examples-changed", "type-widened", "type-narrowed", "default-added", "default-changed", "default-removed")
}

// spoken lists the words of a document: each text with its keyword.
func spoken(root *node) map[string]string {
	out := map[string]string{}
	for _, n := range root.doc.nodes {
		for _, k := range []string{"title", "description", "default", "$comment"} {
			if v, ok := n.texts[k]; ok {
				out[k+" "+canonical(v)] = k
			}
		}
	}
	return out
}
