package daemon

import (
	"fmt"
	"strings"

	"executor/journal"
)

// say tells the operator a line: every screen, and whoever reads serve's output.
func (d *daemon) say(line string) {
	d.desk.Say(line)
	if d.Say != nil {
		d.Say(line)
	}
}

// event tells of a call that ended.
func (d *daemon) event(a journal.Activity) {
	d.say(activityLine(a))
}

// activityLine is one call in a line: when, what, where, how it was decided, how it ended.
func activityLine(a journal.Activity) string {
	parts := []string{a.Time.Local().Format("15:04:05"), a.Tool}
	if a.DownstreamTarget != "" {
		parts = append(parts, a.DownstreamTarget)
	}
	o := a.Outcome
	switch {
	case o.ErrorCode != "":
		parts = append(parts, o.Status, o.ErrorCode)
	case o.HTTPStatus != nil:
		parts = append(parts, o.Status, fmt.Sprint(*o.HTTPStatus))
	case o.ExitCode != nil:
		parts = append(parts, o.Status, fmt.Sprintf("exit %d", *o.ExitCode))
	default:
		parts = append(parts, o.Status)
	}
	if a.Decision.Basis != "" {
		parts = append(parts, "("+a.Decision.Basis+")")
	}
	return strings.Join(append(parts, fmt.Sprintf("%d ms", o.DurationMS)), "  ")
}

// panicked keeps what a panic said from the agents. It may quote an agent, so it
// goes to the operator as one escaped line.
func (d *daemon) panicked(method string, value any, stack []byte) {
	d.say(fmt.Sprintf("panic in %s: %v: %s", method, value, stack))
}
