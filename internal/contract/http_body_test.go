package contract_test

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"executor/internal/action"
	"executor/internal/contract"
)

func httpDraft(t *testing.T, tool, args string) *contract.HTTPDraft {
	t.Helper()
	d, err := toolRender(t, tool, args)
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return d.(*contract.HTTPDraft)
}

func toolRender(t *testing.T, name, args string) (contract.Draft, error) {
	t.Helper()
	return tool(t, name).Render(json.RawMessage(args))
}

// TestFormBody reads the body back with another program's parser.
func TestFormBody(t *testing.T) {
	d := httpDraft(t, "http_request", `{"method":"POST","url":"https://a.example/","form":{"b":["2 +","&="],"a":"é;1"}}`)
	got, err := url.ParseQuery(string(d.Body))
	want := url.Values{"a": {"é;1"}, "b": {"2 +", "&="}}
	if err != nil || !reflect.DeepEqual(got, want) || !strings.HasPrefix(string(d.Body), "a=") || d.ContentType != "application/x-www-form-urlencoded" {
		t.Errorf("%q: %v, %v", d.Body, got, err)
	}
}

func TestMultipartBody(t *testing.T) {
	const args = `{"method":"POST","url":"https://a.example/","multipart":[
		{"name":"note","text":"--\r\nhello"},
		{"name":"fi\"le","filename":"a \"b\".bin","base64":"AAH/","content_type":"image/png"}]}`
	d := httpDraft(t, "http_request", args)
	if again := httpDraft(t, "http_request", args); again.ContentType != d.ContentType || string(again.Body) != string(d.Body) {
		t.Error("the same parts are two different bodies")
	}
	_, params, err := mime.ParseMediaType(d.ContentType)
	if err != nil {
		t.Fatal(err)
	}
	r := multipart.NewReader(strings.NewReader(string(d.Body)), params["boundary"])
	for _, want := range [][4]string{{"note", "", "", "--\r\nhello"}, {`fi%22le`, `a %22b%22.bin`, "image/png", "\x00\x01\xff"}} {
		p, err := r.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(p)
		if got := [4]string{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), string(b)}; err != nil || got != want {
			t.Errorf("part %q, want %q, %v", got, want, err)
		}
	}
	if _, err := r.NextPart(); err != io.EOF {
		t.Errorf("more parts than were given: %v", err)
	}
}

func TestBodiesThatCannotBeMeant(t *testing.T) {
	for args, want := range map[string]string{
		`"multipart":[{"name":"a"}]`:                                         "/multipart/0: exactly one of text and base64",
		`"multipart":[{"name":"a","text":"x","base64":"AA=="}]`:              "exactly one",
		`"multipart":[{"name":"a\r\nX: 1","text":"x"}]`:                      "control character",
		`"multipart":[{"name":"a","text":"x","content_type":"a/b\r\nX: 1"}]`: "/multipart/0/content_type",
		`"multipart":[{"name":"a","base64":"%%"}]`:                           "/multipart/0/base64",
		`"form":{"a":"1"},"json":{}`:                                         "at most one",
		`"form":{"a":null}`:                                                  "/form",
		`"idempotency_key":"a\r\nX-Injected: 1"`:                             "/idempotency_key: 1 to 255 visible",
		`"idempotency_key":"` + strings.Repeat("k", 256) + `"`:               "/idempotency_key",
		`"multipart":[{"name":"a","text":"x"}],"body_base64":"AA=="`:         "at most one",
	} {
		_, err := toolRender(t, "http_request", `{"method":"POST","url":"https://a.example/",`+args+`}`)
		var problems action.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Injected") {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// TestGetIsTheSameAct: http_get makes the very draft of http_request.
func TestGetIsTheSameAct(t *testing.T) {
	rest := `"url":"https://a.example/x","query":{"q":"1"},"headers":{"Accept":"text/csv"},"credential":"ci","timeout_s":5,"max_bytes":9}`
	a, b := httpDraft(t, "http_get", `{`+rest), httpDraft(t, "http_request", `{"method":"GET",`+rest)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v and %+v", a, b)
	}
	c := tool(t, "http_get")
	if !c.Annotations.ReadOnly || c.Annotations.Destructive || !c.Annotations.Idempotent {
		t.Errorf("annotations %+v", c.Annotations)
	}
	if string(c.Output) != string(tool(t, "http_request").Output) {
		t.Error("http_get answers in another shape than http_request")
	}
}
