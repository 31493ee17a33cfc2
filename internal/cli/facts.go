package cli

import (
	"fmt"
	"io"
	"strings"

	"executor/internal/term"
)

// A fact is one line of a page about one thing. An empty text is left out.
type fact struct{ label, text string }

// writeFacts writes a page: labels to the left, text, made safe, to the right.
func writeFacts(w io.Writer, facts []fact) error {
	width := 0
	for _, f := range facts {
		if f.text != "" {
			width = max(width, len(f.label))
		}
	}
	for _, f := range facts {
		if f.text == "" {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			label := f.label
			if i > 0 {
				label = ""
			}
			if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, label, term.Safe(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeOne writes one thing as JSON.
func writeOne[T any](w io.Writer, o outputFlags, v T) error {
	switch {
	case o.jq != "":
		return writeJQ(w, o, v)
	case o.format == "jsonl":
		return writeLine(w, v)
	}
	return writeJSON(w, v)
}
