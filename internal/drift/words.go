package drift

import "encoding/json"

// headerKeyword mirrors an argument into an HTTP header (SEP-2243).
const headerKeyword = "x-mcp-header"

// word is an annotation of a place; beside a reference its own word goes first.
func (n *node) word(k string) (any, bool) {
	for depth := 0; n != nil && depth < 16; depth++ {
		if v, ok := n.texts[k]; ok {
			return v, true
		}
		if n.ref == nil && len(n.allOf) == 1 {
			n = n.allOf[0]
			continue
		}
		n = n.ref
	}
	return nil, false
}

// words compares what a model or a person reads at one place.
func (w *walker) words(path string, o, n *node) {
	for _, k := range []string{"title", "description", "$comment"} {
		w.word(path, k, o, n, "description-changed")
	}
	w.word(path, "examples", o, n, "examples-changed")
	w.word(path, "readOnly", o, n, "read-only-changed")
	w.word(path, "writeOnly", o, n, "write-only-changed")
	before, after := flag(o, "deprecated"), flag(n, "deprecated")
	switch {
	case after && !before:
		w.rule(Change{Path: path + ".deprecated"}, "deprecated-set")
	case before && !after:
		w.rule(Change{Path: path + ".deprecated"}, "deprecated-unset")
	}
	if w.side == Input {
		w.header(path, o, n)
	}
}

func flag(n *node, k string) bool {
	v, _ := n.word(k)
	on, _ := v.(bool)
	return on
}

func (w *walker) word(path, k string, o, n *node, id string) {
	a, had := o.word(k)
	b, has := n.word(k)
	if had == has && canonical(a) == canonical(b) {
		return
	}
	w.rule(Change{Path: path + "." + k, Before: a, After: b}, id)
}

// defaults compares the default of a property. Nobody leaves out a field that was required.
func (w *walker) defaults(path string, o, n *node, required bool) {
	a, had := o.word("default")
	b, has := n.word("default")
	if had == has && canonical(a) == canonical(b) {
		return
	}
	id := "default-changed"
	if w.side == Input && !had {
		id = "default-added"
	} else if w.side == Input && !has {
		id = "default-removed"
	}
	c := Change{Path: path + ".default", Before: said(a, had), After: said(b, has)}
	switch {
	case w.side == Input && required:
		c.Class, c.Effect, c.Reason = Compatible, effNothing, "the field was required: no old call leaves it out"
	case w.side == Input && w.opt.Profile == DefaultsApplied:
		c.Class, c.Reason = Breaking, "this server applies defaults: a call that omits the field now does something else"
	}
	w.rule(c, id)
}

// said keeps a null that was written apart from nothing at all.
func said(v any, there bool) any {
	if there && v == nil {
		return json.RawMessage("null")
	}
	return v
}

// header compares x-mcp-header, which only Streamable HTTP from 2026-07-28 on gives a meaning.
func (w *walker) header(path string, o, n *node) {
	a, had := o.word(headerKeyword)
	b, has := n.word(headerKeyword)
	if had == has && canonical(a) == canonical(b) {
		return
	}
	id := "mcp-header-renamed"
	if !had {
		id = "mcp-header-added"
	} else if !has {
		id = "mcp-header-removed"
	}
	c := Change{Path: path + "." + headerKeyword, Before: a, After: b}
	if w.opt.Transport == "stdio" || w.opt.Protocol != "" && w.opt.Protocol < "2026-07-28" {
		c.Class, c.Effect, c.Reason = Compatible, effNothing, "headers mean nothing on this transport and protocol revision"
	}
	w.rule(c, id)
}

// unknowns compares keywords that this package does not know.
func (w *walker) unknowns(path string, o, n *node) {
	for _, k := range sortedKeys(joined(o.unknown, n.unknown)) {
		if o.unknown[k] == n.unknown[k] {
			continue
		}
		c := Change{Path: path + "." + k, Before: keywordValue(o, k), After: keywordValue(n, k)}
		if k == "contentEncoding" || k == "contentMediaType" || k == "contentSchema" {
			w.rule(c, "content-changed")
			continue
		}
		c.Rule = "schema-unknown-keyword-changed"
		w.add(c)
	}
}

func keywordValue(n *node, k string) any {
	m, _ := n.raw.(map[string]any)
	return m[k]
}
