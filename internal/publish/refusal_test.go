package publish_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
	"executor/internal/publish"
)

func TestRefusals(t *testing.T) {
	const branch = `properties: {branch: {type: string, minLength: 1}}`
	accepts := func(entry string) string { return "accepts: [" + entry + "]" }
	swapped := []string{`
tool: copy
description: Copy a file.
revision: 1
input: {type: object, properties: {from: {type: string}, to: {type: string}}, required: [from, to], additionalProperties: false}
http: {method: POST, url: "https://fs.example.com/copy", json: {source: {$arg: from}, target: {$arg: to}}}
`, `
tool: copy
description: Copy a file.
revision: 2
input: {type: object, properties: {from: {type: string}, to: {type: string}}, required: [from, to], additionalProperties: false}
http: {method: POST, url: "https://fs.example.com/copy", json: {source: {$arg: to}, target: {$arg: from}}}
`}
	withDefault := func(revision, value, more string) string {
		return `
tool: list
description: List things.
revision: ` + revision + `
input: {type: object, properties: {limit: {type: integer, default: ` + value + `}}, additionalProperties: false}
http: {method: GET, url: "https://api.example.com/things{?limit}"}
` + more
	}
	three := edit(t, two, "revision: 2", "revision: 3", "accepts: [{revision: 1, change: migration, until: 2027-01-31, adapt: [{default: {region: us}}]}]",
		accepts("{revision: 2, change: additive}, {revision: 1, change: migration, until: 2027-01-31}"))
	for name, tt := range map[string]struct {
		files []string
		rules []string
		says  string // in a declaration
	}{
		"a revision that exists":    {[]string{one, edit(t, one, "region: us}", "region: eu}")}, []string{"revision-exists"}, "revision: 2"},
		"an older number":           {[]string{edit(t, one, "revision: 1", "revision: 4"), edit(t, one, "revision: 1", "revision: 3")}, []string{"not-newer"}, "revision: 5"},
		"an older one as it was":    {[]string{one, two, one}, []string{"not-current"}, "revision: 3, to bring it back"},
		"additive, but it breaks":   {[]string{one, next(t, "minLength: 1", "minLength: 3") + accepts("{revision: 1, change: additive}")}, []string{"claim-too-weak", "counterexample"}, "change: migration"},
		"migration without a step":  {[]string{one, edit(t, two, ", adapt: [{default: {region: us}}]", "")}, []string{"counterexample"}, "steps that make it fit"},
		"migration to another act":  {[]string{one, edit(t, two, "{default: {region: us}}", "{default: {region: eu}}")}, []string{"claim-too-weak", "counterexample", "fence-without-declared-revision"}, "change: fence"},
		"another host":              {[]string{one, next(t, "ci.example.com", "cd.example.com")}, []string{"fence-without-declared-revision", "overlap-without-declared-revision"}, "declare_revision: true"},
		"another path":              {[]string{one, next(t, "/v1/", "/v2/")}, []string{"fence-without-declared-revision", "overlap-without-declared-revision"}, "executor tool retire deploy --replacement NEW"},
		"another method":            {[]string{one, next(t, "POST", "PUT")}, []string{"fence-without-declared-revision", "overlap-without-declared-revision"}, "declare_revision: true"},
		"another credential":        {[]string{one, next(t, "credential: ci", "credential: admin")}, []string{"fence-without-declared-revision", "overlap-without-declared-revision"}, "declare_revision: true"},
		"SSH instead":               {[]string{one, next(t, one[strings.Index(one, "http:"):], `ssh: {host: web-1, argv: [deploy, "{branch}"]}`)}, []string{"fence-without-declared-revision", "overlap-without-declared-revision"}, "declare_revision: true"},
		"a lower level":             {[]string{one, next(t, "\nhttp:", "\napproval: none\nhttp:")}, []string{"fence-without-declared-revision"}, "change: fence"},
		"an argument of authority":  {[]string{one, next(t, branch, `properties: {branch: {type: string, minLength: 1}, account: {type: string}}`, "region: us}", "region: us, account: {$arg: account}}")}, []string{"fence-without-declared-revision"}, "change: fence"},
		"a fence called migration":  {[]string{one, next(t, "credential: ci", "credential: admin", "revision: 2", "revision: 2\ndeclare_revision: true") + accepts("{revision: 1, change: migration, until: 2027-01-31}")}, []string{"claim-too-weak", "counterexample"}, "change: fence"},
		"a fence undeclared":        {[]string{one, next(t, "minLength: 1", "minLength: 2") + accepts("{revision: 1, change: fence}")}, []string{"fence-without-declared-revision"}, "declare_revision: true"},
		"swapped fields":            {swapped, []string{"counterexample", "fence-without-declared-revision", "overlap-without-declared-revision"}, "declare_revision: true"},
		"a changed default":         {[]string{withDefault("1", "10", ""), withDefault("2", "20", accepts("{revision: 1, change: migration, until: 2027-01-31, adapt: [{default: {limit: 10}}]}"))}, []string{"overlap-without-declared-revision"}, "declare_revision: true"},
		"a changed default, unsaid": {[]string{withDefault("1", "10", ""), withDefault("2", "20", "")}, []string{"overlap-without-declared-revision"}, "declare_revision: true"},
		"an entry for nothing":      {[]string{one, edit(t, two, "revision: 2", "revision: 3", "{revision: 1, change", "{revision: 2, change")}, []string{"no-such-revision"}, "leave the entry out"},
		"an entry of a new tool":    {[]string{edit(t, two, "revision: 2", "revision: 9")}, []string{"no-such-revision"}, "no earlier calls"},
		"a rename of nothing":       {[]string{one, edit(t, two, "{default: {region: us}}", "{rename: {area: region}}")}, []string{"steps-do-not-connect"}, "adapt: steps from the arguments of revision 1"},
		"a map of nothing":          {[]string{one, edit(t, two, "{default: {region: us}}", "{map: {region: {a: us}}}")}, []string{"steps-do-not-connect"}, "adapt: steps"},
		"an argument left over":     {[]string{two, edit(t, one, "revision: 1", "revision: 3") + accepts("{revision: 2, change: migration, until: 2027-01-31}")}, nil, ""},
		"steps over two revisions":  {[]string{one, two, edit(t, three, "until: 2027-01-31}", "until: 2027-01-31, adapt: [{default: {region: us}}]}")}, []string{"steps-do-not-connect"}, "steps for revision 2 alone"},
		"a gap between":             {[]string{one, edit(t, two, two[strings.Index(two, "accepts:"):], ""), three}, []string{"steps-do-not-connect"}, "leave the entry out"},
		"a window that is over":     {[]string{one, edit(t, two, "2027-01-31", "2026-12-23")}, []string{"window-is-over"}, "a day to come"},
		"a built-in name":           {[]string{edit(t, one, "tool: deploy", "tool: http_request")}, []string{"built-in-name"}, "another name"},
		"a reserved name":           {[]string{edit(t, one, "tool: deploy", "tool: ssh_copy")}, []string{"reserved-name"}, "another name"},
		"an open schema":            {[]string{edit(t, one, ", additionalProperties: false", "")}, []string{"input-open"}, "additionalProperties: false"},
		"what revision 3 may do":    {[]string{one, two, three}, nil, ""},
	} {
		if name == "an argument left over" {
			tt.files[0] = edit(t, tt.files[0], tt.files[0][strings.Index(tt.files[0], "accepts:"):], "")
			tt.rules, tt.says = []string{"steps-do-not-connect"}, "adapt: steps"
		}
		r := judge(t, tt.files...)
		if got := rules(r); !slices.Equal(got, tt.rules) {
			t.Errorf("%s: %q, want %q\n%s", name, got, tt.rules, r.Text())
			continue
		}
		if (len(tt.rules) > 0) != (r.Verdict() == publish.Refused) || r.Publishable() != (len(tt.rules) == 0) {
			t.Errorf("%s: verdict %d, publishable %t", name, r.Verdict(), r.Publishable())
		}
		said := tt.says == ""
		for _, x := range r.Refusals {
			said = said || strings.Contains(x.Declare, tt.says)
			if x.Declare == "" || !strings.Contains(r.Text(), x.Rule) {
				t.Errorf("%s: %s says nothing of what would do", name, x.Rule)
			}
		}
		if !said {
			t.Errorf("%s: no declaration %q in %+v", name, tt.says, r.Refusals)
		}
	}
}

