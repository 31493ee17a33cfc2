package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"executor/internal/contract"
	"executor/internal/ctl"
	"executor/journal"
)

// A holder is an open session and the revisions that it was served, by tool.
type holder struct {
	id     string
	client string
	opened time.Time
	served map[string][]int
}

// openSessions is how many of the newest sessions are looked at for open ones.
const openSessions = 2000

// holders lists the sessions that are connected. Without a serve there are none,
// whatever a crash left without an end in the journal.
func (a *app) holders(ctx context.Context, dir string) (out []holder, err error) {
	c, _, err := a.client()
	if err == nil {
		_, err = c.Status(ctx)
	}
	if errors.Is(err, ctl.ErrNoDaemon) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := journal.OpenReader(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for s, err := range r.Sessions(ctx, journal.Filter{N: openSessions}) {
		if err != nil {
			return nil, err
		}
		if s.Closed == nil {
			out = append(out, holder{s.SessionID, s.Client.Name, s.Opened, servedRevisions(s.Catalogs)})
		}
	}
	return out, nil
}

func servedRevisions(catalogs []journal.Catalog) map[string][]int {
	out := map[string][]int{}
	for _, c := range catalogs {
		for tool, n := range c.Tools {
			if !slices.Contains(out[tool], n) {
				out[tool] = append(out[tool], n)
				slices.Sort(out[tool])
			}
		}
	}
	return out
}

// oldest is when the oldest of the sessions was opened; zero for none.
func oldest(sessions []holder) (t time.Time) {
	for _, s := range sessions {
		if t.IsZero() || s.opened.Before(t) {
			t = s.opened
		}
	}
	return t
}

// lastUsed is when the adapter from each earlier revision was last used, as the
// journal tells. It reads back to the publish that made the first of them.
func lastUsed(ctx context.Context, r *journal.Reader, t *contract.Tool) (map[int]time.Time, error) {
	out := map[int]time.Time{}
	var earlier []int
	var since time.Time
	for i, c := range t.Revisions() {
		if i == 1 {
			since, _ = t.PublishedAt(c.Revision)
		}
		if c != t.Current {
			earlier = append(earlier, c.Revision)
		}
	}
	if len(earlier) == 0 || since.IsZero() {
		return out, nil
	}
	f := journal.Filter{Match: journal.Match{Tool: []string{t.Name}}, Since: since, Reverse: true}
	for x, err := range r.Activities(ctx, f) {
		if err != nil {
			return nil, err
		}
		n := contract.AdaptedFrom(x.Adapter)
		if _, seen := out[n]; n > 0 && !seen {
			out[n] = x.Time
		}
		if len(out) == len(earlier) {
			break
		}
	}
	return out, nil
}

func joined(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}
