package drift

import (
	"strings"
	"unicode"
)

// renames pairs removed with added properties that look like one under a new
// name: the same subschema under a related name, or the only such pair.
func (w *walker) renames(path string, gone, more []string, o, n *node) {
	taken := map[string]bool{}
	for _, a := range gone {
		best, hint := "", ""
		for _, b := range more {
			if taken[b] || effectiveTypes(view(o.props[a]))&effectiveTypes(view(n.props[b])) == 0 {
				continue
			}
			same := w.p.same(o.props[a], n.props[b])
			switch {
			case related(a, b) && (same || best == ""):
				best, hint = b, a+" -> "+b
			case best == "" && same && len(gone) == 1 && w.onlyTwin(o.props[a], more, n):
				best, hint = b, a+" -> "+b+" (same subschema)"
			}
		}
		if best != "" {
			taken[best] = true
			w.rule(Change{Path: path, Name: a, Hint: hint}, "prop-rename-suspected")
		}
	}
}

// onlyTwin says that exactly one of the added properties has the subschema.
func (w *walker) onlyTwin(o *node, more []string, n *node) bool {
	twins := 0
	for _, b := range more {
		if w.p.same(o, n.props[b]) {
			twins++
		}
	}
	return twins == 1
}

// related says whether two names are likely one name respelled: a word of the
// one is in the other, or few letters differ.
func related(a, b string) bool {
	wa, wb := nameWords(a), nameWords(b)
	for _, x := range wa {
		for _, y := range wb {
			if x == y {
				return true
			}
		}
	}
	ja, jb := strings.Join(wa, ""), strings.Join(wb, "")
	if len(ja) > 2 && len(jb) > 2 && (strings.Contains(ja, jb) || strings.Contains(jb, ja)) {
		return true
	}
	return len(ja) < 64 && len(jb) < 64 && distance(ja, jb) <= min(len(ja), len(jb))/4
}

// nameWords splits maxDepth, max_depth and max-depth alike.
func nameWords(s string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	lower := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = !unicode.IsUpper(r)
		word.WriteRune(unicode.ToLower(r))
	}
	flush()
	return words
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
