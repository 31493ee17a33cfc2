package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// A Kind is a way in which a text may mislead its reader.
type Kind int

// The kinds, in the order in which Inspect reports them.
const (
	// Control characters, line feed and tab apart.
	Control Kind = iota
	// Bidi are controls that change the order of what is shown.
	Bidi
	// Invisible are characters that take no place, look like a space, or have no agreed sign.
	Invisible
	// BadUTF8 are bytes that are not UTF-8.
	BadUTF8
	// Confusable are words that mix letters which look alike.
	Confusable
	// RightToLeft are letters that a terminal may show in another order.
	RightToLeft
	// Spaces is a run of spaces, long enough to push text out of sight.
	Spaces
)

// A Finding is one kind of misleading content.
type Finding struct {
	Kind Kind
	// Count is how many there are; for Spaces, the length of the longest run.
	Count int
	// Example is the first one in the escaped form, safe to show. It is empty for Spaces.
	Example string
}

// Inspect reports what in a text may mislead its reader, at most one finding of
// each kind, and nothing for plain text.
func Inspect(s string) []Finding {
	var counts [Spaces + 1]Finding
	add := func(k Kind, example string) {
		if counts[k].Count == 0 {
			counts[k].Example = example
		}
		counts[k].Count++
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if k, odd := classify(r, n); odd {
			add(k, oddRune(s[i:i+n], r))
		}
		i += n
	}
	for word := range strings.FieldsFuncSeq(s, outsideWord) {
		if confusable(word) {
			add(Confusable, asciiOnly(word))
		}
	}
	if run := longestSpaces(s); run > maxSpaces {
		counts[Spaces].Count = run
	}
	return present(counts[:])
}

func present(all []Finding) []Finding {
	var out []Finding
	for k, f := range all {
		if f.Count > 0 {
			f.Kind = Kind(k)
			out = append(out, f)
		}
	}
	return out
}

func classify(r rune, size int) (Kind, bool) {
	switch {
	case r == utf8.RuneError && size == 1:
		return BadUTF8, true
	case r == '\n' || r == '\t' || r == '⟨' || r == '⟩':
		return 0, false
	case unicode.IsControl(r):
		return Control, true
	case unicode.Is(unicode.Bidi_Control, r):
		return Bidi, true
	case !shows(r):
		return Invisible, true
	}
	return RightToLeft, isRightToLeft(r)
}

func isRightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

func oddRune(s string, r rune) string {
	if shows(r) && r != utf8.RuneError {
		return escapeRune(r)
	}
	return Safe(s)
}

func longestSpaces(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != ' ' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
