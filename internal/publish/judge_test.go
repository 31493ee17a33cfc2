package publish_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"executor/internal/contract"
	"executor/internal/publish"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func file(t testing.TB, yaml string) *contract.File {
	t.Helper()
	f, err := contract.ParseFile([]byte(yaml))
	if err != nil {
		t.Fatalf("%v\n%s", err, yaml)
	}
	return f
}

// judge publishes all but the last file, whatever the rules say, and judges the last.
func judge(t testing.TB, yamls ...string) *publish.Report {
	t.Helper()
	var ops []contract.Op
	for i, y := range yamls[:len(yamls)-1] {
		r := report(t, ops, y, day("2026-12-01").AddDate(0, 0, i))
		if !r.Publishable() {
			t.Fatalf("revision %d of the history is refused: %s", r.Revision, r.Text())
		}
		ops = append(ops, r.Op())
	}
	return report(t, ops, yamls[len(yamls)-1], day("2026-12-24"))
}

func report(t testing.TB, ops []contract.Op, yaml string, now time.Time) *publish.Report {
	t.Helper()
	r, err := publish.Judge(file(t, yaml), ops, publish.Options{Now: now})
	if err != nil {
		t.Fatalf("%v\n%s", err, yaml)
	}
	return r
}

const one = `
tool: deploy
description: Deploy a branch.
revision: 1
input: {type: object, properties: {branch: {type: string, minLength: 1}}, required: [branch], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/previews", json: {branch: {$arg: branch}, region: us}, credential: ci}
`

const two = `
tool: deploy
description: Deploy a branch.
revision: 2
input: {type: object, properties: {branch: {type: string, minLength: 1}, region: {type: string, enum: [us, eu]}}, required: [branch, region], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/previews", json: {branch: {$arg: branch}, region: {$arg: region}}, credential: ci}
accepts: [{revision: 1, change: migration, until: 2027-01-31, adapt: [{default: {region: us}}]}]
`

// edit replaces pairs of texts, each of which must be there.
func edit(t testing.TB, s string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(s, pairs[i]) {
			t.Fatalf("%q is not in %s", pairs[i], s)
		}
		s = strings.Replace(s, pairs[i], pairs[i+1], 1)
	}
	return s
}

// next is revision 2 of one, with edits.
func next(t testing.TB, pairs ...string) string {
	t.Helper()
	return edit(t, edit(t, one, "revision: 1", "revision: 2"), pairs...)
}

func rules(r *publish.Report) (out []string) {
	for _, x := range r.Refusals {
		out = append(out, x.Rule)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestKinds(t *testing.T) {
	const optional = `properties: {branch: {type: string, minLength: 1}, label: {type: string}}`
	const branch = `properties: {branch: {type: string, minLength: 1}}`
	for name, tt := range map[string]struct {
		files   []string
		kind    string
		verdict publish.Verdict
		check   string // outcome for revision 1, "" for none
	}{
		"a new tool":                            {[]string{one}, "", publish.Acceptable, ""},
		"optional added":                        {[]string{one, next(t, branch, optional, "region: us}", "region: us, label: {$arg: label}}")}, "additive", publish.Acceptable, "tested"},
		"nothing but a level":                   {[]string{one, next(t, "\nhttp:", "\napproval: presence\nhttp:")}, "additive", publish.Acceptable, "proved"},
		"wording":                               {[]string{one, next(t, "Deploy a branch.", "Deploy a tag.")}, "additive", publish.NeedsPerson, "proved"},
		"a default for a new required argument": {[]string{one, two}, "migration", publish.Acceptable, "proved"},
		"renamed": {[]string{one, next(t, branch, `properties: {ref: {type: string, minLength: 1}}`, "[branch]", "[ref]", "{$arg: branch}", "{$arg: ref}") +
			"accepts: [{revision: 1, change: migration, until: 2027-01-31, adapt: [{rename: {branch: ref}}]}]"}, "migration", publish.Acceptable, "proved"},
		"tightened, and old calls refused without a word": {[]string{one, next(t, "minLength: 1", "minLength: 3")}, "migration", publish.Refused, ""},
		"a pattern that old calls may not fit":            {[]string{one, next(t, "minLength: 1", "pattern: '^[a-z]+$'")}, "migration", publish.Refused, ""},
		"another host, fenced": {[]string{one, next(t, "ci.example.com", "cd.example.com", "revision: 2", "revision: 2\ndeclare_revision: true") +
			"accepts: [{revision: 1, change: fence}]"}, "fence", publish.NeedsPerson, ""},
		"a claim that is stricter than what is found": {[]string{one, next(t, "revision: 2", "revision: 2\ndeclare_revision: true") +
			"accepts: [{revision: 1, change: fence}]"}, "fence", publish.NeedsPerson, ""},
		"a rollback": {[]string{one, two, edit(t, one, "revision: 1", "revision: 3")}, "migration", publish.Refused, ""},
	} {
		r := judge(t, tt.files...)
		check := ""
		for _, c := range r.Checks {
			if c.Revision == 1 {
				check = c.Outcome
			}
		}
		if r.Kind != tt.kind || r.Verdict() != tt.verdict || check != tt.check {
			t.Errorf("%s: %q, verdict %d, %q; want %q, %d, %q\n%s", name, r.Kind, r.Verdict(), check, tt.kind, tt.verdict, tt.check, r.Text())
		}
		if len(r.Answers) != 5 {
			t.Errorf("%s: %d answers", name, len(r.Answers))
		}
	}
}
