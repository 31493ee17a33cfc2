package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalStats() *cobra.Command {
	var f filterFlags
	var out outputFlags
	var by string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count calls by tool, revision, status, client, target or day",
		Long: `Count calls. ADAPTED are those that were built on an older revision of their
tool and ran as that one meant; STALE those that were refused because their
revision no longer holds, and REPAIRED those of them after which the same
session got the same tool to run. PERSON are those about which somebody was
asked.`,
		Example: `  executor journal stats --by revision --since -7d
  executor journal stats --by client --status refused`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if !slices.Contains(journal.StatKeys(), by) {
				return usagef("--by %s: %s is due", by, strings.Join(journal.StatKeys(), ", "))
			}
			return a.stats(cmd.Context(), &f, by, out)
		},
	}
	cmd.Flags().StringVar(&by, "by", "tool", "what to count by: tool, revision, status, client, target or day, a `KEY`")
	f.register(cmd)
	out.register(cmd)
	return cmd
}

func (a *app) stats(ctx context.Context, flags *filterFlags, by string, out outputFlags) (err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := flags.filter(ctx, r, time.Now())
	if err != nil {
		return err
	}
	stats, err := r.Stats(ctx, by, f, time.Local)
	if err != nil {
		return err
	}
	return writeListing(a.listing(ctx, false), out, stats, statColumns(by))
}

func statColumns(by string) []column[journal.Stat] {
	n := func(name string, of func(journal.Stat) int64) column[journal.Stat] {
		return column[journal.Stat]{name, func(s journal.Stat) string { return fmt.Sprint(of(s)) }}
	}
	return []column[journal.Stat]{
		{by, func(s journal.Stat) string { return orDash(s.Key) }},
		n("calls", func(s journal.Stat) int64 { return s.Calls }),
		n("ok", func(s journal.Stat) int64 { return s.OK }),
		n("error", func(s journal.Stat) int64 { return s.Error }),
		n("refused", func(s journal.Stat) int64 { return s.Refused }),
		n("other", func(s journal.Stat) int64 { return s.Cancelled + s.Timeout + s.Unknown + s.Running }),
		{"adapted", adaptedText},
		n("stale", func(s journal.Stat) int64 { return s.Stale }),
		n("repaired", func(s journal.Stat) int64 { return s.Repaired }),
		n("person", func(s journal.Stat) int64 { return s.Person }),
	}
}

// adaptedText is how many calls came from each older revision.
func adaptedText(s journal.Stat) string {
	var parts []string
	for _, revision := range slices.Sorted(maps.Keys(s.Adapted)) {
		from := fmt.Sprintf("r%d", revision)
		if revision == 0 {
			from = "r?"
		}
		parts = append(parts, fmt.Sprintf("%s %d", from, s.Adapted[revision]))
	}
	return orDash(strings.Join(parts, ", "))
}
