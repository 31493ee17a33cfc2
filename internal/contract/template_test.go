package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"executor/internal/contract"
	"executor/internal/target"
)

// placed is a tool with an argument in each kind of place, between constants.
const placed = `
tool: placed
description: Each argument in its place.
revision: 1
input:
  type: object
  properties:
    region: {type: string, enum: [us, eu]}
    segment: {type: string}
    query: {type: string}
    more: {type: string}
    list: {type: array, items: {type: string}}
    header: {type: string}
    node: {type: string}
  required: [region, segment, node]
  additionalProperties: false
http:
  method: POST
  url: https://{region}.example.com/v1/a{/segment}/b?fixed=1{&query,list}{&more}
  headers: {X-Note: "before {header} after", X-Fixed: fixed}
  json: {first: {$arg: node}, fixed: true, inner: [{$arg: node}, 7], then: {$arg: query}}
  credential: ci
`

const placedSSH = `
tool: placed_ssh
description: Each argument in its element.
revision: 1
input:
  type: object
  properties: {one: {type: string}, two: {type: string}, three: {type: string}, input: {type: string}}
  required: [one]
  additionalProperties: false
ssh: {host: web-1, argv: [printf, "--flag={one}", "{two}", "--", "{three}"], stdin: "<{input}>"}
`

