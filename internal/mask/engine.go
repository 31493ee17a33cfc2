package mask

// An engine is what is known of some secrets, in the three alphabets in which
// they are looked for. It does not change, but for wipe.
type engine struct {
	text, base64, hex *automaton
	kinds             [256]kind
	empty             bool
}

// A kind holds the classes of a byte in all three automata, and whether it is
// special: text, base64 and hex class from the low byte up, then the flags.
type kind uint32

const (
	special kind = 1 << 24 // needs more than a step of each automaton
	newline kind = 1 << 25 // special because base64 and hex go on behind it
)

// Depth down to which states have rows: deep enough for a chance match to be
// rare in text of that alphabet.
const (
	textRows   = 3
	base64Rows = 3
	hexRows    = 6
)

type tries struct{ text, base64, hex *trie }

func newTries() tries {
	return tries{newTrie(textAlias), newTrie(base64Alias), newTrie(hexAlias)}
}

// textAlias takes the space of a form for a space.
func textAlias(c byte) byte {
	if c == '+' {
		return ' '
	}
	return c
}

// base64Alias takes the URL alphabet for the standard one.
func base64Alias(c byte) byte {
	switch c {
	case '-':
		return '+'
	case '_':
		return '/'
	}
	return c
}

func hexAlias(c byte) byte {
	if 'A' <= c && c <= 'F' {
		return c | 0x20
	}
	return c
}

func newEngine(t tries) *engine {
	e := &engine{empty: len(t.text.nodes) == 1}
	e.text = newAutomaton(t.text, textRows)
	e.base64 = newAutomaton(t.base64, base64Rows)
	e.hex = newAutomaton(t.hex, hexRows)
	for c := range e.kinds {
		k := kind(e.text.class[c]) | kind(e.base64.class[c])<<8 | kind(e.hex.class[c])<<16
		switch c {
		case '%', '\\', '&':
			k |= special
		case '\r', '\n':
			k |= special | newline
		}
		e.kinds[c] = k
	}
	return e
}

func (e *engine) wipe() {
	e.text.wipe()
	e.base64.wipe()
	e.hex.wipe()
	clear(e.kinds[:])
}
