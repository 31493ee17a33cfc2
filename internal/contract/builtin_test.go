package contract_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"executor/internal/action"
	"executor/internal/contract"

	"github.com/google/jsonschema-go/jsonschema"
)

func builtin(t testing.TB) *contract.Snapshot {
	t.Helper()
	cs, err := contract.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	s, err := contract.NewSnapshot(cs...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tool(t testing.TB, name string) *contract.Contract {
	t.Helper()
	found, ok := builtin(t).Tool(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return found.Current
}

func resolved(t testing.TB, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// calls are arguments of each tool, with the path of the problem that refuses
// them, or "ok".
func calls() map[string][][2]string {
	return map[string][][2]string{
		"http_request": {
			{`{"method":"GET","url":"https://a.example/"}`, "ok"},
			{`{"method":"POST","url":"https://a.example/","json":{"n":12345678901234567890}}`, "ok"},
			{`{"method":"POST","url":"https://a.example/","json":null}`, "ok"},
			{`{"method":"GET","url":"https://a.example/","query":{"q":"x y","tag":["a","b"]},"headers":{"X-Note":"1"},"credential":"ci","timeout_s":600,"max_bytes":1}`, "ok"},
			{`{"method":"POST","url":"https://a.example/","form":{"a":"1","b":["2","3"]},"idempotency_key":"k-1"}`, "ok"},
			{`{"method":"POST","url":"https://a.example/","multipart":[{"name":"f","filename":"a.csv","content_type":"text/csv","text":"x"},{"name":"g","base64":"AAE="}]}`, "ok"},
			{`{"method":"POST","url":"https://a.example/","form":{"a":1}}`, "/form/a"},
			{`{"method":"POST","url":"https://a.example/","multipart":[]}`, "/multipart"},
			{`{"method":"POST","url":"https://a.example/","multipart":[{"name":"","text":"x"}]}`, "/multipart/0"},
			{`{"method":"POST","url":"https://a.example/","multipart":[{"name":"f","text":"x","size":1}]}`, "/multipart/0/size"},
			{`{"method":"POST","url":"https://a.example/","idempotency_key":""}`, "/idempotency_key"},
			{`{"method":"GET"}`, "/url"},
			{`{"url":"https://a.example/"}`, "/method"},
			{`{"method":"get","url":"https://a.example/"}`, "/method"},
			{`{"method":"TRACE","url":"https://a.example/"}`, "/method"},
			{`{"method":"GET","url":"https://a.example/","Method":"POST"}`, "/Method"},
			{`{"method":"GET","url":"https://a.example/","method":"POST"}`, "/method"},
			{`{"method":"GET","url":"https://a.example/","retries":3}`, "/retries"},
			{`{"method":"GET","url":"https://a.example/","query":{"n":1}}`, "/query/n"},
			{`{"method":"GET","url":"https://a.example/","query":{"n":["a",null]}}`, "/query"},
			{`{"method":"GET","url":"https://a.example/","headers":{"X-N":1}}`, "/headers/X-N"},
			{`{"method":"GET","url":"https://a.example/","timeout_s":0}`, "/timeout_s"},
			{`{"method":"GET","url":"https://a.example/","timeout_s":601}`, "/timeout_s"},
			{`{"method":"GET","url":"https://a.example/","timeout_s":1.5}`, "/timeout_s"},
			{`{"method":"GET","url":"https://a.example/","max_bytes":8388609}`, "/max_bytes"},
			{`{"method":"POST","url":"https://a.example/","body":null}`, "/body"},
			{`{"method":"GET","url":"https://a.example/","credential":""}`, "/credential"},
			{`[]`, ""},
		},
		"http_get": {
			{`{"url":"https://a.example/","query":{"q":"1"},"headers":{"Accept":"text/csv"},"credential":"ci","timeout_s":5,"max_bytes":10}`, "ok"},
			{`{}`, "/url"},
			{`{"url":"https://a.example/","method":"POST"}`, "/method"},
			{`{"url":"https://a.example/","json":{}}`, "/json"},
			{`{"url":"https://a.example/","idempotency_key":"k"}`, "/idempotency_key"},
		},
		"ssh_exec": {
			{`{"host":"web-1","command":"uptime"}`, "ok"},
			{`{"host":"web-1","argv":["ls","-l","a b"],"env":{"LANG":"C"},"stdin":"x","timeout_s":3600}`, "ok"},
			{`{"command":"uptime"}`, "/host"},
			{`{"host":"web-1","command":"uptime","port":2222}`, "/port"},
			{`{"host":"web-1","command":"uptime","description":"x\ntouch /tmp/y"}`, "/description"},
			{`{"host":"web-1","command":"uptime","user":"-oProxyCommand=x"}`, "/user"},
			{`{"host":"web-1","command":""}`, "/command"},
			{`{"host":"web-1","argv":[]}`, "/argv"},
			{`{"host":"web-1","argv":[1]}`, "/argv/0"},
			{`{"host":"web-1","command":"uptime","timeout_s":3601}`, "/timeout_s"},
		},
		"ssh_read_file": {
			{`{"host":"web-1","path":"/etc/hosts","max_bytes":8388608,"timeout_s":1}`, "ok"},
			{`{"host":"web-1","path":"/etc/.../..a/.b"}`, "ok"},
			{`{"host":"web-1"}`, "/path"},
			{`{"path":"/etc/hosts"}`, "/host"},
			{`{"host":"web-1","path":"hosts"}`, "/path"},
			{`{"host":"web-1","path":"~/x"}`, "/path"},
			{`{"host":"web-1","path":"/etc/../root/x"}`, "/path"},
			{`{"host":"web-1","path":"/etc/./x"}`, "/path"},
			{`{"host":"web-1","path":"/etc//x"}`, "/path"},
			{`{"host":"web-1","path":"/etc/"}`, "/path"},
			{`{"host":"web-1","path":"/a/.."}`, "/path"},
			{`{"host":"web-1","path":"/etc/hosts","offset":1}`, "/offset"},
			{`{"host":"web-1","path":"/etc/hosts","Path":"/x"}`, "/Path"},
			{`{"host":"web-1","path":"/etc/hosts","max_bytes":0}`, "/max_bytes"},
		},
		"ssh_list_dir": {
			{`{"host":"web-1","path":"/"}`, "ok"},
			{`{"host":"web-1","path":"/etc","max_entries":10000}`, "ok"},
			{`{"host":"web-1","path":"/etc","max_entries":10001}`, "/max_entries"},
			{`{"host":"web-1","path":"/etc","max_bytes":1}`, "/max_bytes"},
		},
		"ssh_write_file": {
			{`{"host":"web-1","path":"/srv/x","content":""}`, "ok"},
			{`{"host":"web-1","path":"/srv/x","content_base64":"AP8=","mode":"0600"}`, "ok"},
			{`{"host":"web-1","path":"/srv/x","content":"x","overwrite":true,"expected_sha256":"` + strings.Repeat("0", 64) + `"}`, "ok"},
			{`{"host":"web-1","path":"/srv/x","content":"x","mode":"4755"}`, "/mode"},
			{`{"host":"web-1","path":"/srv/x","content":"x","mode":"0o644"}`, "/mode"},
			{`{"host":"web-1","path":"/srv/x","content":"x","expected_sha256":"abc"}`, "/expected_sha256"},
			{`{"host":"web-1","path":"/srv/x","content":"x","overwrite":"yes"}`, "/overwrite"},
			{`{"host":"web-1","path":"/srv/x","content":null}`, "/content"},
		},
		"list_targets": {
			{`{}`, "ok"},
			{`{"all":true}`, "/all"},
		},
	}
}

func TestArguments(t *testing.T) {
	for name, table := range calls() {
		c := tool(t, name)
		schema := resolved(t, c.Input)
		for _, row := range table {
			args, want := row[0], row[1]
			_, err := c.Render(json.RawMessage(args))
			if want == "ok" {
				if err != nil {
					t.Errorf("%s %s: %v", name, args, err)
				}
				continue
			}
			var problems action.Problems
			if !errors.As(err, &problems) {
				t.Errorf("%s %s: error %v is no Problems", name, args, err)
				continue
			}
			if !slices.ContainsFunc(problems, func(p action.Problem) bool { return p.Path == want }) {
				t.Errorf("%s %s: problems %q, want one at %q", name, args, problems, want)
			}
			var v any
			if json.Unmarshal([]byte(args), &v) == nil && !duplicate(args) && schema.Validate(v) == nil {
				t.Errorf("%s %s: refused, although the input schema that the agent sees allows it", name, args)
			}
		}
	}
}

// duplicate: a schema cannot see that a key came twice.
func duplicate(args string) bool { return strings.Count(args, `"method"`) > 1 }

// What the renderer accepts, the schema that the agent was shown accepts too.
func FuzzRenderAcceptsWhatTheSchemaAccepts(f *testing.F) {
	for name, table := range calls() {
		for _, row := range table {
			f.Add(name, row[0])
		}
	}
	cs := map[string]*contract.Contract{}
	schemas := map[string]*jsonschema.Resolved{}
	for _, name := range []string{"http_get", "http_request", "ssh_exec", "ssh_read_file", "ssh_write_file", "ssh_list_dir", "list_targets"} {
		cs[name] = tool(f, name)
		schemas[name] = resolved(f, cs[name].Input)
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		c, ok := cs[name]
		if !ok {
			t.Skip("not a tool")
		}
		if _, err := c.Render(json.RawMessage(args)); err != nil || args == "" {
			return
		}
		var v any
		if err := json.Unmarshal([]byte(args), &v); err != nil {
			t.Fatalf("%q was rendered and is not JSON: %v", args, err)
		}
		if err := schemas[name].Validate(v); err != nil {
			t.Fatalf("%q was rendered, and the input schema refuses it: %v", args, err)
		}
	})
}

func TestHeadersThatAnAgentMayNotSet(t *testing.T) {
	c := tool(t, "http_request")
	for _, name := range []string{
		"Authorization", "authorization", "Cookie", "Host", "HOST", "Content-Length", "Transfer-Encoding", "Connection",
		"Proxy-Authorization", "Proxy-Connection", "TE", "Trailer", "Upgrade", "Expect", "Keep-Alive", "Accept-Encoding",
		"X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-Url", "X-Forwarded-Host", "X-Forwarded-For", "Forwarded",
		"X Bad", "X-A\r\nX-Injected", "",
	} {
		args, err := json.Marshal(map[string]any{"method": "GET", "url": "https://a.example/", "headers": map[string]string{name: "v-secret"}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Render(args)
		if err == nil {
			t.Errorf("header %q passed", name)
		} else if strings.Contains(err.Error(), "v-secret") {
			t.Errorf("header %q: the error repeats the value: %v", name, err)
		}
	}
	for _, value := range []string{"a\r\nX-Injected: 1", "a\x00", "a\nb"} {
		args, err := json.Marshal(map[string]any{"method": "GET", "url": "https://a.example/", "headers": map[string]string{"X-Note": value}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Render(args); err == nil {
			t.Errorf("header value %q passed", value)
		}
	}
}

func TestSpellingDoesNotChangeTheDraft(t *testing.T) {
	c := tool(t, "http_request")
	a, err := c.Render(json.RawMessage(`{"method":"GET","url":"https://a.example/","query":{"b":"2","a":"1"},"headers":{"x-b":"2","X-A":"1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Render(json.RawMessage(`{"headers":{"X-a":"1","X-B":"2"},"url":"https://a.example/","query":{"a":"1","b":"2"},"method":"GET"}`))
	if err != nil {
		t.Fatal(err)
	}
	x, y := a.(*contract.HTTPDraft), b.(*contract.HTTPDraft)
	if !slices.Equal(x.Query, y.Query) {
		t.Errorf("query %v and %v", x.Query, y.Query)
	}
	names := func(d *contract.HTTPDraft) []string {
		var out []string
		for _, h := range d.Headers {
			out = append(out, h.Name+"="+h.Value)
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(names(x), names(y)) {
		t.Errorf("headers %v and %v", names(x), names(y))
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	d, err := tool(t, "http_request").Render(json.RawMessage(`{"method":"POST","url":"https://a.example/","json":{"n": 12345678901234567890, "f": 1.10}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(d.(*contract.HTTPDraft).Body), `{"n":12345678901234567890,"f":1.10}`; got != want {
		t.Errorf("body %s, want %s", got, want)
	}
}

// Clients validate the structured content of error results against the output
// schema: both shapes must fit it.
func TestOutputSchemaAdmitsTheErrorEnvelope(t *testing.T) {
	for _, c := range builtin(t).Served() {
		schema := resolved(t, c.Output)
		envelope := map[string]any{
			"error_code": "X", "message": "m", "tool": c.Tool, "required_action": "fix_arguments",
			"side_effect_started": false, "schema_revision": 1.0, "activity_id": "a",
			"problems": []any{map[string]any{"path": "/x", "problem": "p"}},
		}
		if err := schema.Validate(envelope); err != nil {
			t.Errorf("%s: %v", c.Tool, err)
		}
		if err := schema.Validate(map[string]any{"anything": 1.0}); err == nil {
			t.Errorf("%s: the output schema admits anything", c.Tool)
		}
	}
}
