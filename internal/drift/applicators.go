package drift

// applicator decodes the keywords that hold subschemas.
func (b *builder) applicator(n *node, k string, v any, depth int) (bool, error) {
	list, isList := v.([]any)
	switch {
	case k == "items" && isList:
		return n.doc.tupleItems(), b.list(&n.prefix, list, n, k, depth)
	case k == "additionalItems" && n.doc.tupleItems():
		return b.one(&n.items, v, n, k, depth)
	case k == "$defs" || k == "definitions":
		var defs map[string]*node
		return b.named(&defs, v, n, k, depth)
	}
	if p := n.singleSlot(k); p != nil {
		return b.one(p, v, n, k, depth)
	}
	if p := n.listSlot(k); p != nil && isList && len(list) > 0 {
		return true, b.list(p, list, n, k, depth)
	}
	if p := n.mapSlot(k); p != nil {
		return b.named(p, v, n, k, depth)
	}
	return false, nil
}

func (n *node) singleSlot(k string) **node {
	switch k {
	case "items":
		return &n.items
	case "contains":
		return &n.contains
	case "unevaluatedItems":
		return &n.unevalItems
	case "additionalProperties":
		return &n.addl
	case "propertyNames":
		return &n.propNames
	case "unevaluatedProperties":
		return &n.unevalProps
	case "not":
		return &n.not
	case "if":
		return &n.ifNode
	case "then":
		return &n.thenNode
	case "else":
		return &n.elseIt
	}
	return nil
}

func (n *node) listSlot(k string) *[]*node {
	switch k {
	case "prefixItems":
		return &n.prefix
	case "allOf":
		return &n.allOf
	case "anyOf":
		return &n.anyOf
	case "oneOf":
		return &n.oneOf
	}
	return nil
}

func (n *node) mapSlot(k string) *map[string]*node {
	switch k {
	case "properties":
		return &n.props
	case "patternProperties":
		return &n.patProps
	case "dependentSchemas":
		return &n.depSchemas
	}
	return nil
}

func isSchema(v any) bool {
	switch v.(type) {
	case bool, map[string]any, overDeep:
		return true
	}
	return false
}

func (b *builder) one(p **node, v any, n *node, k string, depth int) (ok bool, err error) {
	if !isSchema(v) {
		return false, nil
	}
	*p, err = b.build(v, n.at+"/"+pointerToken(k), n.base, depth+1)
	return true, err
}

func (b *builder) list(p *[]*node, list []any, n *node, k string, depth int) error {
	out := make([]*node, len(list))
	for i, e := range list {
		c, err := b.build(e, n.at+"/"+pointerToken(k)+"/"+itoa(i), n.base, depth+1)
		if err != nil {
			return err
		}
		out[i] = c
	}
	*p = out
	return nil
}

func (b *builder) named(p *map[string]*node, v any, n *node, k string, depth int) (bool, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return false, nil
	}
	out := make(map[string]*node, len(m))
	for _, name := range sortedKeys(m) {
		c, err := b.build(m[name], n.at+"/"+pointerToken(k)+"/"+pointerToken(name), n.base, depth+1)
		if err != nil {
			return true, err
		}
		out[name] = c
	}
	*p = out
	return true, nil
}
