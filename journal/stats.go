package journal

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// StatKeys are what Stats can count by.
func StatKeys() []string { return []string{"tool", "revision", "status", "client", "target", "day"} }

// A Stat counts the calls that have one thing in common. Its JSON names are
// stable. An entry that stands for several like calls counts as many.
type Stat struct {
	Key       string `json:"key"`
	Calls     int64  `json:"calls"`
	OK        int64  `json:"ok"`
	Error     int64  `json:"error"`
	Refused   int64  `json:"refused"`
	Cancelled int64  `json:"cancelled"`
	Timeout   int64  `json:"timeout"`
	Unknown   int64  `json:"unknown"`
	Running   int64  `json:"running"`
	// Adapted counts the calls that were built on an older revision and ran
	// under a newer one, by the older one.
	Adapted map[int]int64 `json:"adapted"`
	// Stale counts the calls refused as STALE_TOOL_SCHEMA, and Repaired those of
	// them after which the same session got the same tool to run.
	Stale    int64 `json:"stale"`
	Repaired int64 `json:"repaired"`
	// Person counts the calls about which somebody was asked.
	Person int64 `json:"person"`
}

// stale is the error code of a call that was built on a contract that no longer holds.
const stale = "STALE_TOOL_SCHEMA"

// Stats counts the activities that f selects by one of StatKeys, in the order of
// the keys. Zone says when a day begins. ErrInvalid: no such key.
func (r *Reader) Stats(ctx context.Context, by string, f Filter, zone *time.Location) ([]Stat, error) {
	if !slices.Contains(StatKeys(), by) {
		return nil, fmt.Errorf("%w: statistics by %q", ErrInvalid, by)
	}
	f.Reverse = false // a repair comes after what it repairs
	t := tally{by: by, zone: zone, stats: map[string]*Stat{}, open: map[[2]string][]*Stat{}}
	if by == "client" {
		var err error
		if t.clients, err = r.clients(ctx); err != nil {
			return nil, err
		}
	}
	for a, err := range r.Activities(ctx, f) {
		if err != nil {
			return nil, err
		}
		t.add(&a)
	}
	out := make([]Stat, 0, len(t.stats))
	for _, s := range t.stats {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Stat) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}

// clients maps each session to the name that its client gave itself.
func (r *Reader) clients(ctx context.Context) (map[string]string, error) {
	rows, err := load(ctx, r.db, "e.of IS NULL AND e.kind = 'session.open'")
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(rows))
	for _, e := range rows {
		out[e.SessionID] = e.texts[fieldClientName]
	}
	return out, nil
}

// A tally is Stats under way.
type tally struct {
	by      string
	zone    *time.Location
	clients map[string]string
	stats   map[string]*Stat
	// open holds where the stale calls of a session and tool were counted that
	// no later call has repaired yet.
	open map[[2]string][]*Stat
}

func (t *tally) add(a *Activity) {
	key := t.key(a)
	s := t.stats[key]
	if s == nil {
		s = &Stat{Key: key, Adapted: map[int]int64{}}
		t.stats[key] = s
	}
	n := int64(max(a.Count, 1))
	s.Calls += n
	if p := s.status(a.Outcome.Status); p != nil {
		*p += n
	}
	if a.Adapter != "" {
		s.Adapted[builtOn(a)] += n
	}
	if a.Decision.Basis == "asked" || a.Decision.ShownDigest != "" {
		s.Person += n
	}
	who := [2]string{a.SessionID, a.Tool}
	switch {
	case a.Outcome.ErrorCode == stale:
		s.Stale += n
		for range n {
			t.open[who] = append(t.open[who], s)
		}
	case a.Outcome.Status != Refused:
		for _, s := range t.open[who] {
			s.Repaired++
		}
		delete(t.open, who)
	}
}

func (t *tally) key(a *Activity) string {
	switch t.by {
	case "revision":
		return a.Tool + " " + strconv.Itoa(a.SchemaRevision)
	case "status":
		return a.Outcome.Status
	case "client":
		return t.clients[a.SessionID]
	case "target":
		return a.DownstreamTarget
	case "day":
		return a.Time.In(t.zone).Format(time.DateOnly)
	}
	return a.Tool
}

func (s *Stat) status(of string) *int64 {
	return map[string]*int64{OK: &s.OK, Error: &s.Error, Refused: &s.Refused, Cancelled: &s.Cancelled,
		Timeout: &s.Timeout, Unknown: &s.Unknown, Running: &s.Running}[of]
}

// adapterRevision is where an adapter names the revision that it starts from.
var adapterRevision = regexp.MustCompile(`^(?:revision |r)(\d{1,9})\b`)

// builtOn is the revision that an adapted call was built on, 0 where that is not known.
func builtOn(a *Activity) int {
	if a.DeclaredRevision != 0 && a.DeclaredRevision != a.SchemaRevision {
		return a.DeclaredRevision
	}
	if m := adapterRevision.FindStringSubmatch(a.Adapter); m != nil {
		n, _ := strconv.Atoi(m[1]) // nine digits at most
		return n
	}
	return 0
}
