package mask

// A scanner looks for an engine's secrets in a stream. Most bytes of most
// streams take the fast path: one step in each automaton, valid as long as all
// views read the same and no match is more than begun.
type scanner struct {
	e     *engine
	raw   *channel   // the stream as it is
	views []*channel // what is decoded of it; nil before the first escape
	found func(hit)

	fast              bool
	text, base64, hex uint32 // states of raw on the fast path
	run               int    // line ends just seen there
	lastLine          int    // place of the last line end seen there
}

func newScanner(e *engine, found func(hit)) *scanner {
	s := &scanner{e: e, found: found, fast: true, lastLine: -1}
	s.raw = newChannel(e, view{}, true, found)
	return s
}

// decode makes the views, which a stream without an escape does not need.
func (s *scanner) decode() {
	s.views = []*channel{
		newChannel(s.e, view{decodes: percent | backslash | reference, repeats: true}, true, s.found),
		newChannel(s.e, view{decodes: percent}, false, s.found),
		newChannel(s.e, view{decodes: backslash}, false, s.found),
		newChannel(s.e, view{decodes: reference}, false, s.found),
	}
}

// scan reads src from the index from on; base is the place of src[0] in the
// stream. src reaches back to the place that hold returned.
func (s *scanner) scan(src []byte, base, from int) {
	for i := from; i < len(src); i++ {
		if s.fast {
			if i = s.plain(src, base, i); i == len(src) {
				return
			}
			s.leave(src, base, base+i)
		}
		s.slow(symbol{src[i], base + i, base + i + 1})
		s.enter(base + i)
	}
}

// slow feeds a byte to every view that does not read the same as raw.
func (s *scanner) slow(sym symbol) {
	if s.views == nil && (percent | backslash | reference).begin(sym.b) {
		s.decode()
	}
	for _, c := range s.views {
		if c.apart || c.decodes.begin(sym.b) {
			c.part(s.raw)
			c.take(sym)
		}
	}
	s.raw.take(sym)
	for _, c := range s.views {
		if c.apart {
			c.join(s.raw, sym.end)
		}
	}
}

// plain is the fast path. It returns the index of the first byte that it does
// not handle.
func (s *scanner) plain(src []byte, base, i int) int {
	e := s.e
	text, base64, hex := s.text, s.base64, s.hex
	textRows, base64Rows, hexRows := e.text.rows, e.base64.rows, e.hex.rows
	textQuiet, base64Quiet, hexQuiet := e.text.quiet, e.base64.quiet, e.hex.quiet
	for ; i < len(src); i++ {
		k := e.kinds[src[i]]
		t := textRows[text+uint32(k&0xff)]
		if k&special != 0 {
			if k&newline == 0 || t >= textQuiet {
				break
			}
			if s.lastLine != base+i-1 {
				s.run = 0
			}
			s.lastLine = base + i
			if s.run++; s.run > wrapMax {
				base64, hex = 0, 0
			}
			text = t
			continue
		}
		b := base64Rows[base64+uint32(k>>8&0xff)]
		h := hexRows[hex+uint32(k>>16&0xff)]
		if t >= textQuiet || b >= base64Quiet || h >= hexQuiet {
			break
		}
		text, base64, hex = t, b, h
	}
	s.text, s.base64, s.hex = text, base64, hex
	return i
}

// leave sets raw to where the fast path came to, before the byte at pos.
func (s *scanner) leave(src []byte, base, pos int) {
	s.fast = false
	run := s.run
	if s.lastLine != pos-1 {
		run = 0
	}
	for i, state := range [...]uint32{s.text, s.base64, s.hex} {
		l := s.raw.lanes[i]
		l.resume(state, src, base, pos)
		l.run = run
	}
}

// enter goes back to the fast path, after the byte at pos, once no match is more
// than begun and no view apart.
func (s *scanner) enter(pos int) {
	text, base64, hex := s.raw.lanes[0], s.raw.lanes[1], s.raw.lanes[2]
	if text.state >= s.e.text.quiet || base64.state >= s.e.base64.quiet || hex.state >= s.e.hex.quiet {
		return
	}
	for _, c := range s.views {
		if c.apart {
			return
		}
	}
	s.fast = true
	s.text, s.base64, s.hex = text.state, base64.state, hex.state
	if s.run = base64.run; s.run > 0 {
		s.lastLine = pos
	}
}

// partial calls each with what every lane has matched of a secret before end.
func (s *scanner) partial(src []byte, base, end int, each func(hit)) {
	if s.fast {
		s.leave(src, base, end)
		defer func() { s.fast = true }()
	}
	s.raw.partial(end, each)
	for _, c := range s.views {
		if c.apart {
			c.partial(end, each)
		}
	}
}

// hold returns the place before which nothing will be found any more.
func (s *scanner) hold(src []byte, base, end int) int {
	from := end
	for _, c := range s.views {
		if c.pending > 0 {
			from = min(from, c.symbols[0].start)
		}
	}
	s.partial(src, base, end, func(h hit) { from = min(from, h.start) })
	return from
}

// finish settles escapes that the end of the stream left incomplete.
func (s *scanner) finish() {
	for _, c := range s.views {
		c.flush(c.emit)
	}
}
