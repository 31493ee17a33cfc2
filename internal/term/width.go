package term

import (
	"unicode"

	"golang.org/x/text/width"
)

// Width returns how many columns a safe line takes: two for wide East Asian
// characters and emoji (Unicode Standard Annex 11), none for combining marks, one for the rest.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// Wrap cuts a safe line into pieces of at most width columns. Nothing is lost:
// the pieces joined are the line. Combining marks stay with their letter. A
// width below 2 counts as 2, the least that holds every character.
func Wrap(line string, width int) []string {
	width = max(width, 2)
	var out []string
	start, used := 0, 0
	for i, r := range line {
		n := runeWidth(r)
		if used+n > width {
			out = append(out, line[start:i])
			start, used = i, 0
		}
		used += n
	}
	return append(out, line[start:])
}

// Truncate cuts a safe line to at most width columns; where it cut, the last of
// them is "…". It is for tables. What a person approves is wrapped, never cut.
func Truncate(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	used := 0
	for i, r := range s {
		if used += runeWidth(r); used > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
