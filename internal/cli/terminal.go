package cli

import (
	"io"
	"os"
	"strings"

	"executor/internal/term"

	xterm "golang.org/x/term"
)

func isTerminal(f any) bool {
	if l, ok := f.(*listing); ok {
		return l.width > 0
	}
	file, ok := f.(*os.File)
	return ok && file != nil && xterm.IsTerminal(int(file.Fd()))
}

// terminalWidth is how many columns w has, and 0 when it is no terminal.
func terminalWidth(w io.Writer) int {
	if l, ok := w.(*listing); ok {
		return l.width
	}
	if !isTerminal(w) {
		return 0
	}
	if width, _, err := xterm.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// forTerminal makes foreign text safe to show where w is a terminal. Elsewhere it
// stays as it is. Line breaks are kept.
func forTerminal(w io.Writer, text string) string {
	if !isTerminal(w) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = term.Safe(line)
	}
	return strings.Join(lines, "\n")
}
