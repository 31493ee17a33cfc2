package drift_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"executor/internal/drift"
)

// The generators keep to few names and small values, so that two schemas and
// an instance meet often.

func genSchema(t *rapid.T, depth int) any {
	if depth <= 0 {
		return genLeaf(t)
	}
	switch rapid.IntRange(0, 11).Draw(t, "shape") {
	case 0, 1, 2:
		return genLeaf(t)
	case 3, 4, 5, 6:
		return genObject(t, depth)
	case 7, 8:
		return genArray(t, depth)
	case 9:
		k := rapid.SampledFrom([]string{"anyOf", "oneOf", "allOf"}).Draw(t, "kind")
		return map[string]any{k: genList(t, depth)}
	case 10:
		m := genObject(t, depth)
		switch rapid.IntRange(0, 4).Draw(t, "extra") {
		case 0:
			m["not"] = genSchema(t, depth-1)
		case 1:
			m["if"], m["then"] = genSchema(t, depth-1), genSchema(t, depth-1)
			if rapid.Bool().Draw(t, "else") {
				m["else"] = genSchema(t, depth-1)
			}
		case 2:
			m[rapid.SampledFrom([]string{"anyOf", "oneOf", "allOf"}).Draw(t, "kind")] = genList(t, depth)
		case 4:
			m["unevaluatedProperties"] = false
			m["allOf"] = genList(t, depth)
		case 3:
			m["$ref"] = rapid.SampledFrom([]string{"#/$defs/d", "#/$defs/e", "#"}).Draw(t, "ref")
		}
		return m
	}
	return map[string]any{"$ref": rapid.SampledFrom([]string{"#/$defs/d", "#/$defs/e"}).Draw(t, "ref")}
}

func genList(t *rapid.T, depth int) []any {
	var out []any
	for range rapid.IntRange(1, 3).Draw(t, "branches") {
		out = append(out, genSchema(t, depth-1))
	}
	return out
}

func genLeaf(t *rapid.T) any {
	small := rapid.IntRange(0, 3)
	switch rapid.IntRange(0, 9).Draw(t, "leaf") {
	case 0:
		return rapid.Bool().Draw(t, "bool")
	case 1:
		return map[string]any{"type": rapid.SampledFrom([]string{"integer", "number"}).Draw(t, "t"), "minimum": small.Draw(t, "min")}
	case 2:
		return map[string]any{"type": rapid.SampledFrom([]string{"integer", "number"}).Draw(t, "t"),
			rapid.SampledFrom([]string{"maximum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"}).Draw(t, "k"): 1 + small.Draw(t, "n")}
	case 3:
		return map[string]any{"type": "string", rapid.SampledFrom([]string{"minLength", "maxLength"}).Draw(t, "k"): small.Draw(t, "n")}
	case 4:
		return map[string]any{"type": "string", "pattern": rapid.SampledFrom([]string{"^a", "b$", "^[ab]+$"}).Draw(t, "p")}
	case 5:
		return map[string]any{"enum": rapid.SliceOfN(genScalar(), 1, 3).Draw(t, "enum")}
	case 6:
		return map[string]any{"const": genScalar().Draw(t, "const")}
	case 7:
		return map[string]any{"type": rapid.SliceOfNDistinct(rapid.SampledFrom([]any{"null", "string", "integer", "number", "boolean", "object", "array"}), 1, 3,
			func(v any) any { return v }).Draw(t, "types")}
	case 8:
		return map[string]any{"maximum": small.Draw(t, "max"), "minLength": small.Draw(t, "len")}
	}
	return map[string]any{"type": rapid.SampledFrom([]string{"null", "string", "integer", "number", "boolean", "object", "array"}).Draw(t, "type")}
}

func genScalar() *rapid.Generator[any] {
	return rapid.SampledFrom([]any{nil, true, false, 0, 1, 2, 3, 1.5, "", "a", "b", "ab", "x"})
}

