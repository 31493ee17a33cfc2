package drift

// run walks both documents and then makes sure that nothing fell through.
func (w *walker) run(path string) {
	root := &visit{path: path}
	w.at = root
	w.wordsOnly = sameConstraints(w.old.root.raw, w.new.root.raw)
	w.quiet = w.wordsOnly
	w.compare(path, w.old.root, w.new.root)
	w.at, w.via, w.quiet = nil, "", false
	if len(root.kids) == 1 && !w.wordsOnly {
		w.settle(root.kids[0], false)
	}
	w.unspoken(path)
	w.advise(path)
	if len(w.out) == 0 && !w.p.steps.spent() {
		w.add(Change{Rule: "schema-equivalent-rewrite", Path: path, Reason: "written otherwise, and no rule has anything to say of it"})
	}
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
// New places bring new words and removed ones take theirs along.
func (w *walker) unspoken(path string) {
	if w.wordsOnly && !w.worded() {
		w.rule(Change{Path: path, Reason: "a word somewhere in the schema changed"}, "description-changed")
		return
	}
	brings, takes := false, false
	for _, c := range w.out {
		if c.Class != Compatible {
			return // somebody looks at it anyway
		}
		brings, takes = brings || bringsWords(c.Rule), takes || takesWords(c.Rule)
	}
	a, b := spoken(w.old.root), spoken(w.new.root)
	for _, text := range sortedKeys(joined(a, b)) {
		gone, came := a[text] != "" && b[text] == "", a[text] == "" && b[text] != ""
		if gone && !takes || came && !brings {
			id := "description-changed"
			if a[text]+b[text] == "default" {
				id = "default-changed"
			}
			w.rule(Change{Path: path, Reason: "a word somewhere in the schema changed"}, id)
			return
		}
	}
}

// worded says that a rule spoke of words already.
func (w *walker) worded() bool {
	for _, c := range w.out {
		if isWording(c.Rule) {
			return true
		}
	}
	return false
}

func bringsWords(id string) bool {
	return endsIn(id, "-added-optional", "prop-added", "branch-added", "composition-added", "conditional-added", "not-added",
		"type-widened", "additional-opened", "default-added", "default-changed", "pattern-properties-added", "-relaxed", "-tightened")
}

func takesWords(id string) bool {
	return endsIn(id, "branch-removed", "composition-removed", "conditional-removed", "not-removed", "contains-removed",
		"type-narrowed", "additional-closed", "default-removed", "default-changed", "-schemas-removed", "properties-removed", "-relaxed", "-tightened")
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
