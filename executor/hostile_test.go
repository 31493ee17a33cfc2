package executor_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"executor/approval"
	"executor/executor"
	"executor/internal/policy"
)

// caseArgs are the arguments of the tool calls in a transcript.
func caseArgs(t *testing.T, file string) []map[string]any {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for line := range bytes.Lines(raw) {
		var m struct {
			Method string
			Params struct{ Arguments map[string]any }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "tools/call" {
			out = append(out, m.Params.Arguments)
		}
	}
	if len(out) < 4 {
		t.Fatalf("%s has %d calls", file, len(out))
	}
	return out
}

// echoAPI is one server with one credential that a test chooses.
type echoAPI struct {
	*apiWorld
	url  string
	hits atomic.Int32
	head atomic.Pointer[http.Request]
}

func newEchoAPI(t *testing.T, meta policy.Credential, value string, h http.HandlerFunc) *echoAPI {
	t.Helper()
	e := &echoAPI{}
	srv := quiet(t, nil, func(w http.ResponseWriter, r *http.Request) {
		e.hits.Add(1)
		e.head.Store(r.Clone(r.Context()))
		if h != nil {
			h(w, r)
		}
	})
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	e.url, meta.Targets = srv.URL, []string{srv.URL + "/"}
	e.apiWorld = newAPIWorld(t, roots, map[string]policy.Credential{"api-demo": meta}, map[string][]byte{"api-demo": []byte(value)})
	e.yes()
	return e
}

const strong = "str0ng-Secret-1a2b3c4d5e"

// TestHeadersOfTheAgent: nothing that an agent sets stands beside the credential
// or re-routes the request; values with line breaks never leave.
func TestHeadersOfTheAgent(t *testing.T) {
	for name, meta := range map[string]policy.Credential{
		"header": {Type: policy.HeaderType, Header: "X-Api-Key"}, "bearer": {Type: policy.Bearer},
	} {
		e := newEchoAPI(t, meta, strong, nil)
		for _, file := range []string{"testdata/http-06.jsonl", "testdata/http-07.jsonl"} {
			for _, args := range caseArgs(t, file) {
				args["url"] = e.url + "/echo"
				before := e.hits.Load()
				r := e.request(args)
				if r.IsError {
					if e.hits.Load() != before || r.Structured["side_effect_started"] != false {
						t.Errorf("%s %v: refused, and sent", name, args)
					}
					clean(t, "the refusal", seen(t, r), strong)
					continue
				}
				got := e.head.Load().Header
				if name == "header" || len(got["Authorization"]) != 1 || got.Get("Authorization") != "Bearer "+strong {
					t.Errorf("%s %v: sent with %v", name, args, got)
				}
				if got.Get("X-Injected") != "" {
					t.Errorf("%v: a header was injected", args)
				}
			}
		}
	}
}

// TestTheCredentialsParameterIsItsOwn, in every spelling that servers take for it.
func TestTheCredentialsParameterIsItsOwn(t *testing.T) {
	e := newEchoAPI(t, policy.Credential{Type: policy.Query, Param: "api_key"}, strong, nil)
	for _, query := range []string{"api_key=x", "API_KEY=x", "a=1&api%5Fkey=x", "a=1;api_key=x", "api_key[]=x", "api.key=x", "api%20key=x", "api+key=x", "api_key", "api%2ekey=1"} {
		r := e.request(map[string]any{"method": "GET", "url": e.url + "/?" + query})
		if code(r) != string(executor.InvalidArguments) || !strings.Contains(fmt.Sprint(r.Structured["problems"]), "parameter that carries the credential") {
			t.Errorf("%s: %v", query, r.Structured)
		}
	}
	if r := e.request(map[string]any{"method": "GET", "url": e.url + "/", "query": map[string]string{"Api_Key": "x"}}); code(r) != string(executor.InvalidArguments) {
		t.Errorf("query: %v", r.Structured)
	}
	if e.hits.Load() != 0 {
		t.Error("something was sent")
	}
	r := e.request(map[string]any{"method": "GET", "url": e.url + "/?q=api_key"})
	if r.IsError || e.head.Load().URL.RawQuery != "q=api_key&api_key="+strong || r.Structured["final_url"] != e.url+"/?q=api_key" {
		t.Errorf("%v, sent %q", r.Structured, e.head.Load().URL.RawQuery)
	}
}

func TestARedirectThatNamesTheParameterIsNotFollowed(t *testing.T) {
	e := newEchoAPI(t, policy.Credential{Type: policy.Query, Param: "key"}, strong, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/next?"+r.URL.RawQuery, http.StatusFound)
	})
	r := e.request(map[string]any{"method": "GET", "url": e.url + "/"})
	if r.Structured["status"] != 302 || e.hits.Load() != 1 || !strings.Contains(fmt.Sprint(r.Structured["note"]), "own parameter") || r.Structured["redirect"] != e.url+"/next?key=[credential api-demo]" {
		t.Errorf("%v", r.Structured)
	}
	clean(t, "the result", seen(t, r), strong)
	clean(t, "the journal", e.journalBytes(), strong)
}

