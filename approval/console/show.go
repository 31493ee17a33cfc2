package console

import (
	"strings"

	"executor/internal/term"
)

// page writes the current page and its prompt, under a remark if there is one.
// What was typed before is thrown away, and only then an answer counts.
func (s *session) page(remark string) error {
	r := s.cur
	r.ask, s.line.hidden = askVerdict, false
	var out strings.Builder
	out.WriteString("\n")
	if remark != "" {
		out.WriteString("** " + term.Truncate(remark, r.cols-4) + "\n")
	}
	if len(r.pages) == 0 {
		out.WriteString("** " + r.ID + ": the window is too small to show it; enlarge it, or n: no")
		return s.prompt(out.String())
	}
	for _, part := range [][]string{r.head(r.Prompt, r.at, len(r.pages)), r.pages[r.at]} {
		for _, line := range part {
			out.WriteString(line + "\n")
		}
	}
	out.WriteString(strings.Join(r.prompt(r.Prompt, r.at, len(r.pages)), "\n"))
	if err := s.prompt(out.String()); err != nil {
		return err
	}
	r.complete = r.at == len(r.pages)-1
	return nil
}

// prompt writes text and "> ". Whatever was typed is forgotten just before these
// last two characters come up: who waits for them loses nothing.
func (s *session) prompt(text string) error {
	if err := s.tty.enter(); err != nil {
		return err
	}
	if err := s.tty.write(text); err != nil {
		return err
	}
	s.line.reset()
	s.tty.flush()
	return s.tty.write("> ")
}

// turn is Space or Enter on an empty line: the next page, or a reminder of what
// is awaited on the last one.
func (s *session) turn() error {
	r := s.cur
	if len(r.pages) == 0 || r.complete {
		return s.page("an answer is a line: " + r.choices())
	}
	r.at++
	return s.page("")
}
