package publish_test

import (
	"testing"

	"executor/internal/publish"
)

// A proof is claimed where the new template with the steps put in is the old one,
// and nowhere else.
func TestProofs(t *testing.T) {
	tool := func(revision, properties, required, place, more string) string {
		return `
tool: deploy
description: Deploy.
revision: ` + revision + `
input: {type: object, properties: {` + properties + `}, required: [` + required + `], additionalProperties: false` + more + `}
` + place + "\n"
	}
	accepts := func(steps string) string {
		return "accepts: [{revision: 1, change: migration, until: 2027-01-31, adapt: [" + steps + "]}]\n"
	}
	const branch, ref, both = "branch: {type: string, pattern: '^[a-z0-9]+$'}", "ref: {type: string, pattern: '^[a-z0-9]+$'}", "branch: {type: string, pattern: '^[a-z0-9]+$'}, kind: {type: string}"
	get := func(url string) string { return `http: {method: GET, url: "https://ci.example.com` + url + `"}` }
	post := func(json string) string {
		return `http: {method: POST, url: "https://ci.example.com/x", json: ` + json + `}`
	}
	header := func(value string) string {
		return `http: {method: GET, url: "https://ci.example.com/x", headers: {X-Note: "` + value + `"}}`
	}
	ssh := func(argv string) string { return `ssh: {host: web-1, argv: [` + argv + `], stdin: "a"}` }
	for name, tt := range map[string]struct{ old, next, want string }{
		"a renamed segment":             {tool("1", branch, "branch", get("/a/{branch}"), ""), tool("2", ref, "ref", get("/a/{ref}"), "") + accepts("{rename: {branch: ref}}"), publish.Proved},
		"a constant segment":            {tool("1", branch, "branch", get("/a/{branch}/main"), ""), tool("2", both, "branch, kind", get("/a/{branch}/{kind}"), "") + accepts("{default: {kind: main}}"), publish.Proved},
		"a constant that is escaped":    {tool("1", branch, "branch", get("/a/{branch}/m%20n"), ""), tool("2", both, "branch, kind", get("/a/{branch}/{kind}"), "") + accepts("{default: {kind: m n}}"), publish.Tested},
		"a constant in a query":         {tool("1", branch, "branch", get("/a/{branch}?kind=main"), ""), tool("2", both, "branch, kind", get("/a/{branch}{?kind}"), "") + accepts("{default: {kind: main}}"), publish.Tested},
		"a constant node, spelled over": {tool("1", branch, "branch", post(`{k: main, b: {$arg: branch}}`), ""), tool("2", both, "branch, kind", post(`{b: {$arg: branch}, k: {$arg: kind}}`), "") + accepts("{default: {kind: main}}"), publish.Proved},
		"a renamed constant":            {tool("1", branch, "branch", post(`{k: main, b: {$arg: branch}}`), ""), tool("2", both, "branch, kind", post(`{b: {$arg: branch}, k: {$arg: kind}}`), "") + accepts("{default: {sort: main}}, {rename: {sort: kind}}"), publish.Proved},
		"mapped values":                 {tool("1", "branch: {enum: [a, b]}", "branch", post(`{b: {$arg: branch}}`), ""), tool("2", "branch: {enum: [a, b, c]}", "branch", post(`{b: {$arg: branch}}`), "") + accepts("{map: {branch: {a: a, b: b}}}"), publish.Tested},
		"a constant header":             {tool("1", branch, "branch", header("main of {branch}"), ""), tool("2", both, "branch, kind", header("{kind} of {branch}"), "") + accepts("{default: {kind: main}}"), publish.Proved},
		"an element of argv":            {tool("1", branch, "branch", ssh(`run, "--k=main", "{branch}"`), ""), tool("2", both, "branch, kind", ssh(`run, "--k={kind}", "{branch}"`), "") + accepts("{default: {kind: main}}"), publish.Proved},
		"another constant":              {tool("1", branch, "branch", ssh(`run, main, "{branch}"`), ""), tool("2", both, "branch, kind", ssh(`run, "{kind}", "{branch}"`), "") + accepts("{default: {kind: other}}"), publish.Counterexample},
		"one element made of two":       {tool("1", branch, "branch", ssh(`run, "main{branch}"`), ""), tool("2", both, "branch, kind", ssh(`run, "{kind}", "{branch}"`), "") + accepts("{default: {kind: main}}"), publish.Counterexample},
		"a number spelled otherwise":    {tool("1", branch, "branch", post(`{k: 1.0, b: {$arg: branch}}`), ""), tool("2", branch+", kind: {type: number}", "branch, kind", post(`{b: {$arg: branch}, k: {$arg: kind}}`), "") + accepts("{default: {kind: 1}}"), publish.Counterexample},
		"a schema that speaks of names": {tool("1", branch, "branch", post(`{k: main, b: {$arg: branch}}`), ""), tool("2", both, "branch, kind", post(`{b: {$arg: branch}, k: {$arg: kind}}`), ", if: {properties: {branch: {const: zz9}}}, then: {properties: {kind: {const: other}}}") + accepts("{default: {kind: main}}"), publish.Tested},
		"a bound that is moved":         {tool("1", "n: {type: integer, maximum: 9}", "n", post(`{n: {$arg: n}}`), ""), tool("2", "n: {type: integer, maximum: 10}", "n", post(`{n: {$arg: n}}`), ""), publish.Proved},
	} {
		r := judge(t, tt.old, tt.next)
		if len(r.Checks) != 1 || r.Checks[0].Outcome != tt.want {
			t.Errorf("%s: %+v, want %s\n%s", name, r.Checks, tt.want, r.Text())
		}
	}
}

func TestGeneratedArguments(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"name":{"type":"string","minLength":3,"maxLength":12},"kind":{"enum":["a",1,null]},"n":{"type":"integer","minimum":5,"maximum":7},
		"list":{"type":"array","items":{"$ref":"#/$defs/x"}},"id":{"type":"string","pattern":"^[a-f]{4}-(x|y)+$"},"o":{"type":"object","properties":{"p":{"type":"boolean"}}},
		"d":{"type":"string","default":"dd"}},"required":["name"],"$defs":{"x":{"type":"string","enum":["r"]}}}`
	a := publish.Arguments([]byte(schema))
	b := publish.Arguments([]byte(schema))
	seen := map[string]bool{}
	for i, args := range a {
		if string(args) != string(b[i]) {
			t.Fatalf("case %d is %s and then %s", i, args, b[i])
		}
		if seen[string(args)] {
			t.Errorf("%s came twice", args)
		}
		seen[string(args)] = true
	}
	for _, want := range []string{`{"name":"name"}`, `{"kind":null,"name":"name"}`, `{"n":5,"name":"name"}`, `{"n":7,"name":"name"}`,
		`{"list":["r"],"name":"name"}`, `{"id":"aaaa-x","name":"name"}`, `{"name":"name","o":{"p":false}}`, `{"d":"dd","name":"name"}`, `{"name":"../.."}`, `{"name":"namexxxxxxxx"}`} {
		if !seen[want] {
			t.Errorf("%s is not among the %d cases", want, len(a))
		}
	}
	recursive := `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}}}`
	if n := len(publish.Arguments([]byte(recursive))); n == 0 || n > 500 {
		t.Errorf("a recursive schema gives %d cases", n)
	}
}
