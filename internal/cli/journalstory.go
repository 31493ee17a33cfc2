package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"executor/internal/term"
	"executor/journal"
)

// storyWidth is how wide the page of a call is where the terminal does not say.
const storyWidth = 100

// writeStory is the page that one wants in an incident: who asked for what, who
// let it run, what ran and what came of it, and at the end what was asked for
// beside what was made of it.
func writeStory(w io.Writer, x journal.Activity, s journal.Session) error {
	if err := writeFacts(w, append(activityFacts(x), askedBy(s)...)); err != nil {
		return err
	}
	width := terminalWidth(w)
	if width == 0 {
		width = storyWidth
	}
	ran := "AS IT RAN"
	if ranNot(x.Outcome) {
		ran = "AS IT WOULD HAVE RUN"
	}
	_, err := io.WriteString(w, strings.Join(sideBySide(
		"AS IT CAME", goneOr(x, "raw_args", x.RawArgs),
		ran, goneOr(x, "normalized_args", leaves(x.NormalizedArgs)), width), "\n")+"\n")
	return err
}

// ranNot reports whether a call ended before anything was done.
func ranNot(o journal.Outcome) bool {
	switch o.Status {
	case journal.Refused, journal.Error, journal.Cancelled, journal.Timeout:
		return !o.SideEffectStarted
	}
	return false
}

// goneOr says of a text that was redacted that it was.
func goneOr(x journal.Activity, field, text string) string {
	for _, f := range x.Redacted {
		if f == field {
			return "(redacted)"
		}
	}
	return text
}

func activityFacts(x journal.Activity) []fact {
	credential := "none"
	if c := x.Credential; c != nil {
		credential = fmt.Sprintf("%s version %d", c.Name, c.Version)
	}
	return []fact{
		{"activity", x.ActivityID},
		{"session", x.SessionID},
		{"entry", fmt.Sprintf("%d, %s", x.Seq, x.Time.Local().Format(time.RFC3339Nano))},
		{"settled", settledText(x)},
		{"tool", fmt.Sprintf("%s, revision %d (declared %d, evidence: %s)", x.Tool, x.SchemaRevision, x.DeclaredRevision, orNone(x.RevisionEvidence))},
		{"adapter", x.Adapter},
		{"contract", x.ContractDigest},
		{"target", goneOr(x, "downstream_target", x.DownstreamTarget)},
		{"credential", credential},
		{"decision", decisionText(x.Decision)},
		{"outcome", fmt.Sprintf("%s, after %d ms", statusText(x), x.Outcome.DurationMS)},
		{"side effect", map[bool]string{true: "started", false: "not started"}[x.Outcome.SideEffectStarted]},
		{"answer", answerText(x.Outcome)},
		{"downstream", goneOr(x, "downstream", pretty(x.Downstream))},
		{"handler", fmt.Sprintf("executor %s, commit %s, binary %s", x.HandlerBuild.Version, orNone(x.HandlerBuild.VCSRevision), x.HandlerBuild.BinarySHA256)},
		{"action", x.ActionDigest},
		{"redacted", strings.Join(x.Redacted, ", ")},
		{"stands for", countText(x.Count)},
	}
}

func countText(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("%d like calls", n)
}

func settledText(x journal.Activity) string {
	switch {
	case x.Settled != nil:
		return fmt.Sprintf("by entry %d, %s", x.SettledSeq, x.Settled.Local().Format(time.RFC3339Nano))
	case x.Outcome.Status == journal.Running:
		return "not yet"
	}
	return "by the same entry"
}

// askedBy is what is known of the agent that made a call.
func askedBy(s journal.Session) []fact {
	if s.SessionID == "" {
		return nil
	}
	return []fact{
		{"claims to be", strings.TrimSpace(s.Client.Name + " " + s.Client.Version)},
		{"observed", peerText(s.Peer)},
		{"same uid", fmt.Sprint(s.SameUID)},
		{"in a session", fmt.Sprintf("opened %s, with calls: %s", s.Opened.Local().Format(time.RFC3339), counts(s.Calls))},
	}
}

// peerText is who was seen at the other end, in one line: the process, its parent
// and so on.
func peerText(raw json.RawMessage) string {
	var p struct {
		UID   *int `json:"uid"`
		Chain []struct {
			PID  int    `json:"pid"`
			Name string `json:"name"`
		} `json:"chain"`
	}
	if json.Unmarshal(raw, &p) != nil || p.UID == nil || len(p.Chain) == 0 {
		return pretty(raw)
	}
	var parts []string
	for _, c := range p.Chain {
		parts = append(parts, fmt.Sprintf("%s[%d]", c.Name, c.PID))
	}
	return fmt.Sprintf("uid %d: %s", *p.UID, strings.Join(parts, " < "))
}

// leaves shows a JSON value as a line for each value in it, with its place. An
// empty object or list has none.
func leaves(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if len(raw) == 0 || dec.Decode(&v) != nil {
		return string(raw)
	}
	return strings.Join(appendLeaves(nil, "", v), "\n")
}

func appendLeaves(lines []string, at string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			lines = appendLeaves(lines, strings.TrimPrefix(at+"."+name, "."), v[name])
		}
		return lines
	case []any:
		for i, x := range v {
			lines = appendLeaves(lines, fmt.Sprintf("%s[%d]", at, i), x)
		}
		return lines
	case string:
		if strings.ContainsAny(v, "\n\r") { // it could pass for lines of its own
			v = strconv.Quote(v)
		}
		return append(lines, at+": "+v)
	case nil:
		return append(lines, at+": null")
	}
	return append(lines, fmt.Sprintf("%s: %v", at, v))
}

// sideBySide sets two texts, made safe, in two columns that fill width. Lines are
// folded, never cut.
func sideBySide(leftTitle, left, rightTitle, right string, width int) []string {
	half := max((width-3)/2, 20)
	l, r := folded(left, half), folded(right, half)
	lines := []string{filled(leftTitle, half) + "   " + rightTitle}
	for i := range max(len(l), len(r)) {
		var a, b string
		if i < len(l) {
			a = l[i]
		}
		if i < len(r) {
			b = r[i]
		}
		lines = append(lines, strings.TrimRight(filled(a, half)+" | "+b, " "))
	}
	return lines
}

func folded(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, term.Wrap(term.Safe(line), width)...)
	}
	return lines
}

func filled(s string, width int) string {
	return s + strings.Repeat(" ", max(width-term.Width(s), 0))
}
