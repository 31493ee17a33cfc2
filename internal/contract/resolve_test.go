package contract_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"executor/internal/action"
	"executor/internal/contract"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

// file reads a contract of the tool "deploy" from YAML.
func file(t testing.TB, yaml string) *contract.File {
	t.Helper()
	f, err := contract.ParseFile([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const deploy1 = `
tool: deploy
description: Deploy a branch.
revision: 1
input: {type: object, properties: {branch: {type: string, minLength: 1}}, required: [branch], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/previews", json: {branch: {$arg: branch}, region: us}, credential: ci}
`

const deploy2 = `
tool: deploy
description: Deploy a branch to a region.
revision: 2
input: {type: object, properties: {branch: {type: string, minLength: 1}, region: {type: string, enum: [us, eu]}}, required: [branch, region], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/previews", json: {branch: {$arg: branch}, region: {$arg: region}}, credential: ci}
accepts: [{revision: 1, change: migration, until: 2027-01-31, adapt: [{default: {region: us}}]}]
`

const deploy3 = `
tool: deploy
description: Deploy a branch to a zone.
revision: 3
input: {type: object, properties: {ref: {type: string, minLength: 1}, zone: {type: string, enum: [us-1, eu-1]}}, required: [ref, zone], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/previews", json: {branch: {$arg: ref}, region: {$arg: zone}}, credential: ci}
accepts:
  - {revision: 2, change: migration, until: 2027-03-31, adapt: [{rename: {branch: ref, region: zone}}, {map: {zone: {us: us-1, eu: eu-1}}}]}
  - {revision: 1, change: migration, until: 2027-03-31}
`

// history publishes files one day after the other, from 2026-12-01 on.
func history(t testing.TB, kind string, yamls ...string) *contract.Tool {
	t.Helper()
	var ops []contract.Op
	for i, y := range yamls {
		f := file(t, y)
		ops = append(ops, contract.Op{Op: contract.OpPublish, At: day("2026-12-01").AddDate(0, 0, i), File: f, Kind: kind})
	}
	tool, err := contract.Replay("deploy", ops)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func snapshot(t testing.TB, tools ...*contract.Tool) *contract.Snapshot {
	t.Helper()
	s, err := contract.NewSnapshot(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func body(t testing.TB, d contract.Draft) string {
	t.Helper()
	h, ok := d.(*contract.HTTPDraft)
	if !ok {
		t.Fatalf("draft %T", d)
	}
	return string(h.Body)
}

func TestResolve(t *testing.T) {
	now := day("2026-12-24")
	tool := history(t, contract.Migration, deploy1, deploy2)
	s := snapshot(t, tool)
	one, _ := tool.Revision(1)
	two, _ := tool.Revision(2)
	claim := func(c *contract.Contract) *contract.Claim {
		return &contract.Claim{Revision: c.Revision, Digest: c.Digest()}
	}
	const old, new = `{"branch":"main"}`, `{"branch":"main","region":"eu"}`
	for name, tt := range map[string]struct {
		args   string
		origin contract.Origin
		want   string // "built→ran evidence", "stale" or "invalid"
	}{
		"new call, no evidence":             {new, contract.Origin{}, "2→2 none"},
		"new call, served the current one":  {new, contract.Origin{Served: 2}, "2→2 session"},
		"new call, declared":                {new, contract.Origin{Claim: claim(two)}, "2→2 meta"},
		"old call, no evidence":             {old, contract.Origin{}, "1→2 none"},
		"old call, served the old one":      {old, contract.Origin{Served: 1}, "1→2 session"},
		"old call, declared":                {old, contract.Origin{Claim: claim(one)}, "1→2 meta"},
		"old call, declared as new":         {old, contract.Origin{Claim: claim(two)}, "invalid"},
		"new call, declared as old":         {new, contract.Origin{Claim: claim(one)}, "invalid"},
		"declared, of another digest":       {old, contract.Origin{Claim: &contract.Claim{Revision: 1, Digest: two.Digest()}}, "stale"},
		"declared, newer than the current":  {new, contract.Origin{Claim: &contract.Claim{Revision: 3}}, "stale"},
		"declared, never served":            {new, contract.Origin{Claim: &contract.Claim{Revision: 7}}, "stale"},
		"fits nothing that ever was":        {`{"branch":7}`, contract.Origin{}, "invalid"},
		"unknown argument":                  {`{"branch":"main","force":true}`, contract.Origin{}, "invalid"},
		"old call after the window's end":   {old, contract.Origin{Now: day("2027-02-01")}, "stale"},
		"old call on the window's last day": {old, contract.Origin{Now: day("2027-01-31").Add(23 * time.Hour)}, "1→2 none"},
		"declared, after the window's end":  {old, contract.Origin{Claim: claim(one), Now: day("2027-02-01")}, "stale"},
		"new call after the window's end":   {new, contract.Origin{Now: day("2027-02-01")}, "2→2 none"},
		"duplicate argument":                {`{"branch":"a","branch":"b"}`, contract.Origin{}, "invalid"},
		"case variant":                      {`{"Branch":"a"}`, contract.Origin{}, "invalid"},
		"stateless, declared":               {old, contract.Origin{Claim: claim(one), Stateless: true}, "1→2 meta"},
	} {
		if tt.origin.Now.IsZero() {
			tt.origin.Now = now
		}
		r, err := s.Resolve("deploy", json.RawMessage(tt.args), tt.origin)
		if got := verdict(r, err); got != tt.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, tt.want)
			continue
		}
		if strings.HasPrefix(tt.want, "1→2") {
			if got := body(t, r.Draft); got != `{"branch":"main","region":"us"}` || body(t, r.Old) != got {
				t.Errorf("%s: renders %s, and by the old contract %s", name, got, body(t, r.Old))
			}
			if !strings.Contains(r.Adapter, `region set to "us"`) {
				t.Errorf("%s: the adapter says %q", name, r.Adapter)
			}
		}
	}
	if _, err := s.Resolve("no_such_tool", nil, contract.Origin{}); !errors.Is(err, contract.ErrUnknownTool) {
		t.Errorf("unknown tool: %v", err)
	}
	var zero contract.Snapshot
	if _, err := zero.Resolve("deploy", nil, contract.Origin{}); !errors.Is(err, contract.ErrUnknownTool) {
		t.Errorf("the zero snapshot knows a tool: %v", err)
	}
}

func verdict(r contract.Resolution, err error) string {
	var stale *contract.StaleError
	var problems action.Problems
	switch {
	case errors.As(err, &stale):
		return "stale"
	case errors.As(err, &problems):
		return "invalid"
	case err != nil:
		return err.Error()
	}
	return string(rune('0'+r.Contract.Revision)) + "→" + string(rune('0'+r.Current.Revision)) + " " + r.Evidence
}

func TestAStaleCallIsToldWhatItLacks(t *testing.T) {
	s := snapshot(t, history(t, contract.Migration, deploy1, deploy2))
	_, err := s.Resolve("deploy", json.RawMessage(`{"branch":"main"}`), contract.Origin{Now: day("2027-02-01")})
	var stale *contract.StaleError
	if !errors.As(err, &stale) {
		t.Fatal(err)
	}
	if stale.Current.Revision != 2 || len(stale.Problems) != 1 || stale.Problems[0].Path != "/region" {
		t.Errorf("%+v", stale)
	}
}

func TestAdaptersLeadOneRevisionAtATime(t *testing.T) {
	tool := history(t, contract.Migration, deploy1, deploy2, deploy3)
	s := snapshot(t, tool)
	one, _ := tool.Revision(1)
	r, err := s.Resolve("deploy", json.RawMessage(`{"branch":"main"}`), contract.Origin{
		Claim: &contract.Claim{Revision: 1, Digest: one.Digest()}, Now: day("2027-01-01"),
	})
	if err != nil {
		t.Fatal(err)
	}
	// The new spelling of the region is another value: the comparison of both drafts,
	// which the caller makes, refuses this adapter.
	if got, old := body(t, r.Draft), body(t, r.Old); got != `{"branch":"main","region":"us-1"}` || old != `{"branch":"main","region":"us"}` {
		t.Errorf("renders %s, by the old contract %s", got, old)
	}
	_, err = s.Resolve("deploy", json.RawMessage(`{"branch":"main","region":"mars"}`), contract.Origin{Now: day("2027-01-01")})
	if verdict(contract.Resolution{}, err) != "invalid" {
		t.Errorf("a value that no revision took: %v", err)
	}
}

func TestSessionWindows(t *testing.T) {
	second := strings.Replace(deploy2, "until: 2027-01-31,", "until: 2027-01-31, sessions: true,", 1)
	s := snapshot(t, history(t, contract.Migration, deploy1, second)) // published 2026-12-02
	for name, tt := range map[string]struct {
		origin contract.Origin
		want   string
	}{
		"a session from before":  {contract.Origin{Opened: day("2026-12-01")}, "1→2 none"},
		"a session from after":   {contract.Origin{Opened: day("2026-12-03")}, "stale"},
		"stateless":              {contract.Origin{Stateless: true, Opened: day("2026-12-01")}, "stale"},
		"after the date as well": {contract.Origin{Opened: day("2026-12-01"), Now: day("2027-02-01")}, "stale"},
	} {
		if tt.origin.Now.IsZero() {
			tt.origin.Now = day("2026-12-24")
		}
		r, err := s.Resolve("deploy", json.RawMessage(`{"branch":"main"}`), tt.origin)
		if got := verdict(r, err); got != tt.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, tt.want)
		}
	}
}

func TestAFenceIsPassedByItsTokenAlone(t *testing.T) {
	fenced := strings.Replace(strings.Replace(deploy2, "accepts: [{revision: 1, change: migration, until: 2027-01-31, adapt: [{default: {region: us}}]}]",
		"declare_revision: true\naccepts: [{revision: 1, change: fence}]", 1), "required: [branch, region]", "required: [branch]", 1)
	tool := history(t, contract.Fence, deploy1, fenced)
	s := snapshot(t, tool)
	two, _ := tool.Revision(2)
	one, _ := tool.Revision(1)
	served, err := two.ServedInput()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(served), two.Token()) || !strings.Contains(string(served), `"required":["branch","contract_revision"]`) {
		t.Errorf("served input %s", served)
	}
	for name, tt := range map[string]struct {
		args   string
		origin contract.Origin
		want   string
	}{
		"with the token":         {`{"branch":"main","contract_revision":"` + two.Token() + `"}`, contract.Origin{}, "2→2 argument"},
		"without":                {`{"branch":"main"}`, contract.Origin{}, "stale"},
		"after a new list":       {`{"branch":"main"}`, contract.Origin{Served: 2}, "stale"},
		"declared in meta alone": {`{"branch":"main"}`, contract.Origin{Claim: &contract.Claim{Revision: 2, Digest: two.Digest()}}, "stale"},
		"declared old":           {`{"branch":"main"}`, contract.Origin{Claim: &contract.Claim{Revision: 1, Digest: one.Digest()}}, "stale"},
		"a made-up token":        {`{"branch":"main","contract_revision":"r2-00000000"}`, contract.Origin{}, "stale"},
		"token and meta differ":  {`{"branch":"main","contract_revision":"` + two.Token() + `"}`, contract.Origin{Claim: &contract.Claim{Revision: 1}}, "stale"},
		"a token of no text":     {`{"branch":"main","contract_revision":2}`, contract.Origin{}, "invalid"},
	} {
		tt.origin.Now = day("2026-12-24")
		r, err := s.Resolve("deploy", json.RawMessage(tt.args), tt.origin)
		if got := verdict(r, err); got != tt.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), two.Token()) {
			t.Errorf("%s: the error gives the token away: %v", name, err)
		}
	}
}

