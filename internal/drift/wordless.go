package drift

// annotation says which keywords hold words: they constrain nothing.
func annotation(keyword string) bool {
	switch keyword {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", headerKeyword:
		return true
	}
	return false
}

// sameConstraints says that two raw schemas differ in annotations at most.
func sameConstraints(a, b any) bool {
	m, okA := a.(map[string]any)
	n, okB := b.(map[string]any)
	if !okA || !okB {
		return sameData(a, b)
	}
	for k, v := range m {
		if w, ok := n[k]; !annotation(k) && (!ok || !sameConstraintsIn(keywordHolds(k), v, w)) {
			return false
		}
	}
	for k := range n {
		if _, ok := m[k]; !ok && !annotation(k) {
			return false
		}
	}
	return true
}

func sameConstraintsIn(h holds, a, b any) bool {
	switch h {
	case holdsSchema:
		return sameConstraints(a, b)
	case holdsSchemas:
		x, okA := a.([]any)
		y, okB := b.([]any)
		if !okA || !okB || len(x) != len(y) {
			return sameData(a, b)
		}
		for i := range x {
			if !sameConstraints(x[i], y[i]) {
				return false
			}
		}
		return true
	case holdsSchemaMap:
		x, okA := a.(map[string]any)
		y, okB := b.(map[string]any)
		if !okA || !okB || len(x) != len(y) {
			return sameData(a, b)
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !sameConstraints(v, w) {
				return false
			}
		}
		return true
	}
	return sameData(a, b) || sameData(setFormValue(h, a), setFormValue(h, b))
}

func sameData(a, b any) bool {
	return identicalRaw(a, b) || canonical(a) == canonical(b)
}
