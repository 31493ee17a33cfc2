package drift

import (
	"encoding/json"
	"math/big"
)

// A builder makes the nodes of one document.
type builder struct {
	doc  *document
	refs []*node
}

func (b *builder) build(raw any, at string, base *node, depth int) (*node, error) {
	b.doc.count++
	if b.doc.count > b.doc.limits.Subschemas || depth > b.doc.limits.Depth {
		return nil, errTooComplex
	}
	n := &node{doc: b.doc, at: at, base: base, raw: raw, types: tAll}
	if base == nil {
		n.base = n
	}
	b.doc.nodes[at] = n
	switch v := raw.(type) {
	case bool:
		n.never = !v
	case map[string]any:
		return n, b.keywords(n, v, depth)
	case overDeep:
		return nil, errTooComplex
	default:
		n.opaque("", raw)
	}
	return n, nil
}

// opaque keeps what is not understood: it proves nothing but its own equality.
func (n *node) opaque(keyword string, v any) {
	if n.unknown == nil {
		n.unknown = map[string]string{}
	}
	n.unknown[keyword] = canonical(v)
}

func (b *builder) keywords(n *node, m map[string]any, depth int) error {
	b.identify(n, m)
	for _, k := range sortedKeys(m) {
		if _, deep := m[k].(overDeep); deep {
			return errTooComplex
		}
		if b.ignored(n, k) {
			continue
		}
		ok, err := b.keyword(n, k, m[k], depth)
		if err != nil {
			return err
		}
		if !ok {
			n.opaque(k, m[k])
		}
	}
	n.settle()
	return nil
}

// ignored says whether a keyword beside $ref means nothing, as up to draft-07.
func (b *builder) ignored(n *node, k string) bool {
	return n.refText != "" && b.doc.dialect == draft07 && k != "$ref" && k != "definitions" && k != "$defs" && k != "description"
}

// identify registers $id and $anchor before anything below refers to them.
func (b *builder) identify(n *node, m map[string]any) {
	if id, ok := m["$id"].(string); ok && id != "" && id[0] != '#' {
		n.base = n
		b.doc.anchors[trimHash(id)] = n
	}
	if anchor, ok := m["$anchor"].(string); ok {
		b.doc.anchors[n.base.at+"#"+anchor] = n
	}
	if ref, ok := m["$ref"].(string); ok {
		n.refText = ref
		b.refs = append(b.refs, n)
	}
}

func trimHash(s string) string {
	if len(s) > 0 && s[len(s)-1] == '#' {
		return s[:len(s)-1]
	}
	return s
}

// keyword decodes one keyword; false means that it is not understood.
func (b *builder) keyword(n *node, k string, v any, depth int) (bool, error) {
	switch k {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", headerKeyword:
		if n.texts == nil {
			n.texts = map[string]any{}
		}
		n.texts[k] = v
		return true, nil
	case "$schema", "$id", "$anchor", "$vocabulary":
		_, isString := v.(string)
		return isString, nil
	case "$ref":
		_, isString := v.(string)
		return isString, nil
	case "$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor":
		b.doc.scoped = true
		return false, nil
	case "unevaluatedProperties", "unevaluatedItems":
		b.doc.scoped = true
	}
	if b.doc.dialect < since(k) {
		return false, nil
	}
	if n.scalar(k, v) {
		return true, nil
	}
	return b.applicator(n, k, v, depth)
}

// scalar decodes the keywords that hold no subschema.
func (n *node) scalar(k string, v any) bool {
	switch k {
	case "type":
		return n.setTypes(v)
	case "enum":
		list, ok := v.([]any)
		return ok && n.addEnum(list)
	case "const":
		return n.addEnum([]any{v})
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return n.setLimit(k, v)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		return n.setCount(k, v)
	case "multipleOf":
		r, ok := rat(v)
		if ok && r.Sign() > 0 {
			n.multipleOf = r
			return true
		}
	case "pattern":
		return setText(&n.pattern, v)
	case "format":
		return setText(&n.format, v)
	case "uniqueItems":
		unique, ok := v.(bool)
		n.unique = unique
		return ok
	case "required":
		set, ok := nameSet(v)
		n.required = set
		return ok
	case "dependentRequired":
		return n.setDepReq(v)
	}
	return false
}

func rat(v any) (*big.Rat, bool) {
	num, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	return exact(num)
}

func setText(p **string, v any) bool {
	s, ok := v.(string)
	if ok {
		*p = &s
	}
	return ok
}

func nameSet(v any) (map[string]bool, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	set := make(map[string]bool, len(list))
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return nil, false
		}
		set[s] = true
	}
	return set, true
}