func TestARollbackTakesTheCallsOfWhatItBringsBack(t *testing.T) {
	back := strings.Replace(deploy1, "revision: 1", "revision: 3", 1)
	tool := history(t, contract.Fence, deploy1, deploy2, back)
	one, _ := tool.Revision(1)
	two, _ := tool.Revision(2)
	s := snapshot(t, tool)
	now := day("2026-12-24")
	r, err := s.Resolve("deploy", json.RawMessage(`{"branch":"main"}`), contract.Origin{Claim: &contract.Claim{Revision: 1, Digest: one.Digest()}, Now: now})
	if got := verdict(r, err); got != "1→3 meta" {
		t.Errorf("a call of the contract that came back: %s, %v", got, err)
	}
	r, err = s.Resolve("deploy", json.RawMessage(`{"branch":"main","region":"us"}`), contract.Origin{Claim: &contract.Claim{Revision: 2, Digest: two.Digest()}, Now: now})
	if got := verdict(r, err); got != "stale" {
		t.Errorf("a call of the one that was rolled back: %s, %v", got, err)
	}
}

func TestRetired(t *testing.T) {
	ops := []contract.Op{
		{Op: contract.OpPublish, At: day("2026-12-01"), File: file(t, deploy1)},
		{Op: contract.OpRetire, At: day("2026-12-02"), Replacement: "ship"},
	}
	tool, err := contract.Replay("deploy", ops)
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot(t, tool)
	var removed *contract.RemovedError
	if _, err := s.Resolve("deploy", json.RawMessage(`{"branch":"main"}`), contract.Origin{}); !errors.As(err, &removed) || removed.Replacement != "ship" {
		t.Errorf("%v", err)
	}
	if len(s.Served()) != 0 {
		t.Errorf("a retired tool is served: %v", s.Served())
	}
}

