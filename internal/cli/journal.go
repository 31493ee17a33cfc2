package cli

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Read and verify what was done",
		Long: `The journal holds every call and every session of every agent, and every change
that you made. Reading and verifying need no passphrase.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.journalQuery(), a.journalShow(), a.journalTail(), a.journalVerify())
	return cmd
}

// filterFlags select activities or sessions.
type filterFlags struct {
	since, until string
	match        journal.Match
	n            int
	reverse      bool
}

func (f *filterFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.since, "since", "S", "", "from `TIME` on: RFC 3339, 2026-01-31, -1h, -3d, today, yesterday, monday")
	fl.StringVarP(&f.until, "until", "U", "", "up to `TIME`")
	fl.StringArrayVar(&f.match.Session, "session", nil, "of this session: its `ID` or the beginning of it (repeatable)")
	fl.StringArrayVar(&f.match.Tool, "tool", nil, "of the tool `NAME` (repeatable)")
	fl.StringArrayVar(&f.match.Target, "target", nil, "to this downstream `TARGET`, as the table shows it (repeatable)")
	fl.StringArrayVar(&f.match.Status, "status", nil, "with this `OUTCOME`: running, ok, error, refused, cancelled, timeout or unknown (repeatable)")
	fl.IntVarP(&f.n, "lines", "n", 0, "the newest `N` only")
	fl.BoolVarP(&f.reverse, "reverse", "r", false, "newest first")
}

func (f *filterFlags) filter(ctx context.Context, r *journal.Reader, now time.Time) (journal.Filter, error) {
	out := journal.Filter{Match: f.match, N: f.n, Reverse: f.reverse}
	if f.n < 0 {
		return out, usagef("-n %d: a number from 0 up is due", f.n)
	}
	for _, s := range f.match.Status {
		if !validStatus(s) {
			return out, usagef("--status %s: running, ok, error, refused, cancelled, timeout or unknown is due", s)
		}
	}
	var err error
	if out.Since, err = parseTime(f.since, now); err != nil {
		return out, usagef("--since: %v", err)
	}
	if out.Until, err = parseTime(f.until, now); err != nil {
		return out, usagef("--until: %v", err)
	}
	out.Session = nil
	for _, id := range f.match.Session {
		s, err := r.Session(ctx, id)
		if err != nil {
			return out, err
		}
		out.Session = append(out.Session, s.SessionID)
	}
	return out, nil
}

func validStatus(s string) bool {
	switch s {
	case journal.Running, journal.OK, journal.Error, journal.Refused, journal.Cancelled, journal.Timeout, journal.Unknown:
		return true
	}
	return false
}

func (a *app) openReader(ctx context.Context) (*journal.Reader, error) {
	dir, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return journal.OpenReader(ctx, dir)
}

func (a *app) journalQuery() *cobra.Command {
	var f filterFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "query [activity|sessions]",
		Short: "List calls, or sessions",
		Example: `  executor journal query --since today --status refused
  executor journal query sessions -n 5 -r
  executor journal query --tool ssh_exec -o json --jq '.[].raw_args'`,
		ValidArgs: []string{"activity", "sessions"},
		Args:      oneOf("activity", "sessions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.query(cmd.Context(), &f, out, len(args) == 1 && args[0] == "sessions")
		},
	}
	f.register(cmd)
	out.register(cmd)
	return cmd
}

func oneOf(words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		for _, w := range words {
			if len(args) == 1 && args[0] == w {
				return nil
			}
		}
		return usagef("%q: %s is due; see: %s --help", strings.Join(args, " "), strings.Join(words, " or "), cmd.CommandPath())
	}
}

func (a *app) query(ctx context.Context, flags *filterFlags, out outputFlags, sessions bool) (err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := flags.filter(ctx, r, time.Now())
	if err != nil {
		return err
	}
	if sessions {
		items, err := collect(r.Sessions(ctx, f))
		if err != nil {
			return err
		}
		return writeListing(a.Out, out, items, sessionColumns(out.format))
	}
	items, err := collect(r.Activities(ctx, f))
	if err != nil {
		return err
	}
	return writeListing(a.Out, out, items, activityColumns(out.format))
}

func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	out := []T{}
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
