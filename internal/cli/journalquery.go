package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"time"

	"executor/journal"

	"github.com/spf13/cobra"
)

// queryFlags are those of journal query.
type queryFlags struct {
	filterFlags
	out        outputFlags
	follow     bool
	showCursor bool
	exitStatus bool
	noPager    bool
}

// queried is what can be asked for; calls where nothing is said.
var queried = []string{"activity", "sessions", "changes"}

func (a *app) journalQuery() *cobra.Command {
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "query [activity|sessions|changes]",
		Short: "List calls, sessions, or your own changes",
		Long: `List calls, sessions, or your own changes, in the order of the journal, which is
that of SEQ, whatever a clock did. Values of one filter are alternatives;
different filters must all hold. Sessions are selected by --since, --until,
--session, --client and -n alone, changes by --since, --until, --grep, -n and
--after-cursor.

On a terminal a long table goes through $PAGER (less if it is not set).`,
		Example: `  executor journal query --since today --status refused
  executor journal query -g deploy --exclude-status ok -n 20 -r
  executor journal query sessions -n 5 -r
  executor journal query changes -g credential -S -7d
  executor journal query --tool ssh_exec -o json --jq '.[].raw_args'
  executor journal query -f --target https://api.example.com`,
		ValidArgs: queried,
		Args:      oneOf(queried...),
		RunE: func(cmd *cobra.Command, args []string) error {
			what := strings.Join(args, "") // one word at most
			if err := q.check(what); err != nil {
				return err
			}
			return a.query(cmd.Context(), &q, what)
		},
	}
	q.register(cmd)
	fl := cmd.Flags()
	fl.BoolVarP(&q.reverse, "reverse", "r", false, "newest first")
	fl.BoolVarP(&q.follow, "follow", "f", false, "go on as calls come and end; begins with the newest 10 unless -n says otherwise")
	fl.BoolVar(&q.showCursor, "show-cursor", false, "end with the cursor of the last call: on standard error unless it is a table")
	fl.BoolVar(&q.exitStatus, "exit-status", false, "exit code 1 when nothing was found; with --jq when its last result is null or false, or there is none")
	fl.BoolVar(&q.noPager, "no-pager", false, "write to the terminal itself")
	q.out.register(cmd)
	return cmd
}

func (q *queryFlags) check(what string) error {
	if err := q.out.check(); err != nil {
		return err
	}
	switch what {
	case "sessions":
		return q.checkSessions()
	case "changes":
		return q.checkChanges()
	}
	if !q.follow {
		return nil
	}
	switch {
	case q.out.format != "table" && q.out.format != "jsonl" || q.out.jq != "":
		return usagef("-f writes -o table or -o jsonl, without --jq")
	case q.reverse, q.until != "":
		return usagef("-f goes on with what comes: without -r and --until")
	case q.showCursor, q.exitStatus:
		return usagef("-f does not end by itself: without --show-cursor and --exit-status")
	}
	return nil
}

func (q *queryFlags) checkSessions() error {
	m, x := q.match, q.exclude
	asked := len(m.Tool) + len(m.Target) + len(m.Status) + len(m.Decision) + len(m.Credential) + len(m.Revision) +
		len(x.Session) + len(x.Client) + len(x.Tool) + len(x.Target) + len(x.Status) + len(x.Decision) + len(x.Credential) + len(x.Revision)
	if asked > 0 || q.grep != "" || q.follow || q.showCursor || q.after != "" {
		return usagef("sessions are selected by --since, --until, --session, --client and -n alone")
	}
	return nil
}

func (q *queryFlags) checkChanges() error {
	if !reflect.DeepEqual(q.match, journal.Match{}) || !reflect.DeepEqual(q.exclude, journal.Match{}) || q.follow || q.showCursor {
		return usagef("changes are selected by --since, --until, --grep, -n and --after-cursor alone")
	}
	return nil
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

func (a *app) query(ctx context.Context, q *queryFlags, what string) (err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := q.filter(ctx, r, time.Now())
	if err != nil {
		return err
	}
	if q.follow {
		if f.N == 0 {
			f.N = 10
		}
		return a.follow(ctx, r, f, true, q.out)
	}
	switch what {
	case "sessions":
		items, err := collect(r.Sessions(ctx, f))
		if err != nil {
			return err
		}
		return a.list(ctx, q, len(items), func(w *listing) error { return writeListing(w, q.out, items, sessionColumns(q.out.format)) })
	case "changes":
		items, err := collect(r.Changes(ctx, f))
		if err != nil {
			return err
		}
		return a.list(ctx, q, len(items), func(w *listing) error { return writeListing(w, q.out, items, changeColumns(q.out.format)) })
	}
	items, err := collect(r.Activities(ctx, f))
	if err != nil {
		return err
	}
	err = a.list(ctx, q, len(items), func(w *listing) error { return writeListing(w, q.out, items, activityColumns(q.out.format)) })
	if q.showCursor {
		err = errors.Join(err, a.cursor(q, f.After, items))
	}
	return err
}

// list writes through the pager where that is due, and makes of an empty list
// what --exit-status asks for. All was read before, so that a pager that waits
// holds nothing in the journal.
func (a *app) list(ctx context.Context, q *queryFlags, n int, write func(*listing) error) error {
	w := a.listing(ctx, q.out.format == "table" && q.out.jq == "" && !q.noPager)
	err := errors.Join(write(w), w.close())
	switch {
	case err != nil || !q.exitStatus:
		return err
	case q.out.jq != "" && !w.truth, q.out.jq == "" && n == 0:
		return &silent{exitFailed}
	}
	return nil
}

// cursor ends the output with the greatest seq so far.
func (a *app) cursor(q *queryFlags, last int64, items []journal.Activity) error {
	for _, x := range items {
		last = max(last, x.Seq)
	}
	w := a.Err
	if q.out.format == "table" && q.out.jq == "" {
		w = a.Out
	}
	_, err := fmt.Fprintf(w, "-- cursor: %d\n", last)
	return err
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
