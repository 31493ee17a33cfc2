package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"executor/internal/term"
	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalTail() *cobra.Command {
	var follow bool
	var n int
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the newest calls; with -f go on as they come",
		Example: `  executor journal tail -f
  executor journal tail -n 100 -o jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if out.jq != "" {
				return usagef("--jq: tail does not filter; see: executor journal query --help")
			}
			if n < 0 {
				return usagef("-n %d: a number from 0 up is due", n)
			}
			return a.tail(cmd.Context(), n, follow, out)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as calls come and end")
	cmd.Flags().IntVarP(&n, "lines", "n", 10, "begin with the newest `N`")
	out.registerForms(cmd, []string{"table", "jsonl"})
	_ = cmd.Flags().MarkHidden("jq")
	return cmd
}

// pollEvery is how often a follower looks. Each look is a short read.
const pollEvery = 250 * time.Millisecond

func (a *app) tail(ctx context.Context, n int, follow bool, out outputFlags) (err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return a.follow(ctx, r, journal.Filter{N: n}, follow, out)
}

// follow shows the newest calls that f selects, as many as its N, and then goes
// on with those that begin or end.
func (a *app) follow(ctx context.Context, r *journal.Reader, f journal.Filter, goOn bool, out outputFlags) error {
	next, err := r.Last(ctx)
	if err != nil {
		return err
	}
	if f.N > 0 {
		first, err := collect(r.Activities(ctx, f))
		if err != nil {
			return err
		}
		if err := a.tailLines(first, out); err != nil {
			return err
		}
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for goOn {
		touched, seq, err := r.Tail(ctx, next)
		if err == nil {
			touched, err = held(ctx, r, f, touched)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		next = seq
		if err := a.tailLines(touched, out); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// held keeps what f selects.
func held(ctx context.Context, r *journal.Reader, f journal.Filter, items []journal.Activity) ([]journal.Activity, error) {
	var out []journal.Activity
	for _, x := range items {
		client, err := r.Client(ctx, x.SessionID)
		if err != nil {
			return nil, err
		}
		if f.Holds(x, client) {
			out = append(out, x)
		}
	}
	return out, nil
}

func (a *app) tailLines(items []journal.Activity, out outputFlags) error {
	for _, x := range items {
		if out.format == "jsonl" {
			if err := writeLine(a.Out, x); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(a.Out, tailLine(x, terminalWidth(a.Out))); err != nil {
			return err
		}
	}
	return nil
}

// tailLine is one call in one line. The target comes last, and with a width above 0
// is cut to keep it.
func tailLine(x journal.Activity, width int) string {
	line := fmt.Sprintf("%s  %4d  %-12s  %-11s  %s  %s", x.Time.Local().Format(time.TimeOnly), x.Seq, x.Tool, orDash(x.Decision.Result), statusText(x), x.DownstreamTarget)
	line = term.Safe(strings.TrimRight(line, " "))
	if width > 0 {
		line = term.Truncate(line, width)
	}
	return line
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
