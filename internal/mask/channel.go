package mask

// A channel is a view and the lanes that run over it, that of the text first.
//
// A channel that is not apart reads what the raw one reads, since an escape is
// too far back to matter: it is not fed, and its lanes are out of date.
type channel struct {
	view
	lanes []*lane
	emit  func(symbol)
	apart bool
	mark  int // end of the last escape, or what could have been one
}

// newChannel makes a channel with the lanes for encodings as well, or without.
func newChannel(e *engine, v view, encodings bool, found func(hit)) *channel {
	c := &channel{view: v, lanes: []*lane{{a: e.text}}}
	if encodings {
		c.lanes = append(c.lanes, &lane{a: e.base64, wraps: true}, &lane{a: e.hex, wraps: true})
	}
	c.emit = func(s symbol) {
		for _, l := range c.lanes {
			if h, ok := l.take(s); ok {
				found(h)
			}
		}
	}
	return c
}

func (c *channel) take(s symbol) {
	escape := c.pending > 0
	c.feed(s, c.emit)
	if escape || c.pending > 0 {
		c.mark = s.end
	}
}

// part makes the channel one of its own, which begins as the raw one.
func (c *channel) part(raw *channel) {
	if c.apart {
		return
	}
	c.apart = true
	for i, l := range c.lanes {
		l.follow(raw.lanes[i])
	}
}

// join ends that when the symbols that the channel has matched all lie behind
// its last escape, and the raw one has matched the same. Line ends since then
// were the same for both as well.
func (c *channel) join(raw *channel, end int) {
	if c.pending > 0 {
		return
	}
	for i, l := range c.lanes {
		if r := raw.lanes[i]; l.depth > end-c.mark || l.state != r.state {
			return
		}
	}
	c.apart = false
}

func (c *channel) partial(end int, each func(hit)) {
	for _, l := range c.lanes {
		if l.depth > 0 {
			each(hit{l.start(l.depth), end, l.depth, l.a.fact(l.state).owner})
		}
	}
}
