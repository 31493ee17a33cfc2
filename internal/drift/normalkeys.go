package drift

import (
	"slices"
	"strings"
)

// byType lists the keywords that matter for instances of the given types.
func (v *normal) byType(n *node, types typeSet) []string {
	var out []string
	add := func(parts ...string) { out = append(out, strings.Join(parts, " ")) }
	if types&tNumber != 0 {
		add("low", limitText(n.low), "high", limitText(n.high))
		if n.multipleOf != nil {
			add("multipleOf", n.multipleOf.String())
		}
	}
	if types&tString != 0 {
		v.counts(n, add, "minLength", "maxLength")
		if n.pattern != nil {
			add("pattern", *n.pattern)
		}
	}
	if types&tArray != 0 {
		v.counts(n, add, "minItems", "maxItems", "minContains", "maxContains")
		v.arrays(n, add)
	}
	if types&tObject != 0 {
		v.counts(n, add, "minProperties", "maxProperties")
		v.objects(n, add)
	}
	return out
}

func limitText(l *limit) string {
	switch {
	case l == nil:
		return "-"
	case l.open:
		return "open " + l.at.String()
	}
	return l.at.String()
}

func (v *normal) counts(n *node, add func(...string), names ...string) {
	for _, k := range names {
		if r := n.counts[k]; r != nil {
			add(k, r.String())
		}
	}
}

func (v *normal) arrays(n *node, add func(...string)) {
	if n.unique {
		add("uniqueItems")
	}
	for i, c := range n.prefix {
		add("prefix", itoa(i), v.sub(c))
	}
	if n.items != nil {
		if s := v.sub(n.items); s != "any" {
			add("items", s)
		}
	}
	if n.contains != nil {
		add("contains", v.sub(n.contains))
	}
}

func (v *normal) objects(n *node, add func(...string)) {
	for _, k := range sortedKeys(n.props) {
		add("property", canonical(k), v.sub(n.props[k]))
	}
	for _, k := range sortedKeys(n.patProps) {
		add("pattern property", canonical(k), v.sub(n.patProps[k]))
	}
	if n.addl != nil {
		if s := v.sub(n.addl); s != "any" {
			add("additional", s)
		}
	}
	if n.propNames != nil {
		add("names", v.sub(n.propNames))
	}
	for _, k := range sortedKeys(n.required) {
		add("required", canonical(k))
	}
	for _, k := range sortedKeys(n.depReq) {
		for _, name := range sortedKeys(n.depReq[k]) {
			add("dependent", canonical(k), canonical(name))
		}
	}
	for _, k := range sortedKeys(n.depSchemas) {
		add("dependent schema", canonical(k), v.sub(n.depSchemas[k]))
	}
}

// shared lists what holds for instances of every type.
func (v *normal) shared(n *node) string {
	var out []string
	if n.ref != nil {
		out = append(out, "all "+v.sub(n.ref))
	}
	for _, c := range n.allOf {
		if s := v.sub(c); s != "any" {
			out = append(out, "all "+s)
		}
	}
	if n.anyOf != nil {
		out = append(out, "some "+v.union(n.anyOf))
	}
	if n.oneOf != nil {
		forms := make([]string, len(n.oneOf))
		for i, c := range n.oneOf {
			forms[i] = v.sub(c)
		}
		slices.Sort(forms) // twice the same branch is not once: no Compact
		out = append(out, "one "+strings.Join(forms, " "))
	}
	if n.not != nil {
		out = append(out, "not "+v.sub(n.not))
	}
	if n.ifNode != nil {
		out = append(out, "if "+v.sub(n.ifNode)+" then "+v.optional(n.thenNode)+" else "+v.optional(n.elseIt))
	}
	if n.format != nil {
		out = append(out, "format "+*n.format)
	}
	for _, k := range sortedKeys(n.unknown) {
		out = append(out, "unknown "+canonical(k)+" "+n.unknown[k])
	}
	if n.refBad != "" {
		out = append(out, "reference "+n.refText)
	}
	slices.Sort(out)
	return "\n" + strings.Join(slices.Compact(out), "\n")
}

func (v *normal) optional(n *node) string {
	if n == nil {
		return "any"
	}
	return v.sub(n)
}