func TestPrunedAndOverlapping(t *testing.T) {
	ops := func(extra ...contract.Op) []contract.Op {
		return append([]contract.Op{
			{Op: contract.OpPublish, At: day("2026-12-01"), File: file(t, deploy1)},
			{Op: contract.OpPublish, At: day("2026-12-02"), File: file(t, deploy2), Kind: contract.Migration},
		}, extra...)
	}
	tool, err := contract.Replay("deploy", ops(contract.Op{Op: contract.OpPrune, Revisions: []int{1}}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = snapshot(t, tool).Resolve("deploy", json.RawMessage(`{"branch":"main"}`), contract.Origin{Now: day("2026-12-24")})
	if got := verdict(contract.Resolution{}, err); got != "stale" {
		t.Errorf("a call of a pruned revision: %s", got)
	}
	overlapping := ops()
	overlapping[1].Overlaps = []int{1}
	if tool, err = contract.Replay("deploy", overlapping); err != nil {
		t.Fatal(err)
	}
	_, err = snapshot(t, tool).Resolve("deploy", json.RawMessage(`{"branch":"main","region":"eu"}`), contract.Origin{Now: day("2026-12-24")})
	if got := verdict(contract.Resolution{}, err); got != "stale" {
		t.Errorf("a call that could be meant either way: %s", got)
	}
}

func TestParseClaim(t *testing.T) {
	for raw, ok := range map[string]bool{
		``: true, `{"revision":1}`: true, `{"revision":1,"digest":"sha256:00","accepts":[1]}`: true,
		`{"revision":0}`: false, `{"revision":-1}`: false, `{"revision":1.5}`: false, `{"Revision":1}`: false,
		`{"revision":1,"revision":2}`: false, `{}`: false, `[]`: false, `"1"`: false,
	} {
		if _, err := contract.ParseClaim(json.RawMessage(raw)); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// A session that was served one revision only is not taken to mean another one,
// because that one is accepted and its own is not any more.
func TestACallIsNotTakenForARevisionThatItsSessionNeverSaw(t *testing.T) {
	const one = `
tool: deploy
description: Move from one to the other.
revision: 1
input: {type: object, properties: {a: {type: string}, b: {type: string}}, required: [a, b], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/{a}/{b}", credential: ci}
`
	two := strings.NewReplacer("revision: 1", "revision: 2", "{a}/{b}", "{b}/{a}").Replace(one)
	three := strings.NewReplacer("revision: 1", "revision: 3", "{a}/{b}", "{b}/{a}/{c}", "b: {type: string}", "b: {type: string}, c: {type: string}", "[a, b]", "[a, b, c]").Replace(one) +
		"accepts: [{revision: 2, change: migration, until: 2027-01-31, adapt: [{default: {c: x}}]}]\n"
	s := snapshot(t, history(t, contract.Migration, one, two, three))
	args := json.RawMessage(`{"a":"x","b":"y"}`)
	for served, want := range map[int]string{0: "2→3 none", 1: "stale", 2: "2→3 session", 3: "2→3 session"} {
		r, err := s.Resolve("deploy", args, contract.Origin{Now: day("2026-12-24"), Served: served})
		if got := verdict(r, err); got != want {
			t.Errorf("served %d: %s, want %s", served, got, want)
		}
	}
}

// A call that lacks the token of the one revision that its session saw is not
// taken for an older one that it happens to fit.
func TestACallWithoutItsTokenIsNotAnOlderOne(t *testing.T) {
	two := strings.Replace(deploy2, "required: [branch, region]", "required: [branch]", 1) + "declare_revision: true\n"
	s := snapshot(t, history(t, contract.Migration, deploy1, two))
	for served, want := range map[int]string{0: "1→2 none", 1: "1→2 session", 2: "stale"} {
		r, err := s.Resolve("deploy", json.RawMessage(`{"branch":"main"}`), contract.Origin{Now: day("2026-12-24"), Served: served})
		if got := verdict(r, err); got != want {
			t.Errorf("served %d: %s, want %s", served, got, want)
		}
	}
}
