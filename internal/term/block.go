package term

import (
	"fmt"
	"strings"
)

const (
	// maxSpaces is the longest run of spaces that Block shows as it is.
	maxSpaces = 8
	// maxBlank is the longest run of blank lines that Block shows as it is.
	maxBlank = 2
)

// Block returns text of several lines, each line in the escaped form. Only a line
// feed ends a line; a carriage return before it shows as \r. A run of more than 8 spaces becomes
// ⟨37 spaces⟩, a run of more than 2 empty lines one line ⟨12 blank lines⟩. The
// result has one line at least, and two different texts never give the same one.
// The caller puts a mark before each line that the program's own text never bears.
func Block(s string) []string {
	lines := strings.Split(s, "\n")
	var out []string
	for i := 0; i < len(lines); {
		blank := leadingBlank(lines[i:])
		switch {
		case blank > maxBlank:
			out = append(out, fmt.Sprintf("⟨%d blank lines⟩", blank))
			i += blank
		default:
			out = append(out, blockLine(lines[i]))
			i++
		}
	}
	return out
}

func leadingBlank(lines []string) int {
	for i, line := range lines {
		if line != "" {
			return i
		}
	}
	return len(lines)
}

func blockLine(s string) string {
	var b strings.Builder
	w := writer{out: &b}
	for len(s) > 0 {
		run := leadingSpaces(s)
		if run > maxSpaces {
			w.escape(fmt.Sprintf("⟨%d spaces⟩", run))
			s = s[run:]
			continue
		}
		s = s[w.next(s):]
	}
	return b.String()
}

func leadingSpaces(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
