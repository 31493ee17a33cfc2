package drift

import "encoding/json"

// identical says, at a glance, that two places are written alike and refer to
// nothing elsewhere: words and constraints are then the same.
func identical(a, b *node) bool {
	return a == b || !a.made && !b.made && !a.doc.scoped && !b.doc.scoped && a.doc.dialect == b.doc.dialect &&
		a.at != "" && b.at != "" && identicalRaw(a.raw, b.raw)
}

func identicalRaw(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(a) != len(m) {
			return false
		}
		for k, v := range a {
			if w, ok := m[k]; !ok || k == "$ref" || !identicalRaw(v, w) {
				return false
			}
		}
		return true
	case []any:
		list, ok := b.([]any)
		if !ok || len(a) != len(list) {
			return false
		}
		for i, v := range a {
			if !identicalRaw(v, list[i]) {
				return false
			}
		}
		return true
	case json.Number:
		n, ok := b.(json.Number)
		return ok && a == n
	}
	return a == b
}