// TestAWeakSecretThatComesBack withholds everything, the second time suspends the
// session, and leaves nothing in the journal, wherever the server puts it.
func TestAWeakSecretThatComesBack(t *testing.T) {
	const weak = "hunter2-Zq"
	for place, h := range map[string]http.HandlerFunc{
		"body":   func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "you sent ", weak) },
		"header": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-You-Sent", weak) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/"+weak, http.StatusFound)
		},
		"error": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, weak)
		},
		"utf-16": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-16le")
			for _, c := range []byte(weak) {
				w.Write([]byte{c, 0})
			}
		},
	} {
		e := newEchoAPI(t, policy.Credential{Type: policy.Bearer}, weak, h)
		r := e.request(map[string]any{"method": "GET", "url": e.url + "/"})
		if code(r) != string(executor.ResultWithheld) || r.Structured["body"] != nil || r.Structured["headers"] != nil {
			t.Errorf("%s: %v", place, r.Structured)
		}
		out := seen(t, r)
		if got := e.last(); got.Outcome.ResponseSHA256 != "" || got.Outcome.ErrorCode != string(executor.ResultWithheld) {
			t.Errorf("%s: the journal keeps a hash to guess by: %+v", place, got.Outcome)
		}
		e.request(map[string]any{"method": "GET", "url": e.url + "/"})
		third := e.request(map[string]any{"method": "GET", "url": e.url + "/"})
		if code(third) != string(executor.ResultWithheld) || e.hits.Load() != 2 {
			t.Errorf("%s: the session goes on: %v, %d requests", place, third.Structured, e.hits.Load())
		}
		if bytes.Contains(append(out, e.journalBytes()...), []byte(weak)) {
			t.Errorf("%s: the weak secret came out", place)
		}
	}
}

// TestCutInTheMiddleOfASecret: neither the byte limit nor the time limit leaves its first half.
func TestCutInTheMiddleOfASecret(t *testing.T) {
	e := newEchoAPI(t, policy.Credential{Type: policy.Bearer}, strong, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "pad ", strong[:15])
		w.(http.Flusher).Flush()
		if r.URL.Path == "/wait" {
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, strong[15:])
	})
	for what, args := range map[string]map[string]any{
		"bytes": {"method": "GET", "url": e.url + "/", "max_bytes": 18}, "time": {"method": "GET", "url": e.url + "/wait", "timeout_s": 1},
	} {
		r := e.request(args)
		if out := string(seen(t, r)); strings.Contains(out, strong[:8]) || !strings.Contains(out, "pad [credential api-demo]") {
			t.Errorf("%s: %.400s", what, out)
		}
		if what == "time" && (code(r) != string(executor.UpstreamTimeout) || r.Structured["status"] != 200 || r.Structured["truncated"] != true) {
			t.Errorf("%v", r.Structured)
		}
	}
}

func TestSetCookie(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		e := newEchoAPI(t, policy.Credential{Type: policy.Bearer, AllowSetCookie: allowed}, strong, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Set-Cookie"] = []string{"sid=s3ss10n; Path=/"}
		})
		r := e.request(map[string]any{"method": "GET", "url": e.url + "/"})
		want := map[bool]string{true: "sid=s3ss10n; Path=/", false: "sid=[withheld]"}[allowed]
		if got := r.Structured["headers"].(map[string]string)["Set-Cookie"]; got != want {
			t.Errorf("allowed %v: %q", allowed, got)
		}
	}
}

// TestServersThatTheSystemDoesNotKnow: a private CA, a client certificate and
// unverified TLS are the credential's alone, and on the screen.
func TestServersThatTheSystemDoesNotKnow(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	var certs atomic.Int32
	srv := quiet(t, &tls.Config{Certificates: []tls.Certificate{ca.server(t)}, ClientAuth: tls.RequestClientCert}, func(w http.ResponseWriter, r *http.Request) {
		certs.Store(int32(len(r.TLS.PeerCertificates)))
	})
	cert, key := ca.client(t)
	for name, c := range map[string]struct {
		meta   policy.Credential
		ok     bool
		screen string
	}{
		"unknown":    {policy.Credential{Type: policy.Bearer}, false, ""},
		"ca":         {policy.Credential{Type: policy.Bearer, CA: ca.pem}, true, "private CA alone"},
		"other ca":   {policy.Credential{Type: policy.Bearer, CA: other.pem}, false, "private CA alone"},
		"unverified": {policy.Credential{Type: policy.Bearer, SkipVerify: true}, true, "NOT verified"},
		"mtls":       {policy.Credential{Type: policy.MTLS, Cert: cert, CA: ca.pem}, true, "client certificate sha256:"},
	} {
		secretOf := strong
		if name == "mtls" {
			secretOf = key
		}
		c.meta.Targets = []string{srv.URL + "/"}
		a := newAPIWorld(t, x509.NewCertPool(), map[string]policy.Credential{"api": c.meta}, map[string][]byte{"api": []byte(secretOf)})
		screen := ""
		a.operator(func(p *approval.Prompt) approval.Answer {
			screen = fmt.Sprint(p.Sheet)
			return approval.Answer{Verdict: approval.Yes}
		})
		r := a.request(map[string]any{"method": "GET", "url": srv.URL + "/"})
		if r.IsError == c.ok || !strings.Contains(screen, c.screen) {
			t.Errorf("%s: %v, screen %s", name, r.Structured, screen)
		}
		if !c.ok && !strings.Contains(fmt.Sprint(r.Structured["message"]), "not signed by an authority") {
			t.Errorf("%s: %v", name, r.Structured)
		}
		if c.ok && (certs.Load() == 1) != (name == "mtls") {
			t.Errorf("%s: %d client certificates", name, certs.Load())
		}
		// A target without the credential does not inherit its policy.
		if r := a.request(map[string]any{"method": "GET", "url": "https://example.com/"}); !r.IsError {
			t.Errorf("%s: %v", name, r.Structured)
		}
	}
}

// TestGetReads: http_get is http_request's GET under a name that says so.
func TestGetReads(t *testing.T) {
	e := newEchoAPI(t, policy.Credential{Type: policy.Bearer}, strong, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Method, r.Header.Get("Authorization")) })
	r := e.call("http_get", `{"url":"`+e.url+`/x"}`)
	if r.Structured["body"] != "GETBearer [credential api-demo]" || e.last().Tool != "http_get" {
		t.Errorf("%v", r.Structured)
	}
}
