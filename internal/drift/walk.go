package drift

import (
	"maps"
	"math/big"
	"strings"
)

// A Side says which way inclusion has to hold.
type Side int

const (
	// Input wants every old argument accepted: old inside new.
	Input Side = iota
	// Output wants every new result expected: new inside old.
	Output
)

func (s Side) prefix() string {
	if s == Output {
		return "out-"
	}
	return "in-"
}

// A walker compares two documents place by place, names what changed by rule,
// and leaves to the prover what no rule settles.
type walker struct {
	side     Side
	tool     string
	opt      Options
	p        *prover
	old, new *document
	out      []Change
	at       *visit
	active   map[pair]bool
	via      string
	quiet    bool // equal normal forms here: only words can differ
	// wordsOnly: the documents differ in annotations and nothing else.
	wordsOnly bool
}

// maxWalk is how deep places are compared by rule; below, only proofs count.
const maxWalk = 100

// A visit is one pair of places that was compared.
type visit struct {
	old, new  *node
	path      string
	explained bool // a rule already says that inclusion may fail here
	kids      []*visit
}

// add files a change under its rule's class and effect where they are not given.
func (w *walker) add(c Change) {
	r := ruleNamed(c.Rule)
	if w.quiet && !isWording(c.Rule) {
		return
	}
	c.Tool, c.Via = w.tool, w.via
	if c.Class == "" {
		c.Class = r.class
	}
	if c.Effect == "" {
		c.Effect = w.effect(c.Class, r)
	}
	if !r.beside && c.Class != Compatible && w.at != nil {
		w.at.explained = true
	}
	w.out = append(w.out, c)
}

// effect keeps class and effect in step where the class is not the rule's usual one.
func (w *walker) effect(c Class, r rule) string {
	if c == r.class || r.beside {
		return r.effect
	}
	switch {
	case c == NeedsHuman:
		return effUnproven
	case c == Compatible && w.side == Input:
		return effAccepted
	case c == Compatible:
		return effFits
	case w.side == Input:
		return effRefused
	}
	return effSurprise
}

// isWording says which rules may speak where the normal forms are equal.
func isWording(id string) bool {
	_, id, _ = cutSide(id)
	_, ok := wordRule(id)
	return ok && id != "prop-rename-suspected" || strings.HasPrefix(id, "mcp-header-")
}

func cutSide(id string) (side, rest string, ok bool) {
	for _, s := range []string{"in-", "out-"} {
		if len(id) > len(s) && id[:len(s)] == s {
			return s, id[len(s):], true
		}
	}
	return "", id, false
}

func (w *walker) rule(c Change, id string) {
	c.Rule = w.side.prefix() + id
	w.add(c)
}

// narrow and wide orient a pair: inclusion of narrow in wide is what must hold.
func (w *walker) narrow(o, n *node) *node {
	if w.side == Output {
		return n
	}
	return o
}

func (w *walker) wide(o, n *node) *node {
	if w.side == Output {
		return o
	}
	return n
}

// compare is the walk over one pair of places.
func (w *walker) compare(path string, o, n *node) {
	key := pair{resolved(o), resolved(n)}
	w.p.steps.take(1)
	if identical(o, n) || w.active[key] || len(w.active) > maxWalk || w.p.steps.spent() {
		return
	}
	w.active[key] = true
	defer delete(w.active, key)
	defer w.enter(path, o, n)()
	ov, nv := view(o), view(n)
	w.words(path, o, n)
	if !w.quiet && w.equivalent(ov, nv) {
		w.rewrite(path, o, n)
		w.quiet = true
		defer func() { w.quiet = false }()
	}
	w.structure(path, ov, nv)
}

// enter opens a visit and keeps track of references; the result closes it.
func (w *walker) enter(path string, o, n *node) func() {
	parent, via := w.at, w.via
	w.at = &visit{old: o, new: n, path: path}
	if parent != nil {
		parent.kids = append(parent.kids, w.at)
	}
	if n.refText != "" {
		w.via = n.refText
	} else if o.refText != "" {
		w.via = o.refText
	}
	return func() {
		w.via = via
		if parent != nil {
			// A pair that no document holds cannot be taken as given in a proof.
			parent.explained = parent.explained || w.at.explained && (o.made || n.made)
			w.at = parent
		}
	}
}

// equivalent wants equal normal forms or, where compositions are about, a proof
// in both directions between objects that name the same properties.
func (w *walker) equivalent(o, n *node) bool {
	if w.p.same(o, n) {
		return true
	}
	if !composed(o) && !composed(n) || !sameNames(o, n) {
		return false
	}
	return w.p.subset(conjOf(o), n) && w.p.subset(conjOf(n), o)
}

func composed(n *node) bool {
	return n.anyOf != nil || n.oneOf != nil || n.allOf != nil || n.ref != nil || n.typeArray || n.not != nil || n.ifNode != nil
}

func sameNames(o, n *node) bool {
	a, b := map[string]bool{}, map[string]bool{}
	declaredNames(o, a, map[*node]bool{})
	declaredNames(n, b, map[*node]bool{})
	return maps.Equal(a, b)
}

// declaredNames collects the properties named at this place, in any branch.
func declaredNames(n *node, out map[string]bool, seen map[*node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	for k := range n.props {
		out[k] = true
	}
	for _, list := range [][]*node{present(n.ref), n.allOf, n.anyOf, n.oneOf} {
		for _, c := range list {
			declaredNames(c, out, seen)
		}
	}
}

// rewrite reports a place that is written otherwise and means the same.
func (w *walker) rewrite(path string, o, n *node) {
	if !sameConstraints(o.raw, n.raw) {
		w.add(Change{Rule: "schema-equivalent-rewrite", Path: path})
	}
}

// wordless is a raw schema without its annotations, deep down.
func wordless(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		if annotation(k) {
			continue
		}
		out[k] = setFormValue(keywordHolds(k), wordlessValue(keywordHolds(k), e))
	}
	return out
}

func wordlessValue(h holds, v any) any {
	list, isList := v.([]any)
	m, isMap := v.(map[string]any)
	switch {
	case h == holdsSchemas && isList:
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = wordless(e)
		}
		return out
	case h == holdsSchema:
		return wordless(v)
	case h == holdsSchemaMap && isMap:
		return mapValues(m, wordless)
	}
	return v
}

// proved asks the prover whether the wide side's keywords, alone, hold for
// everything that the narrow side accepts.
func (w *walker) proved(o, n *node, only func(wide *node) *node) bool {
	return w.p.subset(conjOf(w.narrow(o, n)), only(w.wide(o, n)))
}

// always is a node that accepts everything, with room for one keyword.
func always(d *document) *node {
	return &node{doc: d, types: tAll, raw: true, made: true}
}

// ratJSON is a number for a report, nil for none.
func ratJSON(r *big.Rat) any {
	if r == nil {
		return nil
	}
	return ratText(r)
}
