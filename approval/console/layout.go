package console

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/term"
)

const (
	begins  = "  | " // a line of foreign text
	goes    = "  : " // the rest of one that is too wide
	indent  = "  "
	empty   = "⟨empty⟩"
	lineEnd = "⟨end⟩" // after a space that nobody would see
)

// A layout turns a prompt into lines that fit a width.
type layout struct {
	width int
	lines []string
}

// body returns everything there is to read about p, at most width columns wide,
// and at which line the answers begin. A tool's name longer than head does not fit
// into the head of the pages.
func body(p *approval.Prompt, width, head int) (lines []string, answers int) {
	l := &layout{width: width}
	warned := l.warnings(p)
	if term.Width(term.Safe(p.Tool)) > head {
		l.field(approval.Field{Label: "tool", Text: p.Tool})
	}
	for _, s := range p.Sheet.Sections {
		l.own("", term.Safe(s.Title))
		for _, f := range s.Fields {
			l.field(f)
		}
	}
	answers = len(l.lines)
	l.answers(p, warned)
	return l.lines, answers
}

// warnings says at the top what in the texts may mislead.
func (l *layout) warnings(p *approval.Prompt) (n int) {
	look := func(label, text string) {
		for _, f := range term.Inspect(text) {
			l.own("! ", term.Safe(label)+" "+f.Warning())
			n++
		}
	}
	look("tool", p.Tool)
	for _, s := range p.Sheet.Sections {
		for _, f := range s.Fields {
			look(f.Label, f.Text)
		}
	}
	look("what a yes covers", p.Scope)
	return n
}

// field shows one fact on its label's line if it fits there, else below.
func (l *layout) field(f approval.Field) {
	label, lines := term.Safe(f.Label), term.Block(f.Text)
	inline := indent + label + ": " + seen(lines[0])
	if f.Text == "" {
		inline = indent + label + ": " + empty
	}
	if len(lines) == 1 && term.Width(inline) <= l.width {
		l.lines = append(l.lines, inline)
		return
	}
	l.own(indent, label+", "+measure(f.Text)+":")
	l.block(lines)
}

func (l *layout) block(lines []string) {
	for _, line := range lines {
		mark := begins
		for _, piece := range term.Wrap(seen(line), l.width-len(begins)) {
			l.lines = append(l.lines, mark+piece)
			mark = goes
		}
	}
}

// seen marks a space at the end of a line.
func seen(line string) string {
	if strings.HasSuffix(line, " ") {
		return line + lineEnd
	}
	return line
}

func measure(s string) string {
	n := utf8.RuneCountInString(s)
	m := fmt.Sprintf("%d characters", n)
	if n != len(s) {
		m += fmt.Sprintf(" (%d bytes)", len(s))
	}
	if breaks := strings.Count(s, "\n"); breaks > 0 {
		m += fmt.Sprintf(", %d lines", breaks+1)
	}
	return m
}

// answers says at the end what each answer would do.
func (l *layout) answers(p *approval.Prompt, warned int) {
	l.own("", "Your answer")
	if warned > 0 {
		l.own(indent, fmt.Sprintf("!: read the warnings at the top (%d)", warned))
	}
	switch {
	case p.Level == action.Session && p.Scope != "":
		l.own(indent, "y: yes, and for the rest of this session to all of this:")
		l.block(term.Block(p.Scope))
	case p.Level == action.Presence:
		l.own(indent, "y: yes, this one call; asks for your passphrase")
	default:
		l.own(indent, "y: yes, this one call")
	}
	if p.Level != action.Presence {
		l.own(indent, fmt.Sprintf("e: yes, and this very action again in this session, up to %d times in %s",
			approval.ExactUses, short(approval.ExactFor)))
	}
	l.own(indent, "n, n REASON: no; the reason goes to the agent")
	if p.Flooding > 0 {
		l.own(indent, fmt.Sprintf("b: block the session and %d more of this client, which floods you: they are refused everything (asks once more)", p.Flooding))
	} else {
		l.own(indent, "b: block the session, it is refused everything (asks once more)")
	}
	l.own(indent, "unanswered after "+short(p.Limit)+", nothing is run")
}

func short(d time.Duration) string {
	if d >= time.Hour && d%time.Hour == 0 {
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d s", int(d.Round(time.Second)/time.Second))
}

// own adds the console's own words, folded at spaces behind mark.
func (l *layout) own(mark, text string) {
	l.lines = append(l.lines, fold(mark, text, l.width)...)
}

// fold breaks text at spaces where that is possible.
func fold(mark, text string, width int) []string {
	var out []string
	rest := strings.Repeat(" ", len(mark))
	for line := mark; ; line = rest {
		room := width - len(mark)
		pieces := term.Wrap(text, room)
		first := pieces[0]
		if len(pieces) == 1 {
			return append(out, line+first)
		}
		cut := strings.LastIndexByte(first, ' ')
		if cut <= 0 || text[len(first)] == ' ' {
			cut = len(first)
		}
		out = append(out, line+text[:cut])
		text = strings.TrimPrefix(text[cut:], " ")
	}
}
