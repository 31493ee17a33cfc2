package drift

import "strings"

// advise reports what is legal in a schema and refused by some hosts, where
// this change brought it in.
func (w *walker) advise(path string) {
	if w.side == Output {
		if admitsError(w.old.root, false) && !admitsError(w.new.root, true) {
			w.add(Change{Rule: "out-error-envelope-missing", Path: path})
		}
		return
	}
	had := map[string]bool{}
	for _, h := range hostTrouble(w.old, path) {
		had[h.Rule] = true
	}
	for _, h := range hostTrouble(w.new, path) {
		if !had[h.Rule] {
			w.add(h)
		}
	}
}

// hostTrouble lists the first place of each kind.
func hostTrouble(d *document, path string) []Change {
	var out []Change
	for _, k := range []string{"allOf", "anyOf", "not", "oneOf"} {
		if hasKeyword(d.root, k) {
			out = append(out, Change{Rule: "host-root-combinator-added", Path: path + "." + k})
		}
	}
	seen := map[string]bool{}
	for _, at := range sortedKeys(d.nodes) {
		n := d.nodes[at]
		for _, t := range nodeTrouble(n) {
			if !seen[t.id] {
				seen[t.id] = true
				out = append(out, Change{Rule: t.id, Path: path + dotted(at) + t.keyword})
			}
		}
		for _, k := range sortedKeys(n.props) {
			if !hostName(k, true) && !seen["host-name-charset"] {
				seen["host-name-charset"] = true
				out = append(out, Change{Rule: "host-name-charset", Path: path + dotted(at) + ".properties." + k, Name: k})
			}
		}
	}
	return out
}

type trouble struct{ id, keyword string }

func nodeTrouble(n *node) []trouble {
	var out []trouble
	if n.typeArray {
		out = append(out, trouble{"host-type-array-added", ".type"})
	}
	if n.refText != "" {
		out = append(out, trouble{"host-ref-added", ".$ref"})
	}
	if n.declared && n.types&tArray != 0 && n.items == nil && n.prefix == nil {
		out = append(out, trouble{"host-array-without-items", ""})
	}
	return out
}

// dotted is a JSON Pointer as this package's paths are written.
func dotted(at string) string {
	return strings.NewReplacer("/", ".", "~1", "/", "~0", "~").Replace(at)
}

// hostName is what the strictest of the common hosts takes as a name: letters,
// digits, _ and -, and for a property the point, at most 64.
func hostName(s string, property bool) bool {
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-', r == '.' && property:
		default:
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

// admitsError says whether a result schema leaves room for an error in the place
// of a result, as clients that validate failed calls need: a branch with an
// error's field, or an object about which nothing is said. barely counts an open
// object of which nothing is required, too: it takes an error, if not on purpose.
func admitsError(n *node, barely bool) bool {
	list, _ := choices(view(n), "")
	for _, c := range list {
		v := view(c.n)
		if effectiveTypes(v)&tObject == 0 {
			continue
		}
		if v.trivial() || len(v.required) == 0 && (v.addl == nil || v.addl.trivial()) && (barely || len(v.props) == 0) {
			return true
		}
		for k := range v.props {
			if isErrorField(k) {
				return true
			}
		}
	}
	return false
}

func isErrorField(name string) bool {
	for _, word := range nameWords(name) {
		switch word {
		case "error", "errors", "err", "problem", "problems", "iserror":
			return true
		}
	}
	return false
}
