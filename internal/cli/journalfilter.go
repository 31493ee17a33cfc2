package cli

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"executor/journal"

	"github.com/spf13/cobra"
)

// filterFlags select activities or sessions.
type filterFlags struct {
	since, until, grep, after string
	match, exclude            journal.Match
	n                         int
	reverse                   bool
}

func (f *filterFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.since, "since", "S", "", "from `TIME` on: RFC 3339, 2026-01-31, -1h, -3d, today, yesterday, monday")
	fl.StringVarP(&f.until, "until", "U", "", "up to `TIME`")
	fl.StringVarP(&f.grep, "grep", "g", "", "in whose arguments, answer's facts, names or ids the `REGEXP` is found; in lower case it takes either case")
	fl.IntVarP(&f.n, "lines", "n", 0, "the newest `N` only")
	fl.StringVar(&f.after, "after-cursor", "", "what comes after the `CURSOR` that --show-cursor gave")
	registerMatch(cmd, "", &f.match)
	registerMatch(cmd, "exclude-", &f.exclude)
}

// registerMatch registers a flag for each field, with a prefix.
func registerMatch(cmd *cobra.Command, prefix string, m *journal.Match) {
	fl := cmd.Flags()
	for _, x := range []struct {
		name, usage string
		to          *[]string
	}{
		{"session", "of this session: its `ID` or the beginning of it (repeatable)", &m.Session},
		{"client", "of sessions whose client calls itself `NAME` (repeatable)", &m.Client},
		{"tool", "of the tool `NAME` (repeatable)", &m.Tool},
		{"target", "to this downstream `TARGET`, as the table shows it (repeatable)", &m.Target},
		{"credential", "with the credential `NAME` (repeatable)", &m.Credential},
		{"decision", "decided as `RESULT`: allowed, denied, expired, no_approver or changed (repeatable)", &m.Decision},
		{"status", "with this `OUTCOME`: running, ok, error, refused, cancelled, timeout or unknown (repeatable)", &m.Status},
	} {
		usage := x.usage
		if prefix != "" {
			_, rest, _ := strings.Cut(usage, "`")
			value, _, _ := strings.Cut(rest, "`")
			usage = "not what --" + x.name + " `" + value + "` selects"
		}
		fl.StringArrayVar(x.to, prefix+x.name, nil, usage)
	}
	usage := "at the tool's revision `N` (repeatable)"
	if prefix != "" {
		usage = "not what --revision `N` selects"
	}
	fl.Var((*numbers)(&m.Revision), prefix+"revision", usage)
}

// numbers is a flag that repeats, of whole numbers.
type numbers []int

func (n *numbers) Type() string { return "N" }

func (n *numbers) String() string {
	var parts []string
	for _, x := range *n {
		parts = append(parts, strconv.Itoa(x))
	}
	return strings.Join(parts, ",")
}

func (n *numbers) Set(s string) error {
	x, err := strconv.ParseUint(strings.TrimPrefix(s, "r"), 10, 31)
	if err != nil {
		return usagef("a whole number is due")
	}
	*n = append(*n, int(x))
	return nil
}

func (f *filterFlags) filter(ctx context.Context, r *journal.Reader, now time.Time) (journal.Filter, error) {
	out := journal.Filter{Match: f.match, Exclude: f.exclude, N: f.n, Reverse: f.reverse}
	if f.n < 0 {
		return out, usagef("-n %d: a number from 0 up is due", f.n)
	}
	for _, m := range []struct {
		prefix string
		match  *journal.Match
	}{{"", &out.Match}, {"exclude-", &out.Exclude}} {
		if err := checkMatch(ctx, r, m.prefix, m.match); err != nil {
			return out, err
		}
	}
	var err error
	if out.Since, err = parseTime(f.since, now); err != nil {
		return out, usagef("--since: %v", err)
	}
	if out.Until, err = parseTime(f.until, now); err != nil {
		return out, usagef("--until: %v", err)
	}
	if out.After, err = parseCursor(f.after); err != nil {
		return out, err
	}
	out.Grep, err = parseGrep(f.grep)
	return out, err
}

// checkMatch refuses words that no record has, and makes whole ids of the
// beginnings of session ids.
func checkMatch(ctx context.Context, r *journal.Reader, prefix string, m *journal.Match) error {
	for _, s := range m.Status {
		if !validStatus(s) {
			return usagef("--%sstatus %s: running, ok, error, refused, cancelled, timeout or unknown is due", prefix, s)
		}
	}
	for _, s := range m.Decision {
		if !validDecision(s) {
			return usagef("--%sdecision %s: allowed, denied, expired, no_approver or changed is due", prefix, s)
		}
	}
	var whole []string
	for _, id := range m.Session {
		s, err := r.Session(ctx, id)
		if err != nil {
			return err
		}
		whole = append(whole, s.SessionID)
	}
	m.Session = whole
	return nil
}

func validDecision(s string) bool {
	switch s {
	case journal.Allowed, journal.Denied, journal.Expired, journal.NoApprover, journal.Changed:
		return true
	}
	return false
}

// A cursor is a seq: what was at it never changes its place.
func parseCursor(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 62)
	if err != nil {
		return 0, usagef("--after-cursor %q: what --show-cursor gave is due", s)
	}
	return int64(n), nil
}

// parseGrep takes either case where the pattern has no capital, as journalctl does.
func parseGrep(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	flags := ""
	if strings.ToLower(pattern) == pattern {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, usagef("--grep: %v", err)
	}
	return re, nil
}
