package drift

import (
	"math/big"
	"strings"
)

// enums compares the lists of values; const is a list of one.
func (w *walker) enums(path string, o, n *node) {
	at := path + "." + enumKeyword(o, n)
	switch {
	case o.hasEnum && n.hasEnum:
		if gone := minus(o.enum, n.enum); len(gone) > 0 {
			w.rule(Change{Path: at, Values: gone, Before: o.enum, After: n.enum}, "enum-value-removed")
		}
		if more := minus(n.enum, o.enum); len(more) > 0 {
			w.rule(Change{Path: at, Values: more, Before: o.enum, After: n.enum}, "enum-value-added")
		}
	case n.hasEnum:
		w.tightening(Change{Path: at, After: n.enum}, "enum-constraint-added", o, n, onlyEnum)
	case o.hasEnum:
		w.tightening(Change{Path: at, Before: o.enum}, "enum-constraint-removed", o, n, onlyEnum)
	}
}

func enumKeyword(o, n *node) string {
	for _, x := range []*node{n, o} {
		m, _ := x.raw.(map[string]any)
		for _, k := range []string{"enum", "const"} {
			if _, ok := m[k]; ok && x.hasEnum {
				return k
			}
		}
	}
	return "enum"
}

func minus(a, b []any) []any {
	have := map[string]bool{}
	for _, v := range b {
		have[canonical(v)] = true
	}
	var out []any
	for _, v := range a {
		if !have[canonical(v)] {
			out = append(out, v)
		}
	}
	return out
}

func onlyEnum(b *node) *node {
	k := always(b.doc)
	k.enum, k.enumSet, k.hasEnum = b.enum, b.enumSet, b.hasEnum
	return k
}

// tightening files a change that breaks by rule unless the keyword is proved to
// hold anyway, as an enum of true and false does on a boolean.
func (w *walker) tightening(c Change, id string, o, n *node, only func(*node) *node) {
	if ruleNamed(w.side.prefix()+id).class == Breaking && w.proved(o, n, only) {
		c.Class, c.Reason = Compatible, "proved: the constraint holds already"
	}
	w.rule(c, id)
}

func (w *walker) numbers(path string, o, n *node, common typeSet) {
	ol, oh, nl, nh := o.low, o.high, n.low, n.high
	if common&tNumber == tInt {
		ol, oh, nl, nh = wholeLow(ol), wholeHigh(oh), wholeLow(nl), wholeHigh(nh)
	}
	w.end(path, "minimum", "exclusiveMinimum", ol, nl, 1, o, n)
	w.end(path, "maximum", "exclusiveMaximum", oh, nh, -1, o, n)
	if o.multipleOf != nil || n.multipleOf != nil {
		w.multiple(path+".multipleOf", o, n)
	}
}

func (w *walker) end(path, name, openName string, o, n *limit, sign int, on, nn *node) {
	if limitText(o) == limitText(n) {
		return
	}
	if !hasKeyword(nn, name) && hasKeyword(nn, openName) || !hasKeyword(nn, name) && !hasKeyword(on, name) {
		name = openName
	}
	id := "range-relaxed"
	if within(o, n, sign) {
		id = "range-tightened"
	}
	w.rule(Change{Path: path + "." + name, Before: limitJSON(o), After: limitJSON(n)}, id)
}

func hasKeyword(n *node, k string) bool {
	m, _ := n.raw.(map[string]any)
	_, ok := m[k]
	return ok
}

func limitJSON(l *limit) any {
	switch {
	case l == nil:
		return nil
	case l.open:
		return map[string]any{"exclusive": ratText(l.at)}
	}
	return ratText(l.at)
}

func (w *walker) multiple(path string, o, n *node) {
	if o.multipleOf != nil && n.multipleOf != nil && o.multipleOf.Cmp(n.multipleOf) == 0 {
		return
	}
	c := Change{Path: path, Before: ratJSON(o.multipleOf), After: ratJSON(n.multipleOf)}
	if w.proved(o, n, func(b *node) *node {
		k := always(b.doc)
		k.multipleOf, k.types = b.multipleOf, tAll
		return k
	}) {
		c.Class, c.Reason = Compatible, "proved: every old multiple is a new one"
	}
	w.rule(c, "multiple-of")
}

// counts compares one pair of lengths.
func (w *walker) counts(path string, o, n *node, id string, names ...string) {
	for _, k := range names {
		a, b := o.counts[k], n.counts[k]
		if a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0 {
			continue
		}
		end := "-relaxed"
		if countTightens(a, b, strings.HasPrefix(k, "min")) {
			end = "-tightened"
		}
		w.rule(Change{Path: path + "." + k, Before: ratJSON(a), After: ratJSON(b)}, id+end)
	}
}

func countTightens(a, b *big.Rat, least bool) bool {
	if a == nil || b == nil {
		return a == nil
	}
	return (b.Cmp(a) > 0) == least
}

func (w *walker) pattern(path string, o, n *node) {
	w.text(path+".pattern", o.pattern, n.pattern, "pattern")
}

func (w *walker) format(path string, o, n *node) {
	w.text(path+".format", o.format, n.format, "format")
}

func (w *walker) text(path string, o, n *string, id string) {
	switch {
	case o == nil && n == nil || o != nil && n != nil && *o == *n:
	case o == nil:
		w.rule(Change{Path: path, After: *n}, id+"-added")
	case n == nil:
		w.rule(Change{Path: path, Before: *o}, id+"-removed")
	default:
		w.rule(Change{Path: path, Before: *o, After: *n}, id+"-changed")
	}
}
