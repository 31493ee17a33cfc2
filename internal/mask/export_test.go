package mask

import "slices"

// Hits returns where the strong secrets of a set are in text, found with the
// fast path or with every view fed every byte, in pieces of the given size, as {start, end} pairs.
func Hits(s *Set, text []byte, piece int, fast bool) [][2]int {
	var out [][2]int
	sc := newScanner(s.strong, func(h hit) { out = append(out, [2]int{h.start, h.end}) })
	if fast {
		for end := 0; end < len(text); {
			from := end
			end = min(len(text), end+piece)
			sc.scan(text[:end], 0, from)
		}
	} else {
		sc.decode()
		for i, c := range text {
			for _, ch := range append(sc.views, sc.raw) {
				ch.feed(symbol{c, i, i + 1}, ch.emit)
			}
		}
	}
	sc.finish()
	slices.SortFunc(out, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

// Zeroed reports whether nothing is left of what an engine knew. It must be
// taken before Wipe.
func Zeroed(s *Set) func() bool {
	e := s.strong
	return func() bool {
		for _, a := range []*automaton{e.text, e.base64, e.hex} {
			for _, row := range a.rows {
				if row != 0 {
					return false
				}
			}
			for _, l := range a.links {
				if l != (link{}) {
					return false
				}
			}
			if a.class != [256]uint8{} {
				return false
			}
		}
		return e.kinds == [256]kind{}
	}
}