func published(t testing.TB, yaml string) *contract.Contract {
	t.Helper()
	c, err := contract.New(file(t, yaml))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hostile are texts that try to leave their place.
func hostile() []string {
	return []string{"a", "", "é€😀", "a/b", "../..", "..", ".", "/etc", "a?b=c", "a&b=c", "a#b", "a=b", "%2e%2e%2f", "%", "+", "a b", "a,b", ";", "://x/", "@evil.example/",
		"{node}", "{{node}}", `"`, `\`, `","fixed":false,"x":"`, `{"$arg":"node"}`, "\r\nX-Injected: 1", "\n", "\x00", "\x7f", "-x", "--", "'", "$(id)", "`id`", "a\\b", "\u2028", "\ufeff", "<>", ":80", "*", "~"}
}

func FuzzAnArgumentStaysInItsPlaceOfARequest(f *testing.F) {
	for i, s := range hostile() {
		f.Add("us", s, hostile()[(i+7)%len(hostile())], s, s)
	}
	c := published(f, placed)
	f.Fuzz(func(t *testing.T, region, segment, query, header, node string) {
		args := map[string]any{"region": region, "segment": segment, "query": query, "more": "m", "list": []string{query, "y"}, "header": header, "node": node}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(raw, &args) != nil { // what JSON makes of bytes that are no UTF-8
			t.Fatal("not JSON")
		}
		text := func(name string) string { return args[name].(string) }
		draft, err := c.Render(raw)
		if err != nil {
			return // refused: nothing left its place
		}
		d := draft.(*contract.HTTPDraft)
		u, err := url.Parse(d.URL)
		if err != nil {
			t.Fatalf("%s rendered to %q: %v", raw, d.URL, err)
		}
		if u.Scheme != "https" || u.User != nil || u.Fragment != "" || u.Host != region+".example.com" || region != "us" && region != "eu" {
			t.Fatalf("%s reaches %q", raw, d.URL)
		}
		if s := text("segment"); s == "." || s == ".." {
			if _, err := target.Parse(d.URL); err == nil {
				t.Fatalf("%q would be walked", d.URL)
			}
		}
		parts := strings.Split(u.EscapedPath(), "/")
		if len(parts) != 5 || parts[1] != "v1" || parts[2] != "a" || parts[4] != "b" {
			t.Fatalf("%s has the path %q", raw, u.EscapedPath())
		}
		if got, err := url.PathUnescape(parts[3]); err != nil || got != text("segment") {
			t.Fatalf("segment %q came out as %q", text("segment"), got)
		}
		checkQuery(t, u.RawQuery, text("query"))
		want := []string{"X-Fixed", "X-Note"}
		var names []string
		for _, h := range d.Headers {
			names = append(names, h.Name)
			// A net/http client would write it as one line.
			if strings.ContainsAny(h.Value, "\r\n\x00") || h.Name == "X-Note" && textproto.TrimString(h.Value) != textproto.TrimString("before "+text("header")+" after") {
				t.Fatalf("header %s: %q", h.Name, h.Value)
			}
		}
		if !slices.Equal(names, want) {
			t.Fatalf("headers %q", names)
		}
		var body map[string]any
		if err := json.Unmarshal(d.Body, &body); err != nil {
			t.Fatalf("body %s: %v", d.Body, err)
		}
		expect := fmt.Sprint(map[string]any{"first": text("node"), "fixed": true, "inner": []any{text("node"), 7.0}, "then": text("query")})
		if fmt.Sprint(body) != expect || d.Method != http.MethodPost || d.Credential != "ci" {
			t.Fatalf("body %v, want %v", body, expect)
		}
	})
}

func checkQuery(t *testing.T, raw, query string) {
	t.Helper()
	var pairs []string
	for _, pair := range strings.Split(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(value) // RFC 3986: + is itself
		if err != nil {
			t.Fatalf("query %q: %v", raw, err)
		}
		if name == "list" { // RFC 6570: its items stand between commas that are not escaped
			first, rest, _ := strings.Cut(value, ",")
			item, err := url.PathUnescape(first)
			if err != nil || item != query || rest != "y" {
				t.Fatalf("list %q of %q", value, query)
			}
			plain = "(list)"
		}
		pairs = append(pairs, name+"="+plain)
	}
	if want := []string{"fixed=1", "query=" + query, "list=(list)", "more=m"}; !slices.Equal(pairs, want) {
		t.Fatalf("query %q is %q, want %q", raw, pairs, want)
	}
}

func FuzzAnArgumentStaysInItsElementOfArgv(f *testing.F) {
	for i, s := range hostile() {
		f.Add(s, hostile()[(i+5)%len(hostile())], s, s)
	}
	c := published(f, placedSSH)
	f.Fuzz(func(t *testing.T, one, two, three, input string) {
		args := map[string]string{"one": one, "two": two, "three": three, "input": input}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(raw, &args) != nil {
			t.Fatal("not JSON")
		}
		draft, err := c.Render(raw)
		if err != nil {
			return
		}
		d := draft.(*contract.SSHDraft)
		want := []string{"printf", "--flag=" + args["one"], args["two"], "--", args["three"]}
		if !slices.Equal(d.Argv, want) || string(d.Stdin) != "<"+args["input"]+">" || d.Host != "web-1" || len(d.Env) > 0 {
			t.Fatalf("argv %q, want %q; stdin %q", d.Argv, want, d.Stdin)
		}
		if strings.HasPrefix(args["two"], "-") {
			t.Fatalf("%q stands where an option would", args["two"])
		}
	})
}

// A shell takes the command apart into exactly these elements again.
func TestAShellReadsWhatWasMeant(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	c := published(t, edited(t, placedSSH, "argv: [printf,", `argv: [printf, "%s\\0",`))
	for _, s := range hostile() {
		raw, err := json.Marshal(map[string]string{"one": s, "two": "2" + s, "three": s})
		if err != nil {
			t.Fatal(err)
		}
		draft, err := c.Render(raw)
		if err != nil {
			continue
		}
		d := draft.(*contract.SSHDraft)
		out, err := exec.Command(sh, "-c", d.Command).Output()
		if err != nil {
			t.Fatalf("%q: %v", d.Command, err)
		}
		if got := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0}); len(got) != 4 || string(got[1]) != "2"+s || string(got[3]) != s {
			t.Errorf("%q: the shell saw %q", s, got)
		}
	}
}

func edited(t testing.TB, s, from, to string) string {
	t.Helper()
	if !strings.Contains(s, from) {
		t.Fatalf("%q is not in %s", from, s)
	}
	return strings.Replace(s, from, to, 1)
}

// What is absent leaves its place out, and takes nothing with it.
func TestAbsentArguments(t *testing.T) {
	draft, err := published(t, placed).Render(json.RawMessage(`{"region":"us","segment":"s","node":"n"}`))
	if err != nil {
		t.Fatal(err)
	}
	d := draft.(*contract.HTTPDraft)
	if d.URL != "https://us.example.com/v1/a/s/b?fixed=1" || string(d.Body) != `{"first":"n","fixed":true,"inner":["n",7]}` || len(d.Headers) != 1 {
		t.Errorf("%s %s %v", d.URL, d.Body, d.Headers)
	}
	draft, err = published(t, placedSSH).Render(json.RawMessage(`{"one":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := draft.(*contract.SSHDraft); s.Command != "printf --flag=1 --" || s.Stdin != nil {
		t.Errorf("%q %q", s.Command, s.Stdin)
	}
}

func TestTemplatesThatWouldLetAnArgumentOut(t *testing.T) {
	const url = "https://{region}.example.com/v1/a{/segment}/b?fixed=1{&query,list}{&more}"
	for name, pair := range map[string][2]string{
		"a scheme of an argument":       {"https://{region}", "{region}://x"},
		"a host of free text":           {"{region}.example.com", "{segment}.example.com"},
		"a port of free text":           {"{region}.example.com", "x.example.com:{segment}"},
		"user information":              {"{region}.example.com", "{segment}@x.example.com"},
		"reserved expansion":            {"{/segment}", "{+segment}"},
		"a fragment":                    {url, url + "{#segment}"},
		"a header given twice":          {"X-Fixed: fixed", "X-Fixed: fixed, x-fixed: other"},
		"a prefix":                      {"{/segment}", "{/segment:3}"},
		"a label":                       {"{/segment}", "{.segment}"},
		"path parameters":               {"{/segment}", "{;segment}"},
		"an object in a path":           {"segment: {type: string}", "segment: {type: object}"},
		"an array in a header":          {"header: {type: string}", "header: {type: array}"},
		"a header of the connection":    {"X-Fixed: fixed", "Host: fixed"},
		"a header of authority":         {"X-Fixed: fixed", "Authorization: fixed"},
		"an argument that is not there": {"{$arg: query}", "{$arg: nosuch}"},
		"an argument without a place":   {"{&more}", ""},
		"a body of a read":              {"method: POST", "method: GET"},
		"an open brace":                 {`"before {header} after"`, `"before {header after"`},
	} {
		f, err := contract.ParseFile([]byte(edited(t, placed, pair[0], pair[1])))
		if err == nil {
			_, err = contract.New(f)
		}
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
