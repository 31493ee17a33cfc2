package publish

import (
	"fmt"
	"slices"
	"strings"

	"executor/internal/drift"
	"executor/internal/term"
)

// Text is the report for a terminal, with foreign text made safe. It ends with a
// newline.
func (r *Report) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(term.Safe(fmt.Sprintf(format, args...)) + "\n") }
	switch {
	case r.Already:
		line("%s revision %d is already published; nothing changes", r.Tool, r.Revision)
		return b.String()
	case r.Previous == 0:
		line("%s revision %d: a new tool", r.Tool, r.Revision)
	case r.Kind == "":
		line("%s revision %d, against revision %d", r.Tool, r.Revision, r.Previous)
	default:
		line("%s revision %d, against revision %d: %s", r.Tool, r.Revision, r.Previous, r.kindWords())
	}
	if r.Previous > 0 && r.Findings.Verdict != drift.None {
		b.WriteString("\nFindings\n")
		b.WriteString(indent(string(r.findingsText())))
	}
	section(&b, "Authority", r.Authority)
	section(&b, "Old calls", r.checkLines())
	section(&b, "Overlap", r.overlapLines())
	if len(r.Refused) > 0 {
		section(&b, "Refused from then on", []string{"calls of " + revisions(r.Refused) + r.unsaid()})
	}
	section(&b, "Warnings", r.Warnings)
	section(&b, "For a person", r.Questions)
	var refusals []string
	for _, x := range r.Refusals {
		refusals = append(refusals, fmt.Sprintf("%s [%s]", x.What, x.Rule), "  acceptable with  "+x.Declare)
	}
	section(&b, "Not acceptable", refusals)
	return b.String()
}

// AnswersText is the five questions with their answers.
func (r *Report) AnswersText() string {
	var lines []string
	for _, a := range r.Answers {
		lines = append(lines, fmt.Sprintf("%s: %s", a.Name, a.Question), fmt.Sprintf("  %s: %s", a.Answer, a.Why))
	}
	var b strings.Builder
	section(&b, "Release questions", lines)
	return b.String()
}

// findingsText does not say refused of calls that the file has adapted.
func (r *Report) findingsText() []byte {
	if slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Revision == r.Previous }) {
		return r.Findings.AdaptedText()
	}
	return r.Findings.Text()
}

func (r *Report) kindWords() string {
	if r.Claim == "" || r.Claim == r.Kind {
		return r.Kind
	}
	return r.Kind + " (the file says " + r.Claim + ")"
}

func (r *Report) unsaid() string {
	if len(r.Unclaimed) == 0 {
		return ""
	}
	return "; accepts does not name " + revisions(r.Unclaimed)
}

func (r *Report) checkLines() (out []string) {
	for _, c := range r.Checks {
		if c.Outcome != Counterexample {
			out = append(out, fmt.Sprintf("revision %d keeps its meaning: %s", c.Revision, c.words()))
			continue
		}
		out = append(out, fmt.Sprintf("revision %d does not keep its meaning; the first of %d calls that shows it:", c.Revision, c.Cases))
		out = append(out, c.Example.lines()...)
	}
	return out
}

func (r *Report) overlapLines() (out []string) {
	for _, o := range r.Overlaps {
		out = append(out, fmt.Sprintf("a call of revision %d fits revision %d as it is, and does something else:", o.Revision, r.Revision))
		out = append(out, o.Example.lines()...)
	}
	return out
}

func (e *Example) lines() []string {
	out := []string{"  arguments  " + short(e.Arguments)}
	if e.Adapted != nil {
		out = append(out, "  adapted    "+short(e.Adapted))
	}
	out = append(out, "  then       "+e.Old)
	if e.Problem != "" {
		return append(out, "  now        "+e.Problem)
	}
	return append(out, "  now        "+e.New)
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	for _, l := range lines {
		b.WriteString("  " + term.Safe(l) + "\n")
	}
}

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
