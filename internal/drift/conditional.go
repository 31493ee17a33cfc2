package drift

import "strings"

// conditional compares if/then/else as one thing and reports the keyword of
// the branch that refuses.
func (w *walker) conditional(path string, o, n *node) {
	had, has := o.ifNode != nil, n.ifNode != nil
	if !had && !has || had && has && w.p.sameCondition(o, n) {
		return
	}
	where := n
	if !has {
		where = o
	}
	for _, c := range conditionalPlaces(path, where) {
		w.guarded(c, "conditional", had, has, o, n, onlyCondition)
	}
}

func onlyCondition(b *node) *node {
	k := always(b.doc)
	k.ifNode, k.thenNode, k.elseIt = b.ifNode, b.thenNode, b.elseIt
	return k
}

func conditionalPlaces(path string, n *node) []Change {
	var out []Change
	for _, branch := range []struct {
		name string
		n    *node
	}{{"then", n.thenNode}, {"else", n.elseIt}} {
		if branch.n == nil {
			continue
		}
		at := path + "." + branch.name
		m, _ := branch.n.raw.(map[string]any)
		keys := sortedKeys(wordlessMap(m))
		if len(keys) == 0 {
			out = append(out, Change{Path: at, After: branch.n.raw})
		}
		for _, k := range keys {
			c := Change{Path: at + "." + k, After: m[k]}
			if k == "required" {
				c.Name = strings.Join(sortedKeys(branch.n.required), ", ")
			}
			out = append(out, c)
		}
	}
	return out
}

func wordlessMap(m map[string]any) map[string]any {
	out, _ := wordless(m).(map[string]any)
	return out
}
