package drift

import "slices"

// What a keyword's value holds, so that "required" is sorted where it is a
// keyword and left alone where it is the name of a property or a piece of data.
type holds int

const (
	holdsData holds = iota
	holdsSet
	holdsSchema
	holdsSchemas
	holdsSchemaMap
	holdsSetMap
)

func keywordHolds(keyword string) holds {
	switch keyword {
	case "required", "enum", "type":
		return holdsSet
	case "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else",
		"unevaluatedProperties", "unevaluatedItems", "additionalItems", "items", "contentSchema":
		return holdsSchema
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return holdsSchemas
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return holdsSchemaMap
	case "dependentRequired":
		return holdsSetMap
	}
	return holdsData
}

// setForm is a schema with its sets sorted: `required`, `enum`, type arrays.
func setForm(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		out[k] = setFormValue(keywordHolds(k), e)
	}
	return out
}

func setFormValue(h holds, v any) any {
	list, isList := v.([]any)
	m, isMap := v.(map[string]any)
	switch {
	case h == holdsSet && isList:
		return sortedSet(list)
	case (h == holdsSchemas || h == holdsSchema) && isList:
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = setForm(e)
		}
		return out
	case h == holdsSchema:
		return setForm(v)
	case h == holdsSchemaMap && isMap:
		return mapValues(m, func(e any) any {
			if names, dependency := e.([]any); dependency {
				return sortedSet(names)
			}
			return setForm(e)
		})
	case h == holdsSetMap && isMap:
		return mapValues(m, func(e any) any { return setFormValue(holdsSet, e) })
	}
	return v
}

func mapValues(m map[string]any, f func(any) any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = f(v)
	}
	return out
}

// sortedSet is the list sorted by canonical form, each member once.
func sortedSet(list []any) []any {
	byText := make(map[string]any, len(list))
	for _, v := range list {
		byText[canonical(v)] = v
	}
	out := make([]any, 0, len(byText))
	for _, k := range sortedKeys(byText) {
		out = append(out, byText[k])
	}
	return slices.Clip(out)
}
