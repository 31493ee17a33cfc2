package drift

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"executor/internal/term"
)

// Text is the report for a terminal: grouped by tool, worst first, one line per
// change, texts old above new. Foreign text is in the escaped form of
// internal/term. It ends with a newline.
func (r Report) Text() []byte {
	var b strings.Builder
	if len(r.Changes) == 0 {
		return []byte(r.Note + "\n")
	}
	r.byTool(func(changes []Change) {
		fmt.Fprintf(&b, "%s\n", safe(title(changes[0])))
		for _, c := range changes {
			c.line(&b)
		}
		b.WriteByte('\n')
	})
	b.WriteString(r.summary() + "\n")
	return []byte(b.String())
}

// AdaptedText is Text where the server adapts old calls: none is said to be refused.
func (r Report) AdaptedText() []byte {
	r.Changes = slices.Clone(r.Changes)
	for i := range r.Changes {
		r.Changes[i].adapted = true
	}
	return r.Text()
}

// title heads the changes of one tool, of the server, or of a schema alone.
func title(c Change) string {
	switch {
	case c.Tool != "":
		return c.Tool
	case c.Path == "instructions" || strings.HasPrefix(c.Path, "capabilities"):
		return "(server)"
	}
	return "(schema)"
}

func (c Change) mark() string {
	switch {
	case c.Ignored:
		return "ignored"
	case c.Security:
		return "SECURITY"
	case c.Class == Breaking:
		return "BREAKING"
	case c.Class == NeedsHuman:
		return "needs a person"
	}
	return string(c.Class)
}

func (c Change) line(b *strings.Builder) {
	fmt.Fprintf(b, "  %-14s  %s  [%s]", c.mark(), safe(c.Path), c.Rule)
	if d := c.detail(); d != "" {
		b.WriteString("  " + safe(d))
	}
	if notes := c.remarks(); len(notes) > 0 {
		b.WriteString(" — " + safe(strings.Join(notes, "; ")))
	}
	b.WriteByte('\n')
	if c.sideBySide() {
		quote(b, "old", c.Before)
		quote(b, "new", c.After)
	}
}

// quote shows a text whole, each of its lines behind a mark that no text can fake.
func quote(b *strings.Builder, label string, v any) {
	text, ok := v.(string)
	if !ok {
		fmt.Fprintf(b, "      %s (absent)\n", label)
		return
	}
	for i, line := range term.Block(text) {
		if i > 0 {
			label = "   "
		}
		fmt.Fprintf(b, "      %s | %s\n", label, line)
	}
}

// JSON is the report as an indented object, with a final newline. Control and
// format characters are escaped, so that it can be looked at, too.
func (r Report) JSON() ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return []byte(escapeInvisible(b.String())), nil
}

// escapeInvisible writes characters that do not show as JSON escapes.
func escapeInvisible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || !invisible(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Markdown is the report for a pull request: a table per tool. Foreign text
// stands in code spans, where it is neither markup nor a mention.
func (r Report) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "## Contract: %s\n\n", r.Verdict)
	if len(r.Changes) == 0 {
		return []byte(b.String() + r.Note + "\n")
	}
	r.byTool(func(changes []Change) {
		fmt.Fprintf(&b, "### %s\n\n| | where | rule | what | an old call |\n|---|---|---|---|---|\n", code(title(changes[0])))
		for _, c := range changes {
			fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s |\n", c.mark(), code(c.Path), c.Rule, code(c.detail()), code(strings.Join(c.remarks(), "; ")))
		}
		b.WriteByte('\n')
		for _, c := range changes {
			if c.sideBySide() {
				fmt.Fprintf(&b, "%s\n\n- old: %s\n- new: %s\n\n", code(c.Path), code(textOf(c.Before)), code(textOf(c.After)))
			}
		}
	})
	b.WriteString(r.summary() + "\n")
	return []byte(b.String())
}

func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return "(absent)"
}

// code is a code span that its content cannot end: the fence is longer than any
// run of backticks inside. A pipe would end the table's cell.
func code(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ReplaceAll(safe(s), "|", `\|`)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 || strings.HasPrefix(s, " ") {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// GitHub is the report as workflow commands, one per change that needs
// attention: `::error file=…::`. file is the contract's file in the repository.
func (r Report) GitHub(file string) []byte {
	var b strings.Builder
	for _, c := range r.Changes {
		level := c.level()
		if level == "" {
			continue
		}
		message := c.Path + " [" + c.Rule + "]"
		if d := c.detail(); d != "" {
			message += " " + d
		}
		if notes := c.remarks(); len(notes) > 0 {
			message += ": " + strings.Join(notes, "; ")
		}
		fmt.Fprintf(&b, "::%s file=%s,title=%s::%s\n", level, property(file), property(c.Rule), escapeData(safe(message)))
	}
	end := r.summary()
	if len(r.Changes) == 0 {
		end = r.Note
	}
	fmt.Fprintf(&b, "::notice file=%s,title=contract::%s\n", property(file), escapeData(end))
	return []byte(b.String())
}

// level is how loud a change is in CI: error, warning, note, or nothing.
func (c Change) level() string {
	switch {
	case c.Ignored:
		return ""
	case c.Class == Breaking, c.Level == "error" && c.Class == NeedsHuman:
		return "error"
	case c.Class == NeedsHuman:
		return "warning"
	}
	return ""
}

// escapeData and property are the escapes of GitHub's workflow commands.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(safe(s)))
}
