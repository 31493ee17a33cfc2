package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/publish"
	"executor/journal"

	"github.com/spf13/cobra"
)

// A publishedInfo is what tool list shows of one tool.
type publishedInfo struct {
	Name string `json:"name"`
	// Revision is the current one, 0 for a tool that was retired.
	Revision    int           `json:"revision"`
	Replacement string        `json:"replacement"`
	Title       string        `json:"title"`
	Reaches     string        `json:"reaches"`
	Adapters    []adapterInfo `json:"adapters"`
	Sessions    []heldInfo    `json:"sessions"`
}

// An adapterInfo is an earlier revision whose calls are still taken.
type adapterInfo struct {
	Revision int        `json:"revision"`
	Until    string     `json:"until"` // the last day, "" for no end
	Sessions bool       `json:"sessions_from_before"`
	LastUsed *time.Time `json:"last_used"`
	CanGo    bool       `json:"can_go"`
}

// A heldInfo is an open session and the revisions that it was served.
type heldInfo struct {
	Session   string `json:"session_id"`
	Client    string `json:"client"`
	Revisions []int  `json:"revisions"`
}

func (a *app) toolList() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List your tools, and who still uses which revision",
		Long: `List the published tools: the current revision, the earlier ones whose calls are
still taken and when that was last needed, and the revisions that connected
sessions hold. "can go" names those whose window is over: "tool prune" removes
them.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				infos, err := a.toolInfos(cmd.Context(), h)
				if err != nil {
					return err
				}
				return writeListing(a.Out, out, infos, toolColumns())
			})
		},
	}
	pass.register(cmd)
	out.register(cmd)
	return cmd
}

func toolColumns() []column[publishedInfo] {
	return []column[publishedInfo]{
		{"name", func(t publishedInfo) string { return t.Name }},
		{"revision", func(t publishedInfo) string {
			switch {
			case t.Revision > 0:
				return fmt.Sprint(t.Revision)
			case t.Replacement != "":
				return "retired for " + t.Replacement
			}
			return "retired"
		}},
		{"reaches", func(t publishedInfo) string { return t.Reaches }},
		{"takes_calls_of", func(t publishedInfo) string { return each(t.Adapters, adapterText) }},
		{"can_go", func(t publishedInfo) string {
			over := slices.DeleteFunc(slices.Clone(t.Adapters), func(x adapterInfo) bool { return !x.CanGo })
			return each(over, func(x adapterInfo) string { return fmt.Sprint(x.Revision) })
		}},
		{"held_by", func(t publishedInfo) string { return heldText(t.Sessions) }},
	}
}

func each[T any](list []T, text func(T) string) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = text(x)
	}
	return strings.Join(words, "; ")
}

func adapterText(x adapterInfo) string {
	s := fmt.Sprint(x.Revision)
	if x.Until != "" {
		s += " until " + x.Until
	}
	if x.LastUsed == nil {
		return s + ", never used"
	}
	return s + ", used " + x.LastUsed.Local().Format("01-02 15:04:05")
}

// heldText counts sessions by the revisions that they hold.
func heldText(sessions []heldInfo) string {
	var order []string
	count := map[string]int{}
	for _, s := range sessions {
		held := joined(s.Revisions)
		if count[held] == 0 {
			order = append(order, held)
		}
		count[held]++
	}
	slices.Sort(order)
	return each(order, func(held string) string {
		if count[held] == 1 {
			return "revision " + held + ": 1 session"
		}
		return fmt.Sprintf("revision %s: %d sessions", held, count[held])
	})
}

func (a *app) toolInfos(ctx context.Context, h *daemon.Home) (out []publishedInfo, err error) {
	tools, err := daemon.Published(h.Vault)
	if err != nil {
		return nil, err
	}
	sessions, err := a.holders(ctx, h.Dir)
	if err != nil {
		return nil, err
	}
	r, err := journal.OpenReader(ctx, h.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, t := range tools {
		used, err := lastUsed(ctx, r, t)
		if err != nil {
			return nil, err
		}
		out = append(out, newToolInfo(t, sessions, used, time.Now()))
	}
	return out, nil
}

func newToolInfo(t *contract.Tool, sessions []holder, used map[int]time.Time, now time.Time) publishedInfo {
	newest := t.Newest()
	info := publishedInfo{
		Name: t.Name, Replacement: t.Replacement, Title: newest.Title, Reaches: reaches(newest),
		Adapters: []adapterInfo{}, Sessions: []heldInfo{},
	}
	if t.Current != nil {
		info.Revision = t.Current.Revision
	}
	over := publish.Over(t, now, oldest(sessions))
	for _, n := range t.Accepted() {
		if n == info.Revision {
			continue
		}
		w, _ := t.Window(n)
		x := adapterInfo{Revision: n, Sessions: w.Sessions, CanGo: slices.Contains(over, n)}
		if !w.Until.IsZero() {
			x.Until = w.Until.AddDate(0, 0, -1).Format(time.DateOnly)
		}
		if at, ok := used[n]; ok {
			x.LastUsed = &at
		}
		info.Adapters = append(info.Adapters, x)
	}
	for _, s := range sessions {
		if held := s.served[t.Name]; len(held) > 0 {
			info.Sessions = append(info.Sessions, heldInfo{s.id, s.client, held})
		}
	}
	return info
}

// reaches is where a tool's calls go, as its template says.
func reaches(c *contract.Contract) string {
	if p := c.Published; p.SSH != nil {
		return "ssh " + p.SSH.Host
	} else if p.HTTP != nil {
		return p.HTTP.Method + " " + p.HTTP.URL
	}
	return ""
}
