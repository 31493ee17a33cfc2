package mask

// A symbol is a byte of a view, with the place in the source that it is made of.
type symbol struct {
	b          byte
	start, end int
}

// foldMax bounds the source bytes of one symbol in a repeating view, so that a
// stream of %252525... is not held back for ever.
const foldMax = 64

// A view decodes some escapes of the source. A repeating view decodes what
// comes out of that again.
type view struct {
	decodes escapes
	repeats bool
	pending int // symbols of an escape that is not complete
	symbols [escapeMax + 1]symbol
	bytes   [escapeMax + 1]byte
}

// feed takes the next symbol of the source and calls emit with those that it
// settles.
func (v *view) feed(s symbol, emit func(symbol)) {
	for {
		if v.pending == 0 && !v.decodes.begin(s.b) {
			emit(s)
			return
		}
		v.symbols[v.pending], v.bytes[v.pending] = s, s.b
		v.pending++
		var room [4]byte
		out, p := unescape(v.bytes[:v.pending], room[:0])
		start := v.symbols[0].start
		switch {
		case p == begun && s.end-start < foldMax && v.pending < len(v.bytes):
			return
		case p == begun:
			v.flush(emit)
			return
		case p == broken:
			// Only the last symbol can begin another escape.
			v.pending--
			v.flush(emit)
			continue
		}
		v.pending = 0
		if v.repeats && len(out) == 1 {
			s = symbol{out[0], start, s.end}
			continue
		}
		for _, c := range out {
			emit(symbol{c, start, s.end})
		}
		return
	}
}

// flush settles the symbols of an incomplete escape as what they are.
func (v *view) flush(emit func(symbol)) {
	n := v.pending
	v.pending = 0
	for i := range n {
		emit(v.symbols[i])
	}
}

// fold returns what the repeating view makes of b.
func fold(b []byte) []byte {
	v := view{decodes: percent | backslash | reference, repeats: true}
	out := make([]byte, 0, len(b))
	emit := func(s symbol) { out = append(out, s.b) }
	for i, c := range b {
		v.feed(symbol{c, i, i + 1}, emit)
	}
	v.flush(emit)
	return out
}
