package journal_test

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"executor/journal"

	"github.com/google/go-cmp/cmp"
)

// TestFiltersAgainstOracle compares each answer with a plain walk over all
// activities, for many random filters, with a clock that jumps both ways.
func TestFiltersAgainstOracle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	now := start
	w.now = func() time.Time {
		now = now.Add(time.Duration(random.IntN(90)-30) * time.Minute)
		return now
	}
	j := w.open(t)
	client := map[string]string{}
	for s := range 5 {
		id, name := fmt.Sprintf("session-%d", s), fmt.Sprintf("agent-%d", s%3)
		client[id] = name
		openSession(t, j, id, name)
	}
	for n := range 300 {
		a := call(n)
		a.SessionID = fmt.Sprintf("session-%d", random.IntN(5))
		a.Tool = pick(random, "http_request", "http_request", "ssh_exec")
		a.SchemaRevision = 1 + random.IntN(3)
		a.DownstreamTarget = pick(random, "https://a.example.com", "ssh://b", "executor")
		if random.IntN(3) == 0 {
			a.Credential = nil
		} else {
			a.Credential.Name = pick(random, "api", "ci")
		}
		if random.IntN(4) == 0 {
			a.Tool, a.KnownTool = pick(random, "ssh_exec", "made_up"), random.IntN(2) == 0
			a.Decision.Result = pick(random, "", journal.Denied, journal.Expired)
			a.Outcome.Status = journal.Refused
			if _, err := j.Refuse(t.Context(), a, 1+random.IntN(3)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if _, err := j.Intend(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if random.IntN(5) > 0 {
			o, _ := okOutcome()
			o.Status = pick(random, journal.OK, journal.OK, journal.Error, journal.Timeout)
			if _, err := j.Settle(t.Context(), a.ActivityID, a.SessionID, o, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := w.reader(t)
	all := collect(t, r.Activities(t.Context(), journal.Filter{}))
	if len(all) != 300 {
		t.Fatalf("%d activities, want 300", len(all))
	}
	hits := 0
	for range 200 {
		f := randomFilter(random, start)
		var want []int64
		for _, a := range all {
			if f.Holds(a, client[a.SessionID]) != matches(f, a, client) {
				t.Fatalf("filter %+v of %+v: Holds differs", f, a)
			}
			if matches(f, a, client) {
				want = append(want, a.Seq)
			}
		}
		if f.N > 0 {
			want = want[max(0, len(want)-f.N):]
		}
		if f.Reverse {
			slices.Reverse(want)
		}
		var got []int64
		for _, a := range collect(t, r.Activities(t.Context(), f)) {
			got = append(got, a.Seq)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("filter %+v (-want +got):\n%s", f, d)
		}
		hits += len(got)
	}
	if hits < 500 {
		t.Errorf("only %d hits: the filters test nothing", hits)
	}
	w.mustVerify(t, journal.VerdictOK)
	checkTotals(t, r, all)
}

// TestFiltersAreLookedUp: whatever a filter starts from is searched, not gone
// through from end to end, and comes in order.
func TestFiltersAreLookedUp(t *testing.T) {
	plans, err := story(t).reader(t).Plans(t.Context())
	must(t, err)
	for name, plan := range plans {
		searched := 0
		for _, step := range plan {
			what, rest, _ := strings.Cut(step, " ")
			table, _, _ := strings.Cut(rest, " ")
			switch {
			case what == "SEARCH":
				searched++
			case what == "SCAN" && table != "d" && table != "json_each", strings.Contains(step, "TEMP B-TREE"):
				t.Errorf("%s: %s, in\n%s", name, step, strings.Join(plan, "\n"))
			}
		}
		if searched < 2 {
			t.Errorf("%s: the plan says nothing: %q", name, plan)
		}
	}
}

// checkTotals compares what sessions are said to have called with the activities,
// some of which the table calls holds and some of which it does not hold yet.
func checkTotals(t *testing.T, r *journal.Reader, all []journal.Activity) {
	t.Helper()
	want := map[string]map[string]int64{}
	for _, a := range all {
		if want[a.SessionID] == nil {
			want[a.SessionID] = map[string]int64{}
		}
		n := int64(max(a.Count, 1))
		want[a.SessionID]["total"] += n
		want[a.SessionID][a.Outcome.Status] += n
	}
	var bySQL []string
	for id, calls := range want {
		s, err := r.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(calls, s.Calls); d != "" {
			t.Errorf("calls of %s (-want +got):\n%s", id, d)
		}
		bySQL = append(bySQL, fmt.Sprintf("[%s %d %d]", id, calls["total"], calls[journal.Refused]))
	}
	slices.Sort(bySQL)
	var got []string
	must(t, r.SQL(t.Context(), "SELECT session_id, calls, refused FROM sessions ORDER BY session_id", func(_ []string, row []driver.Value) error {
		if row != nil {
			got = append(got, fmt.Sprint(row))
		}
		return nil
	}))
	if d := cmp.Diff(bySQL, got); d != "" {
		t.Errorf("by SQL (-want +got):\n%s", d)
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func randomMatch(r *rand.Rand) (m journal.Match) {
	some := func(list ...string) (out []string) {
		if r.IntN(5) > 0 {
			return nil
		}
		for range 1 + r.IntN(2) {
			out = append(out, pick(r, list...))
		}
		return out
	}
	m.Session = some("session-0", "session-3", "nobody")
	m.Client = some("agent-0", "agent-2", "nobody")
	m.Tool = some("http_request", "ssh_exec", "made_up", "nothing")
	m.Target = some("https://a.example.com", "ssh://b", "executor")
	m.Status = some(journal.OK, journal.Error, journal.Refused, journal.Running, journal.Timeout)
	m.Decision = some(journal.Allowed, journal.Denied, journal.Expired)
	m.Credential = some("api", "ci", "none")
	if r.IntN(6) == 0 {
		m.Revision = []int{1 + r.IntN(3), 1 + r.IntN(3)}
	}
	return m
}

func randomFilter(r *rand.Rand, start time.Time) journal.Filter {
	f := journal.Filter{Match: randomMatch(r), N: pick(r, 0, 0, 1, 7, 50), Reverse: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		f.Exclude = randomMatch(r)
	}
	if r.IntN(4) == 0 {
		f.Since = start.Add(time.Duration(r.IntN(9000)) * time.Minute)
	}
	if r.IntN(4) == 0 {
		f.Until = start.Add(time.Duration(r.IntN(9000)) * time.Minute)
	}
	if r.IntN(5) == 0 {
		f.Grep = regexp.MustCompile(pick(r, `items/1\d\d"`, `items/.*7"`, `never`))
	}
	if r.IntN(5) == 0 {
		f.After = int64(r.IntN(500))
	}
	return f
}

// matches is what Filter says, word for word.
func matches(f journal.Filter, a journal.Activity, client map[string]string) bool {
	in := func(list []string, v string) (asked, hit bool) { return len(list) > 0, slices.Contains(list, v) }
	credential := ""
	if a.Credential != nil {
		credential = a.Credential.Name
	}
	each := func(m journal.Match, fn func(asked, hit bool)) {
		fn(in(m.Session, a.SessionID))
		fn(in(m.Client, client[a.SessionID]))
		fn(in(m.Tool, a.Tool))
		fn(in(m.Target, a.DownstreamTarget))
		fn(in(m.Status, a.Outcome.Status))
		fn(in(m.Decision, a.Decision.Result))
		fn(in(m.Credential, credential))
		fn(len(m.Revision) > 0, slices.Contains(m.Revision, a.SchemaRevision))
	}
	ok := a.Seq > f.After
	if f.Grep != nil {
		ok = ok && f.Grep.MatchString(a.RawArgs) // all that the patterns of randomFilter can be in
	}
	each(f.Match, func(asked, hit bool) { ok = ok && (!asked || hit) })
	each(f.Exclude, func(asked, hit bool) { ok = ok && !(asked && hit) })
	if !f.Since.IsZero() {
		ok = ok && !a.Time.Before(f.Since)
	}
	if !f.Until.IsZero() {
		ok = ok && !a.Time.After(f.Until)
	}
	return ok
}

// TestActivitiesInPages reads more than a page, both ways, and stops early.
func TestActivitiesInPages(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	const n = 450
	done := make(chan error, n)
	for i := range n {
		go func() {
			_, err := j.Intend(t.Context(), call(i))
			done <- err
		}()
	}
	for range n {
		must(t, <-done)
	}
	r := w.reader(t)
	forward := collect(t, r.Activities(t.Context(), journal.Filter{}))
	backward := collect(t, r.Activities(t.Context(), journal.Filter{Reverse: true}))
	slices.Reverse(backward)
	if d := cmp.Diff(forward, backward); d != "" || len(forward) != n {
		t.Errorf("%d activities; forward and backward differ:\n%s", len(forward), d)
	}
	seen := 0
	for _, err := range r.Activities(t.Context(), journal.Filter{}) {
		must(t, err)
		if seen++; seen == 3 {
			break
		}
	}
}

func TestActivityByPrefix(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	run(t, j, call(1))
	run(t, j, call(21))
	r := w.reader(t)
	for prefix, want := range map[string]error{
		call(1).ActivityID:       nil,
		call(21).ActivityID[:35]: nil,
		call(1).ActivityID[:20]:  journal.ErrAmbiguous,
		"0198b":                  journal.ErrNotFound,
		"":                       journal.ErrNotFound,
		call(1).ActivityID + "0": journal.ErrNotFound,
		"%":                      journal.ErrNotFound,
	} {
		_, err := r.Activity(t.Context(), prefix)
		if want == nil {
			must(t, err)
		} else {
			wantErr(t, err, want)
		}
	}
}