func genObject(t *rapid.T, depth int) map[string]any {
	m := map[string]any{}
	if rapid.IntRange(0, 4).Draw(t, "typed") > 0 {
		m["type"] = "object"
	}
	props := map[string]any{}
	for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, func(s string) string { return s }).Draw(t, "props") {
		props[k] = genSchema(t, depth-1)
	}
	m["properties"] = props
	if req := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, func(s string) string { return s }).Draw(t, "required"); len(req) > 0 {
		m["required"] = req
	}
	switch rapid.IntRange(0, 9).Draw(t, "more") {
	case 0, 1, 2:
		m["additionalProperties"] = false
	case 3:
		m["additionalProperties"] = genSchema(t, depth-1)
	case 4:
		m["patternProperties"] = map[string]any{rapid.SampledFrom([]string{"^a", "b", "^c$"}).Draw(t, "pp"): genSchema(t, depth-1)}
	case 5:
		m[rapid.SampledFrom([]string{"minProperties", "maxProperties"}).Draw(t, "k")] = rapid.IntRange(0, 2).Draw(t, "n")
	case 6:
		m["dependentRequired"] = map[string]any{rapid.SampledFrom(names).Draw(t, "k"): []string{rapid.SampledFrom(names).Draw(t, "v")}}
	case 7:
		m["dependentSchemas"] = map[string]any{rapid.SampledFrom(names).Draw(t, "k"): genSchema(t, depth-1)}
	case 8:
		m["propertyNames"] = genLeaf(t)
	}
	return m
}

var names = []string{"a", "b", "ab", "c"}

func genArray(t *rapid.T, depth int) map[string]any {
	m := map[string]any{"type": "array"}
	if rapid.Bool().Draw(t, "items?") {
		m["items"] = genSchema(t, depth-1)
	}
	switch rapid.IntRange(0, 5).Draw(t, "array") {
	case 0:
		m["prefixItems"] = genList(t, depth)
	case 1:
		m["contains"] = genSchema(t, depth-1)
		if rapid.Bool().Draw(t, "min?") {
			m["minContains"] = rapid.IntRange(0, 2).Draw(t, "minContains")
		}
		if rapid.Bool().Draw(t, "max?") {
			m["maxContains"] = rapid.IntRange(0, 2).Draw(t, "maxContains")
		}
	case 2:
		m["uniqueItems"] = true
	case 3:
		m[rapid.SampledFrom([]string{"minItems", "maxItems"}).Draw(t, "k")] = rapid.IntRange(0, 2).Draw(t, "n")
	}
	return m
}

func genRoot(t *rapid.T) any {
	root := genSchema(t, 3)
	if m, ok := root.(map[string]any); ok {
		m["$defs"] = map[string]any{"d": genSchema(t, 1), "e": genSchema(t, 2)}
		return m
	}
	return root
}

// mutate changes, adds or drops something at a random place.
func mutate(t *rapid.T, v any, depth int) any {
	m, ok := v.(map[string]any)
	if !ok || depth == 0 || len(m) == 0 {
		return genSchema(t, 1)
	}
	out := map[string]any{}
	for k, e := range m {
		out[k] = e
	}
	k := rapid.SampledFrom(sorted(m)).Draw(t, "key")
	switch e := m[k].(type) {
	case map[string]any:
		switch {
		case k == "properties" || k == "$defs" || k == "patternProperties" || k == "dependentSchemas":
			out[k] = mutateMap(t, e, depth)
		case k == "dependentRequired":
			delete(out, k)
		default:
			out[k] = mutate(t, e, depth-1)
		}
	case []any:
		out[k] = mutateList(t, k, e, depth)
	case bool, string:
		delete(out, k)
	case int:
		out[k] = max(e+rapid.IntRange(-1, 1).Draw(t, "step"), 1)
	default:
		delete(out, k)
	}
	if rapid.IntRange(0, 5).Draw(t, "merge") == 0 {
		if extra, ok := genSchema(t, 1).(map[string]any); ok {
			for k, e := range extra {
				out[k] = e
			}
		}
	}
	return out
}

