package console

import (
	"fmt"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/term"
)

// typingRoom is how many columns the last line of a prompt leaves for "> " and an answer.
const typingRoom = 5

// A screen is a request cut into pages for one size of the window.
type screen struct {
	cols, rows int
	pages      [][]string
}

// newScreen lays p out. A window that is too small gets no pages, so that
// nothing can be approved there.
func newScreen(p *approval.Prompt, cols, rows int) *screen {
	s := &screen{cols: cols, rows: rows}
	if cols < minCols {
		return s
	}
	// The last column stays free: terminals differ in what happens behind it.
	lines, answers := body(p, cols-1, cols/3)
	// One row is kept for a remark above a page that is shown again.
	room := rows - 1 - s.tallest(p, len(lines))
	for room > 0 && len(lines) > 0 {
		n := min(room, len(lines))
		if 0 < answers && answers < n && n < len(lines) && len(lines)-answers <= room {
			n = answers // they stay in one piece
		}
		s.pages = append(s.pages, lines[:n])
		lines, answers = lines[n:], answers-n
	}
	return s
}

// tallest is how many rows the head and the prompt of any page take at most.
func (s *screen) tallest(p *approval.Prompt, pages int) int {
	head := len(s.head(p, pages-1, pages))
	return head + max(len(s.prompt(p, pages-1, pages)), len(s.prompt(p, max(0, pages-2), pages)))
}

func (s *screen) head(p *approval.Prompt, at, pages int) []string {
	text := fmt.Sprintf("%s  %s  %s", p.ID, p.Level, term.Truncate(term.Safe(p.Tool), s.cols/3))
	if pages > 1 {
		text += fmt.Sprintf("  page %d of %d", at+1, pages)
	}
	if p.Waiting > 0 {
		text += fmt.Sprintf("  (%d more waiting)", p.Waiting)
	}
	return fold("== ", text, s.cols-1)
}

func (s *screen) prompt(p *approval.Prompt, at, pages int) []string {
	var text string
	switch {
	case at < pages-1:
		text = p.ID + " Space: next, n: no"
	case p.Level == action.Presence:
		text = p.ID + " y, n [REASON] or b"
	default:
		text = p.ID + " y, e, n [REASON] or b"
	}
	return fold("", text, s.cols-1-typingRoom)
}