func TestCounterexamplesAreShown(t *testing.T) {
	r := judge(t, one, edit(t, two, "{default: {region: us}}", "{default: {region: eu}}"))
	if len(r.Checks) != 1 || r.Checks[0].Example == nil {
		t.Fatalf("no counterexample: %s", r.Text())
	}
	e := r.Checks[0].Example
	if !strings.Contains(e.Old, `\"region\":\"us\"`) || !strings.Contains(e.New, `\"region\":\"eu\"`) || !strings.Contains(string(e.Adapted), `"region":"eu"`) {
		t.Errorf("%+v", e)
	}
	for _, part := range []string{"then       {", "now        {", "adapted    {"} {
		if !strings.Contains(r.Text(), part) {
			t.Errorf("the text lacks %q:\n%s", part, r.Text())
		}
	}
}

// One value of many that no step knows is found.
func TestAMapWithAGapIsFound(t *testing.T) {
	values, steps := []string{}, []string{}
	for i := range 100 {
		values = append(values, fmt.Sprintf("v%d", i))
		if i != 93 {
			steps = append(steps, fmt.Sprintf("v%d: v%d", i, i))
		}
	}
	enum := "region: {type: string, enum: [" + strings.Join(values, ", ") + "]}"
	first := edit(t, two, "revision: 2", "revision: 1", two[strings.Index(two, "accepts:"):], "", "region: {type: string, enum: [us, eu]}", enum)
	second := edit(t, first, "revision: 1", "revision: 2", "[v0,", "[more, v0,") +
		"accepts: [{revision: 1, change: migration, until: 2027-01-31, adapt: [{map: {region: {" + strings.Join(steps, ", ") + "}}}]}]\n"
	r := judge(t, first, second)
	if len(r.Checks) != 1 || r.Checks[0].Example == nil || !strings.Contains(string(r.Checks[0].Example.Arguments), "v93") {
		t.Errorf("%s", r.Text())
	}
}