func mutateMap(t *rapid.T, m map[string]any, depth int) any {
	out := map[string]any{}
	for k, e := range m {
		out[k] = e
	}
	if len(m) == 0 || rapid.IntRange(0, 4).Draw(t, "grow") == 0 {
		out[rapid.SampledFrom(names).Draw(t, "new")] = genSchema(t, 1)
		return out
	}
	k := rapid.SampledFrom(sorted(m)).Draw(t, "member")
	if k != "d" && k != "e" && rapid.IntRange(0, 5).Draw(t, "drop") == 0 {
		delete(out, k)
		return out
	}
	out[k] = mutate(t, m[k], depth-1)
	return out
}

func mutateList(t *rapid.T, k string, list []any, depth int) any {
	out := append([]any{}, list...)
	if k == "enum" || k == "type" {
		if len(out) > 1 {
			return out[1:]
		}
		return out
	}
	i := rapid.IntRange(0, len(out)-1).Draw(t, "i")
	switch rapid.IntRange(0, 3).Draw(t, "edit") {
	case 0:
		return append(out, genSchema(t, 1))
	case 1:
		if len(out) > 1 {
			return append(out[:i:i], out[i+1:]...)
		}
	}
	out[i] = mutate(t, out[i], depth-1)
	return out
}

func sorted(m map[string]any) []string {
	var keys []string
	for _, k := range []string{"type", "properties", "required", "additionalProperties", "unevaluatedProperties", "patternProperties", "minProperties", "maxProperties",
		"dependentRequired", "dependentSchemas", "propertyNames", "items", "prefixItems", "contains", "minContains", "maxContains", "uniqueItems", "minItems", "maxItems",
		"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "enum", "const", "minimum", "maximum",
		"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "a", "b", "ab", "c", "d", "e", "^a", "^c$"} {
		if _, ok := m[k]; ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return []string{"none"}
	}
	return keys
}

func genInstance(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 9).Draw(t, "instance"); {
	case depth > 0 && n < 5:
		m := map[string]any{}
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom(append([]string{"zz"}, names...)), 0, 4, func(s string) string { return s }).Draw(t, "keys") {
			m[k] = genInstance(t, depth-1)
		}
		return m
	case depth > 0 && n == 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, genInstance(t, depth-1))
		}
		return list
	}
	return genScalar().Draw(t, "value")
}

// guided builds an instance that follows a schema where it can.
func guided(t *rapid.T, schema any, root map[string]any, depth int) any {
	m, ok := schema.(map[string]any)
	if !ok || depth == 0 || rapid.IntRange(0, 14).Draw(t, "stray") == 0 {
		return genInstance(t, 1)
	}
	if ref, ok := m["$ref"].(string); ok && root != nil {
		defs, _ := root["$defs"].(map[string]any)
		target := any(root)
		if ref != "#" {
			target = defs[ref[len(ref)-1:]]
		}
		return guided(t, target, root, depth-1)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := m[k].([]any); ok && rapid.Bool().Draw(t, "branch") {
			return guided(t, rapid.SampledFrom(list).Draw(t, "which"), root, depth)
		}
	}
	if list, ok := m["enum"].([]any); ok {
		return rapid.SampledFrom(list).Draw(t, "enum")
	}
	if v, ok := m["const"]; ok {
		return v
	}
	switch {
	case m["type"] == "object" || m["properties"] != nil:
		return guidedObject(t, m, root, depth)
	case m["type"] == "array":
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, guided(t, m["items"], root, depth-1))
		}
		return list
	}
	return genScalar().Draw(t, "value")
}

func guidedObject(t *rapid.T, m, root map[string]any, depth int) any {
	out := map[string]any{}
	props, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]string)
	for _, k := range names {
		if _, known := props[k]; (known && rapid.Bool().Draw(t, "present")) || contains(required, k) {
			out[k] = guided(t, props[k], root, depth-1)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "extra") == 0 {
		out[rapid.SampledFrom([]string{"zz", "a", "b"}).Draw(t, "k")] = genInstance(t, 1)
	}
	return out
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// validator is the independent judge.
func validator(raw []byte) (func(any) (bool, error), error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return func(v any) (ok bool, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("validator: %v", p)
			}
		}()
		return r.Validate(v) == nil, nil
	}, nil
}

