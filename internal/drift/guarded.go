package drift

import (
	"slices"
	"strings"
)

// guarded compares a keyword whose effect only a proof can tell. proved: it can
// only have become harmless. Otherwise added or removed breaks, and a change
// breaks where the opposite inclusion is proved, else a person has to look.
func (w *walker) guarded(c Change, id string, had, has bool, o, n *node, only func(*node) *node) {
	event := "-changed"
	if !had {
		event = "-added"
	} else if !has {
		event = "-removed"
	}
	switch {
	case w.proved(o, n, only):
		c.Class = Compatible
		if event == "-changed" {
			event = w.betterEvent()
		} else if ruleNamed(w.side.prefix()+id+event).class != Compatible {
			c.Reason = "proved: nothing that was accepted is lost"
		}
	case event != "-changed":
		c.Class = Breaking
	case w.p.subset(conjOf(w.wide(o, n)), only(w.narrow(o, n))):
		event, c.Class = w.worseEvent(), Breaking
	default:
		c.Class = NeedsHuman
	}
	w.rule(c, id+event)
}

func (w *walker) worseEvent() string {
	if w.side == Input {
		return "-tightened"
	}
	return "-relaxed"
}

func (w *walker) betterEvent() string {
	if w.side == Input {
		return "-relaxed"
	}
	return "-tightened"
}

func (w *walker) patterns(path string, o, n *node) {
	for _, k := range sortedKeys(joined(o.patProps, n.patProps)) {
		a, b := o.patProps[k], n.patProps[k]
		if a != nil && b != nil {
			w.compare(path+".patternProperties."+k, a, b)
			continue
		}
		w.guarded(Change{Path: path + ".patternProperties." + k, Name: k, Before: rawOf(a), After: rawOf(b)},
			"pattern-properties", a != nil, b != nil, o, n, onlyUndeclared)
	}
}

// onlyUndeclared keeps what is said of names that are not declared.
func onlyUndeclared(b *node) *node {
	k := always(b.doc)
	k.patProps, k.addl = b.patProps, b.addl
	k.props = map[string]*node{}
	for name := range b.props {
		k.props[name] = always(b.doc)
	}
	return k
}

func (w *walker) names(path string, o, n *node) {
	w.single(path+".propertyNames", "property-names", o, n, o.propNames, n.propNames, func(b *node) *node {
		k := always(b.doc)
		k.propNames = b.propNames
		return k
	})
	w.single(path+".unevaluatedProperties", "unevaluated-properties", o, n, o.unevalProps, n.unevalProps, func(b *node) *node {
		k := always(b.doc)
		k.unevalProps = b.unevalProps
		return k
	})
}

// single compares a keyword that holds one subschema.
func (w *walker) single(path, id string, o, n, a, b *node, only func(*node) *node) {
	if a == nil && b == nil || a != nil && b != nil && w.p.same(a, b) {
		return
	}
	w.guarded(Change{Path: path, Before: rawOf(a), After: rawOf(b)}, id, a != nil, b != nil, o, n, only)
}

func (w *walker) dependents(path string, o, n *node) {
	for _, k := range sortedKeys(joined(o.depReq, n.depReq)) {
		a, b := o.depReq[k], n.depReq[k]
		if slices.Equal(sortedKeys(a), sortedKeys(b)) {
			continue
		}
		w.guarded(Change{Path: path + ".dependentRequired." + k, Name: strings.Join(sortedKeys(b), ", "), Before: sortedKeys(a), After: sortedKeys(b)},
			"dependent-required", a != nil, b != nil, o, n, func(b *node) *node {
				only := always(b.doc)
				if b.depReq[k] != nil {
					only.depReq = map[string]map[string]bool{k: b.depReq[k]}
				}
				return only
			})
	}
	for _, k := range sortedKeys(joined(o.depSchemas, n.depSchemas)) {
		w.single(path+".dependentSchemas."+k, "dependent-schemas", o, n, o.depSchemas[k], n.depSchemas[k], func(b *node) *node {
			only := always(b.doc)
			if b.depSchemas[k] != nil {
				only.depSchemas = map[string]*node{k: b.depSchemas[k]}
			}
			return only
		})
	}
}

// arrays compares the array keywords of two views.
func (w *walker) arrays(path string, o, n *node) {
	switch {
	case n.unique && !o.unique:
		w.rule(Change{Path: path + ".uniqueItems"}, "unique-items-required")
	case o.unique && !n.unique:
		w.rule(Change{Path: path + ".uniqueItems"}, "unique-items-dropped")
	}
	w.elements(path, o, n)
	w.single(path+".contains", "contains", o, n, withCounts(o), withCounts(n), func(b *node) *node {
		k := always(b.doc)
		k.contains, k.counts = b.contains, b.counts
		return k
	})
	w.single(path+".unevaluatedItems", "unevaluated-items", o, n, o.unevalItems, n.unevalItems, func(b *node) *node {
		k := always(b.doc)
		k.unevalItems = b.unevalItems
		return k
	})
}

// withCounts is contains with its counts, as one node to compare.
func withCounts(n *node) *node {
	if n.contains == nil {
		return nil
	}
	k := always(n.doc)
	k.contains, k.counts = n.contains, n.counts
	k.raw = n.contains.raw
	return k
}

func (w *walker) elements(path string, o, n *node) {
	for i := range min(len(o.prefix), len(n.prefix)) {
		w.compare(path+".prefixItems."+itoa(i), o.prefix[i], n.prefix[i])
	}
	if len(o.prefix) != len(n.prefix) {
		w.prefixLength(path+".prefixItems", o, n)
	}
	if o.items != nil || n.items != nil {
		w.compare(path+".items", orAlways(o.items, w.old), orAlways(n.items, w.new))
	}
}

func (w *walker) prefixLength(path string, o, n *node) {
	id := "prefix-items-longer"
	if len(n.prefix) < len(o.prefix) {
		id = "prefix-items-shorter"
	}
	c := Change{Path: path, Before: len(o.prefix), After: len(n.prefix)}
	if w.proved(o, n, func(b *node) *node {
		k := always(b.doc)
		k.prefix, k.items = b.prefix, b.items
		return k
	}) {
		c.Class, c.Reason = Compatible, "proved: every element that was accepted still is"
	} else {
		c.Class = worse(ruleNamed(w.side.prefix()+id).class, NeedsHuman)
	}
	w.rule(c, id)
}
