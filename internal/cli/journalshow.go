package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalShow() *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "show SEQ|ID",
		Short: "Show one call, session or change whole",
		Long: `Show one call, session or change whole. A call is named by its SEQ from the
listing, or by its id; a session by its id, a change by its SEQ. The beginning
of an id is enough where it fits no other.`,
		Example: `  executor journal show 12
  executor journal show 019ad1e0-5c1f -o json`,
		Args: func(cmd *cobra.Command, args []string) error { return oneArg(cmd, args, "SEQ or ID") },
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.show(cmd.Context(), args[0], out)
		},
	}
	out.registerOne(cmd)
	return cmd
}

func (a *app) show(ctx context.Context, id string, out outputFlags) (err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	activity, err := findActivity(ctx, r, id)
	if err == nil {
		session, err := r.Session(ctx, activity.SessionID)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return err
		}
		return a.showRecord(ctx, out, activity, func(l *listing) error { return writeStory(l, activity, session) })
	}
	if !errors.Is(err, journal.ErrNotFound) {
		return err
	}
	change, err := findChange(ctx, r, id)
	if err == nil {
		return a.showRecord(ctx, out, change, func(l *listing) error { return writeFacts(l, changeFacts(change)) })
	}
	if !errors.Is(err, journal.ErrNotFound) {
		return err
	}
	session, err := r.Session(ctx, id)
	if errors.Is(err, journal.ErrNotFound) {
		return fmt.Errorf("no call, session or change has the number or id %q; list them with: executor journal query", id)
	}
	if err != nil {
		return err
	}
	return a.showRecord(ctx, out, session, func(l *listing) error { return writeFacts(l, sessionFacts(session)) })
}

// showRecord writes a record as JSON, or as its page, through the pager where
// that is due.
func (a *app) showRecord(ctx context.Context, out outputFlags, v any, page func(*listing) error) error {
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, v)
	}
	l := a.listing(ctx, true)
	return errors.Join(page(l), l.close())
}

// findChange finds a change by its seq.
func findChange(ctx context.Context, r *journal.Reader, id string) (journal.Change, error) {
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return journal.Change{}, journal.ErrNotFound
	}
	return r.Change(ctx, seq)
}

func changeFacts(c journal.Change) []fact {
	f := []fact{
		{"change", strconv.FormatInt(c.Seq, 10)},
		{"time", c.Time.Local().Format(time.RFC3339)},
		{"action", c.Action},
	}
	if c.By != "" {
		f = append(f, fact{"by", c.By})
	}
	if c.Generation > 0 {
		f = append(f, fact{"generation", fmt.Sprintf("%d of the vault, mac %s", c.Generation, c.MAC)})
	}
	if len(c.Detail) > 0 {
		f = append(f, fact{"detail", string(c.Detail)})
	}
	return f
}

// findActivity finds a call by its seq, which does not begin with 0 as the ids of
// our time do, or by its id.
func findActivity(ctx context.Context, r *journal.Reader, id string) (journal.Activity, error) {
	seq, err := strconv.ParseUint(id, 10, 62)
	if err != nil || id[0] == '0' {
		return r.Activity(ctx, id)
	}
	for x, err := range r.Activities(ctx, journal.Filter{After: int64(seq) - 1}) {
		if err != nil {
			return journal.Activity{}, err
		}
		if x.Seq == int64(seq) {
			return x, nil
		}
		break
	}
	return r.Activity(ctx, id)
}

func decisionText(d journal.Decision) string {
	if d.Result == "" {
		return "none was due"
	}
	parts := []string{d.Result, "level " + d.Level}
	if d.Basis != "" {
		parts = append(parts, "basis: "+d.Basis)
	}
	if d.Reason != "" {
		parts = append(parts, "reason: "+d.Reason)
	}
	if d.By != "" {
		parts = append(parts, "by "+d.By)
	}
	if d.ApprovalID != "" {
		parts = append(parts, "request "+d.ApprovalID)
	}
	text := strings.Join(parts, ", ")
	if d.ShownDigest != "" {
		text += "\nshown " + d.ShownDigest
	}
	return text
}

func answerText(o journal.Outcome) string {
	if o.ResponseSHA256 == "" {
		return ""
	}
	return fmt.Sprintf("%d bytes, %s, %d credentials masked", o.Bytes, o.ResponseSHA256, o.Redactions)
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func pretty(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	out, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(out)
}

func sessionFacts(s journal.Session) []fact {
	closed := "still open"
	if s.Closed != nil {
		closed = s.Closed.Local().Format(time.RFC3339) + ", " + s.CloseReason
	}
	f := []fact{
		{"session", s.SessionID},
		{"opened", s.Opened.Local().Format(time.RFC3339)},
		{"closed", closed},
		{"transport", s.Transport},
		{"claims to be", strings.TrimSpace(s.Client.Name + " " + s.Client.Version + ", MCP " + s.Client.Protocol)},
		{"same uid", fmt.Sprint(s.SameUID)},
		{"observed", peerText(s.Peer)},
		{"calls", counts(s.Calls)},
	}
	for _, c := range s.Catalogs {
		f = append(f, fact{"was served", fmt.Sprintf("%s, in the revisions %s\n%s", c.Time.Local().Format(time.RFC3339), counts(c.Tools), c.Digest)})
	}
	for _, g := range s.Grants {
		f = append(f, fact{"grant " + g.ID, g.Scope + ", by " + g.By})
	}
	return f
}

// counts writes numbers by name, in the order of the names.
func counts[N int | int64](numbers map[string]N) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, numbers[name]))
	}
	return strings.Join(parts, ", ")
}
