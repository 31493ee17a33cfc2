package term

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// greekLookalikes are the Greek letters that pass for Latin ones. Others do not: kΩ is no trick.
const greekLookalikes = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανιοκρτυχ"

func outsideWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

// confusable reports whether a word mixes Latin letters with Cyrillic ones or
// Greek lookalikes, or has letters that are styled copies of ASCII ones
// (full-width, mathematical).
func confusable(word string) bool {
	var latin, foreign bool
	for _, r := range word {
		switch {
		case unicode.In(r, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Lisu),
			strings.ContainsRune(greekLookalikes, r):
			foreign = true
		case styled(r):
			return true
		case unicode.Is(unicode.Latin, r):
			latin = true
		}
	}
	return latin && foreign
}

// styled reports whether a letter beyond Latin-1 stands for ASCII letters.
func styled(r rune) bool {
	if r < 0x100 || !unicode.IsLetter(r) {
		return false
	}
	plain := norm.NFKC.String(string(r))
	return plain != "" && strings.Trim(plain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// maxExample is how many runes of a word are repeated in a finding.
const maxExample = 24

func asciiOnly(word string) string {
	var b strings.Builder
	n := 0
	for _, r := range word {
		if n++; n > maxExample {
			return b.String() + "…"
		}
		if r < 0x80 {
			b.WriteString(Safe(string(r)))
		} else {
			b.WriteString(escapeRune(r))
		}
	}
	return b.String()
}
