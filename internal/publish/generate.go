package publish

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// Bounds of what is generated for one revision.
const (
	attempts   = 500
	candidates = 120 // for one value
	maxDepth   = 4
	maxValues  = 20_000 // schemas looked at, nested ones as often as they are met
)

// Arguments are generated from an input schema: always the same ones, none twice.
// Most fit the schema; whoever uses them asks the contract. First come the smallest
// call, then each value of each argument by itself, then mixtures.
func Arguments(input json.RawMessage) []json.RawMessage {
	root := decode(input)
	schema, _ := root.(map[string]any)
	g := &generator{root: schema, rand: rand.New(rand.NewPCG(1, 2))}
	return g.objects(schema, attempts, 0)
}

// A generator makes values for schemas. Its choices depend on the schema alone.
type generator struct {
	root map[string]any
	rand *rand.Rand
	seen int
}

// values are candidates for one schema, the plainest first.
func (g *generator) values(schema any, name string, depth int) []json.RawMessage {
	s, ok := schema.(map[string]any)
	if g.seen++; !ok || depth > maxDepth || g.seen > maxValues {
		return []json.RawMessage{raw(name)}
	}
	if target, ok := s["$ref"].(string); ok {
		return g.values(g.resolve(target), name, depth+1)
	}
	if c, ok := s["const"]; ok {
		return []json.RawMessage{raw(c)}
	}
	if list, ok := s["enum"].([]any); ok {
		return every(list)
	}
	var out []json.RawMessage
	if d, ok := s["default"]; ok {
		out = append(out, raw(d))
	}
	for _, t := range types(s) {
		out = append(out, g.typed(s, t, name, depth)...)
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		branches, _ := s[keyword].([]any)
		for _, b := range branches {
			out = append(out, g.values(b, name, depth+1)...)
		}
	}
	if list, ok := s["examples"].([]any); ok {
		out = append(out, every(list)...)
	}
	return out[:min(len(out), candidates)]
}

func (g *generator) typed(s map[string]any, t, name string, depth int) []json.RawMessage {
	switch t {
	case "string":
		return texts(s, name)
	case "integer", "number":
		return numbers(s, t == "integer")
	case "boolean":
		return []json.RawMessage{raw(true), raw(false)}
	case "null":
		return []json.RawMessage{raw(nil)}
	case "array":
		return g.arrays(s, name, depth)
	case "object":
		return g.objects(s, candidates, depth+1)
	}
	return nil
}

// types of a schema; one that names none takes a text and a number at least.
func types(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, x := range t {
			if name, ok := x.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		if s[keyword] != nil {
			return nil
		}
	}
	return []string{"string", "integer", "boolean"}
}

func (g *generator) arrays(s map[string]any, name string, depth int) []json.RawMessage {
	items := g.values(s["items"], name, depth+1)
	least, ok := number(s["minItems"])
	most, bounded := number(s["maxItems"])
	sizes := []int{1, 0, 2, 3}
	if ok {
		sizes = append([]int{int(least)}, sizes...)
	}
	if bounded && most <= 20 {
		sizes = append(sizes, int(most))
	}
	var out []json.RawMessage
	for _, n := range sizes {
		if n > 20 || len(items) == 0 && n > 0 {
			continue
		}
		list := make([]json.RawMessage, n)
		for i := range list {
			list[i] = items[i%len(items)]
		}
		out = append(out, raw(list))
	}
	for range 4 {
		if len(items) > 1 {
			out = append(out, raw([]json.RawMessage{items[g.rand.IntN(len(items))], items[g.rand.IntN(len(items))]}))
		}
	}
	return out
}

// objects composes the candidates of the properties.
func (g *generator) objects(s map[string]any, most, depth int) (out []json.RawMessage) {
	properties, _ := s["properties"].(map[string]any)
	names := sortedNames(properties)
	pool := map[string][]json.RawMessage{}
	for _, name := range names {
		pool[name] = g.values(properties[name], name, depth)
	}
	required, _ := s["required"].([]any)
	due := func(name string) bool { return slices.ContainsFunc(required, func(r any) bool { return r == name }) }
	seen := map[string]bool{}
	add := func(pick func(name string) (int, bool)) {
		m := map[string]json.RawMessage{}
		for _, name := range names {
			if i, given := pick(name); given && len(pool[name]) > 0 {
				m[name] = pool[name][i%len(pool[name])]
			}
		}
		if v := raw(m); !seen[string(v)] && len(out) < most {
			seen[string(v)] = true
			out = append(out, v)
		}
	}
	add(func(name string) (int, bool) { return 0, due(name) })
	add(func(string) (int, bool) { return 0, true })
	for _, one := range names {
		for i := range pool[one] {
			add(func(name string) (int, bool) {
				if name == one {
					return i, true
				}
				return 0, due(name)
			})
		}
	}
	for range most {
		add(func(name string) (int, bool) { return g.rand.IntN(1 << 20), due(name) || g.rand.IntN(2) == 0 })
	}
	return out
}

// resolve follows a reference inside the schema.
func (g *generator) resolve(pointer string) any {
	var at any = g.root
	for i, part := range bytes.Split([]byte(pointer), []byte("/")) {
		if i == 0 {
			if string(part) != "#" {
				return nil
			}
			continue
		}
		m, _ := at.(map[string]any)
		at = m[string(part)]
	}
	return at
}

func every(list []any) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, v := range list {
		out[i] = raw(v)
	}
	return out[:min(len(out), candidates)]
}

// raw writes a value that was decoded from JSON, or made here.
func raw(v any) json.RawMessage {
	s, err := write(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return json.RawMessage(s)
}

// decode reads JSON with numbers that keep their digits.
func decode(text json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}
