package drift

import (
	"errors"
	"strconv"
	"strings"
)

var errTooComplex = errors.New("schema too complex")

// A document is one root schema, its nodes made once per location.
type document struct {
	root    *node
	nodes   map[string]*node // by location
	anchors map[string]*node // "$id#anchor" and "$id"
	limits  Limits
	dialect dialect
	// scoped: unevaluated* or dynamic references somewhere. What a subschema means
	// then depends on where it stands, so only equality of whole documents counts.
	scoped bool
	count  int
	free   *node // what an absent keyword means: everything
}

// anything is one node for all places that say nothing, so that walks over
// recursive schemas meet it again.
func (d *document) anything() *node {
	if d.free == nil {
		d.free = always(d)
	}
	return d.free
}

// A dialect is which keywords mean something, oldest first.
type dialect int

const (
	foreign dialect = iota // not one of ours: only equality counts
	draft07
	draft2019
	draft2020 // the default of the MCP specification (SEP-1613)
)

func dialectOf(uri string) dialect {
	switch trimHash(uri) {
	case "", "https://json-schema.org/draft/2020-12/schema":
		return draft2020
	case "https://json-schema.org/draft/2019-09/schema":
		return draft2019
	case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
		return draft07
	}
	return foreign
}

// since is the first of our dialects in which a keyword means anything.
func since(keyword string) dialect {
	switch keyword {
	case "prefixItems":
		return draft2020
	case "dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "minContains", "maxContains":
		return draft2019
	}
	return draft07
}

// tupleItems says whether `items` may be an array, with `additionalItems` for the rest.
func (d *document) tupleItems() bool { return d.dialect == draft07 || d.dialect == draft2019 }

// load reads a schema into nodes and resolves its references. A nil schema is `true`.
func load(raw any, limits Limits) (*document, error) {
	if raw == nil {
		raw = true
	}
	d := &document{nodes: map[string]*node{}, anchors: map[string]*node{}, limits: limits}
	d.dialect = dialectOf(schemaURI(raw))
	d.scoped = d.dialect == foreign
	b := &builder{doc: d}
	root, err := b.build(raw, "", nil, 0)
	if err != nil {
		return nil, err
	}
	d.root = root
	return d, b.resolve()
}

func schemaURI(raw any) string {
	m, _ := raw.(map[string]any)
	uri, _ := m["$schema"].(string)
	return uri
}

// find looks a reference up inside the document.
func (b *builder) find(n *node) (target *node, bad string) {
	ref := n.refText
	uri, fragment, _ := strings.Cut(ref, "#")
	base := n.base
	if uri != "" {
		if base = b.doc.anchors[uri]; base == nil {
			return nil, "external"
		}
	}
	if fragment == "" {
		return base, ""
	}
	if !strings.HasPrefix(fragment, "/") {
		if t := b.doc.anchors[base.at+"#"+fragment]; t != nil {
			return t, ""
		}
		return nil, "unresolved"
	}
	if t := b.doc.nodes[base.at+decodeFragment(fragment)]; t != nil {
		return t, ""
	}
	return nil, "unresolved"
}

// decodeFragment undoes the percent-encoding of a URI fragment (RFC 6901 section 6).
func decodeFragment(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

func pointerToken(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func itoa(i int) string { return strconv.Itoa(i) }

// resolve binds every $ref to its node. A chain of nothing but references that
// bites its own tail says nothing and counts as unresolved.
func (b *builder) resolve() error {
	for _, n := range b.refs {
		n.ref, n.refBad = b.find(n)
	}
	for _, n := range b.refs {
		seen := map[*node]bool{}
		for t := n; t != nil && t.ref != nil; t = t.ref {
			if seen[t] {
				n.refBad = "unresolved"
				break
			}
			seen[t] = true
		}
	}
	for _, n := range b.refs {
		if n.refBad != "" {
			n.ref = nil
		}
	}
	return nil
}