func TestTheSameAgainIsNothing(t *testing.T) {
	respelled := edit(t, one, "{type: object, properties", "{additionalProperties: false, type: object, properties", ", additionalProperties: false}", "}")
	r := judge(t, one, respelled)
	if !r.Already || r.Publishable() || r.Verdict() != publish.Acceptable {
		t.Errorf("%s", r.Text())
	}
	ops := []contract.Op{report(t, nil, one, day("2026-12-01")).Op(), {Op: contract.OpRetire, At: day("2026-12-02")}}
	if r := report(t, ops, one, day("2026-12-03")); r.Already || !slices.Equal(rules(r), []string{"retired"}) {
		t.Errorf("a retired one: %s", r.Text())
	}
	if r := report(t, ops, edit(t, one, "revision: 1", "revision: 2"), day("2026-12-03")); !r.Publishable() || len(r.Refused) > 0 {
		t.Errorf("one that comes back: %s", r.Text())
	}
}

func TestWhatEndsIsSaid(t *testing.T) {
	three := next(t, "revision: 2", "revision: 3", "minLength: 1", "minLength: 3")
	r := judge(t, one, next(t, "Deploy a branch.", "Deploy a branch or a tag."), three)
	if !slices.Equal(r.Refused, []int{1, 2}) || !slices.Equal(r.Unclaimed, []int{1, 2}) || !r.Publishable() || r.Verdict() != publish.Refused {
		t.Errorf("refused %v, unclaimed %v\n%s", r.Refused, r.Unclaimed, r.Text())
	}
	if !strings.Contains(r.Text(), "calls of revisions 1, 2; accepts does not name revisions 1, 2") {
		t.Errorf("%s", r.Text())
	}
}

// A fence holds for what is published after it: without the token an old call would
// pass one revision later.
func TestAFenceOutlivesTheNextRevision(t *testing.T) {
	fenced := next(t, "credential: ci", "credential: admin", "revision: 2", "revision: 2\ndeclare_revision: true") + "accepts: [{revision: 1, change: fence}]"
	open := next(t, "revision: 2", "revision: 3", "credential: ci", "credential: admin", "Deploy a branch.", "Deploy.")
	if r := judge(t, one, fenced, open); !slices.Contains(rules(r), "overlap-without-declared-revision") {
		t.Errorf("%s", r.Text())
	}
	kept := edit(t, open, "revision: 3", "revision: 3\ndeclare_revision: true")
	if r := judge(t, one, fenced, kept); !r.Publishable() || len(r.Overlaps) != 1 {
		t.Errorf("%s", r.Text())
	}
	if r := judge(t, one, fenced, edit(t, one, "revision: 1", "revision: 3")); !r.Publishable() || r.Kind != contract.Fence {
		t.Errorf("back to what was before the fence: %s", r.Text())
	}
}

