package e2e_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A credential never follows a redirect to another origin: not to another host,
// not to another port, in no slot (HTTP-01, HTTP-02).
func TestRedirectsToOtherOrigins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web, other := newAPI(t), newAPI(t)
	secrets := map[string]string{
		"bearer": w.credential("bearer", "--type", "bearer", "--target", web.URL+"/"),
		"header": w.credential("header", "--type", "header", "--header", "X-Api-Key", "--target", web.URL+"/"),
		"basic":  w.credential("basic", "--type", "basic", "--username", "me", "--target", web.URL+"/"),
	}
	screen := w.serve()
	a := w.agent()
	_, port, _ := strings.Cut(strings.TrimPrefix(other.URL, "http://"), ":")
	first := true
	for name, secret := range secrets {
		for _, to := range []string{other.URL + "/echo", "http://localhost:" + port + "/echo"} {
			c := a.begin("http_request", args{"method": "GET", "url": web.URL + "/redir?code=302&to=" + url.QueryEscape(to), "credential": name})
			if first || to == other.URL+"/echo" { // one yes for each credential
				screen.answers("y")
			}
			first = false
			r := c.succeeds()
			note, _ := r.Fields["note"].(string)
			origin := strings.TrimSuffix(to, "/echo")
			if r.Fields["status"] != float64(302) || !strings.Contains(note, origin) || !strings.Contains(note, "not followed") {
				t.Errorf("%s to %s: %v", name, to, r.Fields)
			}
			if down := string(w.last().Downstream); !strings.Contains(down, "not forwarded") || !strings.Contains(down, to) {
				t.Errorf("journal of %s to %s: %s", name, to, down)
			}
		}
		got := web.requests()
		line := got[len(got)-1].Header
		if name == "basic" {
			secret = base64.StdEncoding.EncodeToString([]byte("me:" + secret))
		}
		if !strings.Contains(line.Get("Authorization")+line.Get("X-Api-Key"), secret) {
			t.Errorf("%s: the credential was not sent to its own origin", name)
		}
	}
	if got := other.requests(); len(got) != 0 {
		t.Errorf("%d requests reached the other origin", len(got))
	}
}

// A write is never turned into a read and never sent again elsewhere (HTTP-03).
func TestRedirectedWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web, other := newAPI(t), newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	sent := 0
	for i, method := range []string{"POST", "PUT", "DELETE"} {
		for _, code := range []int{301, 302, 307, 308} {
			to := []string{web.URL, other.URL}[(i+code)%2] + "/elsewhere"
			c := a.begin("http_request", args{"method": method, "url": web.URL + "/redir?code=" + strconv.Itoa(code) + "&to=" + url.QueryEscape(to), "json": args{"amount": 1}})
			screen.answers("y")
			r := c.succeeds()
			sent++
			if r.Fields["status"] != float64(code) || !strings.Contains(r.Text, to) || !strings.Contains(r.Text, "not followed") {
				t.Errorf("%s %d: %s", method, code, r.Text)
			}
		}
	}
	got := web.requests()
	if len(got) != sent || len(other.requests()) != 0 {
		t.Errorf("%d and %d requests for %d calls", len(got), len(other.requests()), sent)
	}
	for _, r := range got {
		if r.Body != `{"amount":1}` || r.Method == "GET" {
			t.Errorf("on the wire: %s %s", r.Method, r.Body)
		}
	}
}

// Headers that carry authority or frame the request are not the agent's to set (HTTP-06, HTTP-07).
func TestHeadersOfTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	key := w.credential("api-demo", "--type", "header", "--header", "X-Api-Key", "--target", web.URL+"/echo")
	token := w.credential("token", "--type", "bearer", "--target", web.URL+"/echo")
	screen := w.serve()
	a := w.agent()
	here := func(c args) args {
		c["url"] = web.URL + "/echo"
		return c
	}
	for _, credential := range []string{"api-demo", "token"} {
		for id, c := range caseArgs(t, "HTTP-06/override-headers.jsonl") {
			c["credential"] = credential
			name := ""
			for name = range c["headers"].(map[string]any) {
			}
			if credential == "token" && strings.EqualFold(name, "x-api-key") {
				continue // an ordinary header there
			}
			r := a.begin("http_request", here(c)).refused("INVALID_ARGUMENTS")
			if !strings.Contains(strings.ToLower(r.Text), strings.ToLower("/headers/"+name)) {
				t.Errorf("line %s: the header is not named: %s", id, r.Text)
			}
			if strings.Contains(r.Text, "agent-made-up") {
				t.Errorf("line %s: the value is repeated: %s", id, r.Text)
			}
		}
	}
	for id, c := range caseArgs(t, "HTTP-07/header-newlines.jsonl") {
		word := "headers"
		if id == "5" {
			word = "method"
		}
		if r := a.begin("http_request", here(c)).refused("INVALID_ARGUMENTS", word); strings.Contains(r.Text, "X-Injected: 1") {
			t.Errorf("line %s: the value is repeated: %s", id, r.Text)
		}
	}
	screen.quiet()
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	for name, want := range map[string]string{"api-demo": key, "token": "Bearer " + token} {
		c := a.begin("http_request", args{"method": "GET", "url": web.URL + "/echo", "credential": name, "headers": args{"x-note": "mine"}})
		screen.answers("y")
		c.succeeds()
		got := web.requests()
		last := got[len(got)-1]
		slot := map[string]string{"api-demo": "X-Api-Key", "token": "Authorization"}[name]
		if v := last.Header[slot]; len(v) != 1 || v[0] != want || last.Host != strings.TrimPrefix(web.URL, "http://") || last.Header.Get("X-Note") != "mine" {
			t.Errorf("%s: on the wire: %d values in its slot, host %s", name, len(v), last.Host)
		}
		for _, h := range []string{"Referer", "Cookie", "Proxy-Connection"} {
			if last.Header.Get(h) != "" {
				t.Errorf("%s was sent", h)
			}
		}
	}
}

