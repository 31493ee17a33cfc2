package mask

// A hit is a secret, or the begin of one, in the source.
type hit struct {
	start, end int
	length     int // in symbols
	owner      uint32
}

// wrapMax is how many line ends in a row an encoded secret goes on behind: two
// are CRLF.
const wrapMax = 2

// A lane runs one automaton over one view.
type lane struct {
	a      *automaton
	state  uint32
	depth  int  // of state
	wraps  bool // line ends are no symbols
	run    int  // line ends just seen
	starts []int
	n      int // symbols taken; that of number i starts at starts[i%len]
}

// take advances by a symbol and returns the longest needle that ends with it.
func (l *lane) take(s symbol) (hit, bool) {
	if l.wraps && (s.b == '\n' || s.b == '\r') {
		if l.run++; l.run > wrapMax {
			l.state, l.depth = 0, 0
		}
		return hit{}, false
	}
	l.run = 0
	next := l.a.next(l.state, l.a.class[s.b])
	if l.state|next == 0 {
		return hit{}, false
	}
	l.push(s.start)
	f := l.a.fact(next)
	l.state, l.depth = next, int(f.depth)
	if f.out == 0 {
		return hit{}, false
	}
	return hit{l.start(int(f.out)), s.end, int(f.out), f.owner}, true
}

// start returns where the last depth symbols start in the source.
func (l *lane) start(depth int) int { return l.starts[(l.n-depth)&(len(l.starts)-1)] }

// push remembers the start of a symbol; the ring holds those of the partial
// match and this one.
func (l *lane) push(start int) {
	if l.depth >= len(l.starts) {
		grown := make([]int, max(16, 2*len(l.starts)))
		for i := l.n - l.depth; i < l.n; i++ {
			grown[i&(len(grown)-1)] = l.starts[i&(len(l.starts)-1)]
		}
		l.starts = grown
	}
	l.starts[l.n&(len(l.starts)-1)] = start
	l.n++
}

// follow makes the lane the same as another over the same automaton.
func (l *lane) follow(other *lane) {
	l.state, l.depth, l.run, l.n = other.state, other.depth, other.run, other.depth
	if l.depth > len(l.starts) {
		l.starts = make([]int, len(other.starts))
	}
	for i := range l.depth {
		l.starts[i] = other.start(l.depth - i)
	}
}

// resume puts the lane into a state that was reached by plain bytes of the
// source, the last of which is src[end-1]; base is the place of src[0].
func (l *lane) resume(state uint32, src []byte, base, end int) {
	depth := 0
	if state != 0 {
		depth = int(l.a.fact(state).depth)
	}
	for depth >= len(l.starts) {
		l.starts = make([]int, max(16, 2*len(l.starts)))
	}
	l.state, l.depth, l.n = state, depth, depth
	for i := end - base; depth > 0; {
		i--
		if l.wraps && (src[i] == '\n' || src[i] == '\r') {
			continue
		}
		depth--
		l.starts[depth] = base + i
	}
}