func TestOldAdaptersAreCheckedThroughTheNewTemplate(t *testing.T) {
	// Revision 3 keeps what 2 meant, and renders calls of 1, adapted twice, otherwise.
	three := edit(t, two, "revision: 2", "revision: 3", "enum: [us, eu]", "enum: [us, eu, ap]",
		two[strings.Index(two, "accepts:"):], "accepts: [{revision: 2, change: additive}, {revision: 1, change: additive}]\n")
	r := judge(t, one, two, three)
	if !slices.Contains(rules(r), "claim-too-weak") {
		t.Errorf("additive for revision 1, which is adapted: %s", r.Text())
	}
	r = judge(t, one, two, edit(t, three, ", {revision: 1, change: additive}", ", {revision: 1, change: migration, until: 2027-02-01}"))
	if len(r.Refusals) > 0 || len(r.Checks) != 2 {
		t.Errorf("%s", r.Text())
	}
	zone := edit(t, three, "enum: [us, eu, ap]", "enum: [eu, ap]", "{revision: 2, change: additive}, {revision: 1, change: additive}", "{revision: 1, change: migration, until: 2027-02-01}")
	if r := judge(t, one, two, zone); r.Publishable() && slices.ContainsFunc(r.Checks, func(c publish.Check) bool { return c.Revision == 1 }) {
		t.Errorf("an adapter to a value that is gone: %s", r.Text())
	}
}

func TestWarningsOfWhatTheVaultLacks(t *testing.T) {
	body, err := json.Marshal(policy.Credential{Type: policy.Bearer, Targets: []string{"https://other.example.com/"}, Approval: action.None})
	if err != nil {
		t.Fatal(err)
	}
	g, err := policy.Load(1, []policy.Item{{Kind: policy.KindCredential, Name: "ci", Version: 1, Body: body}})
	if err != nil {
		t.Fatal(err)
	}
	ssh := next(t, one[strings.Index(one, "http:"):], `ssh: {host: web-9, argv: [deploy, "{branch}"]}`)
	for yaml, want := range map[string]string{
		one: "not bound to https://ci.example.com",
		edit(t, one, "credential: ci", "credential: nosuch"): "executor credential add nosuch",
		ssh: "executor host add web-9",
		edit(t, one, "ci.example.com", "other.example.com"): "",
	} {
		r, err := publish.Judge(file(t, yaml), nil, publish.Options{Now: time.Now(), Policy: g})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Warnings, "\n"); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("warnings %q, want %q", got, want)
		}
	}
}

func TestReleaseQuestions(t *testing.T) {
	answers := func(r *publish.Report) string {
		var out []string
		for _, a := range r.Answers {
			if a.Why == "" {
				t.Errorf("%s: no reason", a.Name)
			}
			out = append(out, a.Name+"="+a.Answer)
		}
		return strings.Join(out, " ")
	}
	account := next(t, "properties: {branch: {type: string, minLength: 1}}", `properties: {branch: {type: string, minLength: 1}, account: {type: string}}`,
		"required: [branch]", "required: [branch, account]", "region: us}", "region: us, account: {$arg: account}}", "revision: 2", "revision: 2\ndeclare_revision: true")
	for name, tt := range map[string]struct {
		r    *publish.Report
		want string
	}{
		"new":     {judge(t, one), "old-arguments=no old-meaning=yes refusal-before-effect=yes list-before-notice=yes repair=yes"},
		"adapted": {judge(t, one, two), "old-arguments=yes old-meaning=yes refusal-before-effect=yes list-before-notice=yes repair=yes"},
		"ended":   {judge(t, one, edit(t, two, two[strings.Index(two, "accepts:"):], "")), "old-arguments=yes old-meaning=no refusal-before-effect=yes list-before-notice=yes repair=a person decides"},
		"fenced":  {judge(t, one, account), "old-arguments=yes old-meaning=no refusal-before-effect=yes list-before-notice=yes repair=no"},
	} {
		if got := answers(tt.r); got != tt.want {
			t.Errorf("%s: %s\nwant %s\n%s", name, got, tt.want, tt.r.Text()+tt.r.AnswersText())
		}
	}
}