func marshal(t *rapid.T, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestSound is the promise of this package: nothing called compatible refuses
// what was accepted (input), or produces what was impossible (output).
func TestSound(t *testing.T) {
	compatible := 0
	property := func(t *rapid.T) {
		old := genRoot(t)
		next := old
		for range rapid.IntRange(1, 2).Draw(t, "edits") {
			next = mutate(t, next, 4)
		}
		if soundPair(t, old, next) {
			compatible++
		}
	}
	for range 6 { // times -rapid.checks, 100 unless given
		rapid.Check(t, property)
	}
	if compatible == 0 {
		t.Error("no pair was called compatible: the property was never tested")
	}
	t.Logf("%d pairs called compatible", compatible)
}

func soundPair(t *rapid.T, old, next any) bool {
	if endless(old) || endless(next) {
		return false
	}
	oldRaw, newRaw := marshal(t, old), marshal(t, next)
	before, err1 := validator(oldRaw)
	after, err2 := validator(newRaw)
	if err1 != nil || err2 != nil {
		return false
	}
	proved := map[drift.Side]bool{}
	for _, side := range []drift.Side{drift.Input, drift.Output} {
		report, err := drift.DiffSchemas(oldRaw, newRaw, side, drift.Options{Profile: drift.Strict})
		if err != nil {
			t.Fatal(err)
		}
		proved[side] = onlyAdvice(report)
	}
	if !proved[drift.Input] && !proved[drift.Output] {
		return false
	}
	oldRoot, _ := old.(map[string]any)
	newRoot, _ := next.(map[string]any)
	for range 30 {
		v := guided(t, old, oldRoot, 4)
		if rapid.Bool().Draw(t, "from new") {
			v = guided(t, next, newRoot, 4)
		}
		checkInstance(t, before, after, plain(t, v), proved, oldRaw, newRaw)
	}
	return true
}

// endless finds references that come back without going into the instance: no
// validator ends on them.
func endless(root any) bool {
	m, ok := root.(map[string]any)
	if !ok {
		return false
	}
	defs, _ := m["$defs"].(map[string]any)
	at := map[string]any{"#": root, "#/$defs/d": defs["d"], "#/$defs/e": defs["e"]}
	var visit func(v any, open map[string]bool) bool
	visit = func(v any, open map[string]bool) bool {
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		if ref, ok := m["$ref"].(string); ok {
			if open[ref] {
				return true
			}
			open[ref] = true
			if visit(at[ref], open) {
				return true
			}
			delete(open, ref)
		}
		for _, k := range []string{"not", "if", "then", "else"} {
			if visit(m[k], open) {
				return true
			}
		}
		for _, k := range []string{"anyOf", "oneOf", "allOf"} {
			list, _ := m[k].([]any)
			for _, e := range list {
				if visit(e, open) {
					return true
				}
			}
		}
		dependent, _ := m["dependentSchemas"].(map[string]any)
		for _, e := range dependent {
			if visit(e, open) {
				return true
			}
		}
		return false
	}
	for ref, v := range at {
		if visit(v, map[string]bool{ref: true}) {
			return true
		}
	}
	return false
}

// onlyAdvice leaves out what is about hosts, not about instances.
func onlyAdvice(r drift.Report) bool {
	for _, c := range r.Changes {
		if c.Class != drift.Compatible && !(len(c.Rule) > 5 && c.Rule[:5] == "host-") && c.Rule != "out-error-envelope-missing" {
			return false
		}
	}
	return true
}

func plain(t *rapid.T, v any) any {
	var out any
	if err := json.Unmarshal(marshal(t, v), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func checkInstance(t *rapid.T, before, after func(any) (bool, error), v any, proved map[drift.Side]bool, oldRaw, newRaw []byte) {
	was, err := before(v)
	if err != nil {
		return
	}
	is, err := after(v)
	if err != nil {
		return
	}
	if proved[drift.Input] && was && !is {
		t.Fatalf("input called compatible, and %s is refused now\nold %s\nnew %s", marshal(t, v), oldRaw, newRaw)
	}
	if proved[drift.Output] && is && !was {
		t.Fatalf("output called compatible, and %s is new\nold %s\nnew %s", marshal(t, v), oldRaw, newRaw)
	}
}