// A secret that was read from a file loses its one line break, and is told (HTTP-07).
func TestSecretWithNewline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	text, err := os.ReadFile(filepath.Join("testdata", "cases", "HTTP-07", "secret-with-newline.txt"))
	if err != nil {
		t.Fatal(err)
	}
	secret := w.canary("api", strings.TrimSpace(string(text)))
	add := []string{"--type", "header", "--header", "X-Api-Key", "--target", web.URL + "/one"}
	if r := w.runWith(string(text), w.unlocking(append([]string{"credential", "add", "by-stdin"}, add...)...)...); r.code != 0 || !strings.Contains(r.errors, "line break") {
		t.Errorf("by stdin: %+v", r)
	}
	add[5] = web.URL + "/two"
	if r := w.run(w.unlocking(append([]string{"credential", "add", "by-file", "--from-file", w.file("s", string(text))}, add...)...)...); r.code != 0 || !strings.Contains(r.errors, "line break") {
		t.Errorf("by file: %+v", r)
	}
	for name, bad := range map[string]string{"crlf inside": "abc\r\nX-Injected: 1", "two line breaks": "abc\n\n", "a space": " abc", "nothing": ""} {
		if r := w.runWith(bad, w.unlocking(append([]string{"credential", "add", "bad"}, add...)...)...); r.code != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	screen := w.serve()
	a := w.agent()
	for _, path := range []string{"/one", "/two"} {
		c := a.get(web.URL + path)
		screen.answers("y")
		c.succeeds()
		got := web.requests()
		if v := got[len(got)-1].Header["X-Api-Key"]; len(v) != 1 || v[0] != secret {
			t.Errorf("%s: another value than the secret was sent", path)
		}
	}
}

// What comes back is masked in every spelling, across chunks and at the cut (RED-01, RED-02).
func TestMasking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	text, err := os.ReadFile(filepath.Join("testdata", "cases", "RED-01", "secret.txt"))
	if err != nil {
		t.Fatal(err)
	}
	secret := w.canary("api-demo", strings.TrimRight(string(text), "\n"))
	w.store("api-demo", secret, "--type", "header", "--header", "X-Api-Key", "--target", web.URL+"/")
	box := w.sshd()
	box.register("box")
	// A file that holds the secret, on the remote side only.
	held := filepath.Join(w.drop(), "held")
	w.write(held, []byte(secret))
	w.chmod(held, 0o644)
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/echo")
	screen.answers("y")
	for path, rest := range map[string]string{"/echo": "X-Api-Key", "/echo64": "end-of-body", "/split": "behind"} {
		r := a.get(web.URL + path).succeeds()
		if body, _ := r.Fields["body"].(string); !strings.Contains(r.Text, "[credential api-demo]") || !strings.Contains(body+r.Text, rest) || r.Fields["redactions"] == float64(0) {
			t.Errorf("%s: %s", path, r.Text)
		}
	}
	c.succeeds()
	for command, rest := range map[string]string{
		"cat " + held + "; echo; echo rest":                      "rest",
		"base64 -w0 " + held + "; echo rest":                     "rest",
		"(printf x; cat " + held + ") | base64 -w0 >&2":          "",
		"od -An -v -tx1 " + held + " | tr -d ' \\n'":             "",
		"head -c 9 " + held + "; sleep 0.3; tail -c +10 " + held: "",
	} {
		r := runs(screen, a, "box", command).succeeds()
		if !strings.Contains(r.Text, "[credential api-demo]") || !strings.Contains(r.Text, rest) {
			t.Errorf("%s: %s", command, r.Text)
		}
	}
	for cut := 4; cut < len(secret); cut += 7 { // the output is cut in the middle of the secret
		c := a.begin("ssh_exec", args{"host": "box", "command": "printf 0123456789; cat " + held, "max_bytes": 10 + cut})
		screen.answers("y")
		out, _ := c.succeeds().Fields["stdout"].(string)
		if !strings.HasPrefix(out, "0123456789") || cut >= 8 && strings.Contains(out, secret[:8]) {
			t.Errorf("cut after %d bytes of the secret: %q", cut, out)
		}
	}
	w.fragments(secret)
	a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": "[credential api-demo]"}).refused("CREDENTIAL_IN_ARGUMENTS")
	w.verified()
}

