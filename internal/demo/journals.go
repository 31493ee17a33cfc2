package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"executor/internal/term"
	"executor/journal"
)

// journals reads what was written down, and verifies it.
func (s *story) journals(ctx context.Context) (err error) {
	r, err := journal.OpenReader(ctx, s.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s.chapter("What the journal says: executor journal query")
	for a, err := range r.Activities(ctx, journal.Filter{}) {
		if err != nil {
			return err
		}
		s.say("%s", term.Safe(line(a)))
	}
	s.say("\nand of sessions: executor journal query sessions")
	for x, err := range r.Sessions(ctx, journal.Filter{}) {
		if err != nil {
			return err
		}
		s.say("%s", term.Safe(fmt.Sprintf("%s  %s %s  %d calls, %d refused; served %s", x.Opened.Local().Format(time.TimeOnly),
			x.Client.Name, x.Client.Version, x.Calls["total"], x.Calls[journal.Refused], revisions(x.Catalogs[0].Tools))))
	}
	s.chapter("Was it touched? executor journal verify")
	report, err := journal.Verify(ctx, s.dir, journal.VerifyOptions{})
	if err != nil {
		return err
	}
	s.say("verdict %s: %d entries, %d signed checkpoints, root %s", report.Verdict, report.Size, report.Checkpoints, report.Root)
	if report.Verdict != journal.VerdictOK {
		return fmt.Errorf("the journal of the demo does not verify: %v", report.Findings)
	}
	s.say("\nThat is all. In earnest: executor init, then executor serve.")
	return nil
}

// revisions writes the tools of a list, by name.
func revisions(tools map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		words = append(words, fmt.Sprintf("%s %d", name, tools[name]))
	}
	return strings.Join(words, ", ")
}

func line(a journal.Activity) string {
	outcome := a.Outcome.Status
	switch {
	case a.Outcome.ErrorCode != "":
		outcome += " " + a.Outcome.ErrorCode
	case a.Outcome.HTTPStatus != nil:
		outcome += fmt.Sprintf(" %d", *a.Outcome.HTTPStatus)
	case a.Outcome.ExitCode != nil:
		outcome += fmt.Sprintf(" exit %d", *a.Outcome.ExitCode)
	}
	return fmt.Sprintf("%3d  %-12s  %-24s  %-9s  %s", a.Seq, a.Tool, a.DownstreamTarget, a.Decision.Result, outcome)
}