// fragments looks for the beginning of a secret in what agents read and in the home.
func (w *world) fragments(secret string) {
	w.Helper()
	for _, c := range w.captures {
		if strings.HasPrefix(c.name, "what an agent") && strings.Contains(c.String(), secret[:8]) {
			w.Errorf("%s holds the first 8 bytes of the secret", c.name)
		}
	}
	files, err := filepath.Glob(filepath.Join(w.home, "journal.*"))
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range files {
		if bytes.Contains(w.read(f), []byte(secret[:8])) {
			w.Errorf("%s holds the first 8 bytes of the secret", f)
		}
	}
}

// A secret that is too short to be masked safely withholds the result, and the
// second time suspends the session.
func TestWeakSecretWithholds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	secret := w.canary("weak", "pin-49317")
	w.store("weak", secret, "--type", "header", "--header", "X-Api-Key", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/plain")
	screen.answers("y")
	c.succeeds()
	r := a.get(web.URL+"/echo").refused("RESULT_WITHHELD", "ask_operator")
	if r.Fields["side_effect_started"] != true || r.Fields["body"] != nil {
		t.Errorf("result: %v", r.Fields)
	}
	a.get(web.URL + "/echo64").refused("RESULT_WITHHELD")
	sent := len(web.requests())
	a.get(web.URL+"/plain").refused("RESULT_WITHHELD", "suspended")
	if len(web.requests()) != sent {
		t.Error("a suspended session still sends")
	}
	w.verified()
}

// An agent that sends a secret is refused, and the journal holds it masked only.
func TestSecretInArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	secret := random() // planted below, when the agent's own words were sent
	w.store("api", secret, "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	for _, spelled := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), url.QueryEscape(secret)} {
		r := a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": "x" + spelled}).refused("CREDENTIAL_IN_ARGUMENTS")
		if strings.Contains(r.Text, spelled) {
			t.Errorf("the refusal repeats it")
		}
	}
	w.canary("api", secret)
	screen.quiet()
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	if got := w.last(); got.Outcome.Status != "refused" || !strings.Contains(got.RawArgs, "[credential api]") {
		t.Errorf("journal: %+v", got)
	}
}

// Responses: bounded, binary as base64, no cookie of the server.
func TestResponses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newTLS(t)
	w.env = append(w.env, "SSL_CERT_FILE="+w.certificate(web))
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	unbound := newTLS(t)
	screen := w.serve()
	a := w.agent()
	c := a.begin("http_request", args{"method": "GET", "url": web.URL + "/big?n=2000000&row=x", "max_bytes": 1000})
	screen.answers("y")
	r := c.succeeds()
	if body, _ := r.Fields["body"].(string); len(body) != 1000 || r.Fields["truncated"] != true {
		t.Errorf("%d bytes, truncated %v", len(body), r.Fields["truncated"])
	}
	for url, code := range map[string]string{
		"http://169.254.169.254/latest/meta-data/":                      "TARGET_BLOCKED",
		"http://2852039166/":                                            "TARGET_BLOCKED",
		"http://127.0.0.1:1/":                                           "TARGET_BLOCKED",
		"https://user@" + strings.TrimPrefix(web.URL, "https://") + "/": "INVALID_ARGUMENTS",
		web.URL + "/a/../b":                                             "INVALID_ARGUMENTS",
		web.URL + "/a/%2e%2e/b":                                         "INVALID_ARGUMENTS",
		"file:///etc/passwd":                                            "INVALID_ARGUMENTS",
		unbound.URL + "/":                                               "TARGET_BLOCKED",
	} {
		a.get(url).refused(code)
	}
	screen.quiet()
	if n := len(unbound.requests()); n != 0 {
		t.Errorf("%d requests to a target without a binding", n)
	}
	if got := web.requests()[0].Header; got.Get("Authorization") == "" || got.Get("User-Agent") == "" {
		t.Errorf("headers: %v", http.Header(got))
	}
}
