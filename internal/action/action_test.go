package action_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"executor/internal/action"

	"github.com/gowebpki/jcs"
)

func sample() *action.HTTP {
	return &action.HTTP{
		Method: "POST", URL: "https://api.example.com/v1/items?q=a%26b", Origin: "https://api.example.com",
		Headers: []action.Header{{Name: "Accept", Value: "*/*"}, {Name: "Content-Type", Value: "application/json"}},
		Body:    action.Blob{Bytes: []byte(`{"a":1}`)}, Binding: "https://api.example.com/v1/",
		Credential: &action.Credential{Name: "api", Version: 3, Type: "bearer", Slot: "header Authorization"},
		Limits:     action.Limits{Timeout: time.Minute, MaxBytes: 1 << 20},
	}
}

func command() *action.SSH {
	return &action.SSH{
		Host: "web-1", Command: "ls -l", Argv: []string{"ls", "-l"},
		Hops:   []action.Hop{{Address: "10.0.0.7:22", User: "deploy", HostKeys: []string{"ssh-ed25519 AAAA"}, Credential: &action.Credential{Name: "web", Version: 1, Type: "ssh-key", Slot: "ssh authentication"}}},
		Limits: action.Limits{Timeout: time.Minute, MaxBytes: 1 << 20},
	}
}

func file() *action.File {
	return &action.File{
		Operation: action.WriteFile, Host: "web-1", Hops: command().Hops, Path: "/srv/x", Mode: "0644", Overwrite: true, Expected: "sha256:00",
		Content: action.Blob{Bytes: []byte("hi")}, Limits: action.Limits{Timeout: time.Minute},
	}
}

// The canonical form is a format: these bytes are what digests are made of.
func TestCanonicalForm(t *testing.T) {
	for name, tt := range map[string]struct {
		a    action.Action
		want string
	}{
		"http": {sample(), `{"address":{"private":false},"binding":"https://api.example.com/v1/","body":{"length":7,"sha256":"015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"},"credential":{"name":"api","slot":"header Authorization","type":"bearer","version":3},"format":1,"headers":[{"name":"Accept","value":"*/*"},{"name":"Content-Type","value":"application/json"}],"kind":"http","limits":{"max_bytes":1048576,"timeout_ms":60000},"method":"POST","redirects":{"max":0},"tls":{},"url":"https://api.example.com/v1/items?q=a%26b"}`},
		"ssh":  {command(), `{"argv":["ls","-l"],"at_expiry":"signal, then close","command":"ls -l","env":[],"format":1,"hops":[{"address":"10.0.0.7:22","credential":{"name":"web","slot":"ssh authentication","type":"ssh-key","version":1},"host_keys":["ssh-ed25519 AAAA"],"user":"deploy"}],"host":"web-1","kind":"ssh","limits":{"max_bytes":1048576,"timeout_ms":60000},"quoting":"posix","stdin":{"length":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}`},
		"file": {file(), `{"content":{"length":2,"sha256":"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"},"expected_sha256":"sha256:00","format":1,"hops":[{"address":"10.0.0.7:22","credential":{"name":"web","slot":"ssh authentication","type":"ssh-key","version":1},"host_keys":["ssh-ed25519 AAAA"],"user":"deploy"}],"host":"web-1","kind":"sftp","limits":{"max_bytes":0,"timeout_ms":60000},"max_entries":0,"mode":"0644","operation":"write","overwrite":true,"path":"/srv/x"}`},
		"list": {&action.Targets{}, `{"format":1,"kind":"targets"}`},
	} {
		got, err := action.Canonical(tt.a)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if string(got) != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
		if digest, err := action.Digest(tt.a); err != nil || digest != action.Sum(got) {
			t.Errorf("%s: digest %s, %v", name, digest, err)
		}
	}
}

// Every field that decides what leaves the machine, or what it meets, is covered.
func TestTheDigestCoversEverything(t *testing.T) {
	for name, change := range map[string]func(*action.HTTP){
		"method":             func(a *action.HTTP) { a.Method = "PUT" },
		"url":                func(a *action.HTTP) { a.URL += "&x=1" },
		"header value":       func(a *action.HTTP) { a.Headers[0].Value = "x" },
		"header order":       func(a *action.HTTP) { a.Headers[0], a.Headers[1] = a.Headers[1], a.Headers[0] },
		"body":               func(a *action.HTTP) { a.Body.Bytes = []byte(`{"a":2}`) },
		"credential":         func(a *action.HTTP) { a.Credential = nil },
		"credential name":    func(a *action.HTTP) { a.Credential.Name = "x" },
		"credential version": func(a *action.HTTP) { a.Credential.Version++ },
		"slot":               func(a *action.HTTP) { a.Credential.Slot = "header X" },
		"binding":            func(a *action.HTTP) { a.Binding = "" },
		"redirects":          func(a *action.HTTP) { a.Redirects.Max = 5 },
		"verification":       func(a *action.HTTP) { a.TLS.SkipVerify = true },
		"private CA":         func(a *action.HTTP) { a.TLS.CA = "sha256:00" },
		"private addresses":  func(a *action.HTTP) { a.Address.Private = true },
		"proxy":              func(a *action.HTTP) { a.Address.Proxy = "http://p" },
		"time limit":         func(a *action.HTTP) { a.Limits.Timeout *= 2 },
		"size limit":         func(a *action.HTTP) { a.Limits.MaxBytes++ },
	} {
		a := sample()
		change(a)
		if digest(t, a) == digest(t, sample()) {
			t.Errorf("%s: the digest does not change", name)
		}
	}
	for name, change := range map[string]func(*action.SSH){
		"host":     func(a *action.SSH) { a.Host = "web-2" },
		"address":  func(a *action.SSH) { a.Hops[0].Address = "10.0.0.8:22" },
		"user":     func(a *action.SSH) { a.Hops[0].User = "root" },
		"host key": func(a *action.SSH) { a.Hops[0].HostKeys[0] = "ssh-ed25519 BBBB" },
		"jump":     func(a *action.SSH) { a.Hops = append(a.Hops[:1:1], a.Hops...) },
		"command":  func(a *action.SSH) { a.Command = "ls -la" },
		"argv":     func(a *action.SSH) { a.Argv = nil },
		"env":      func(a *action.SSH) { a.Env = []action.EnvVar{{Name: "A", Value: "b"}} },
		"stdin":    func(a *action.SSH) { a.Stdin.Bytes = []byte("x") },
		"time":     func(a *action.SSH) { a.Limits.Timeout *= 2 },
	} {
		a := command()
		change(a)
		if digest(t, a) == digest(t, command()) {
			t.Errorf("ssh %s: the digest does not change", name)
		}
	}
	for name, change := range map[string]func(*action.File){
		"operation": func(a *action.File) { a.Operation = action.ReadFile },
		"host":      func(a *action.File) { a.Host = "web-2" },
		"jump":      func(a *action.File) { a.Hops = append(a.Hops[:1:1], a.Hops...) },
		"path":      func(a *action.File) { a.Path = "/srv/y" },
		"mode":      func(a *action.File) { a.Mode = "0600" },
		"overwrite": func(a *action.File) { a.Overwrite = false },
		"expected":  func(a *action.File) { a.Expected = "" },
		"content":   func(a *action.File) { a.Content.Bytes = []byte("ho") },
		"entries":   func(a *action.File) { a.Entries++ },
		"size":      func(a *action.File) { a.Limits.MaxBytes++ },
	} {
		a := file()
		change(a)
		if digest(t, a) == digest(t, file()) {
			t.Errorf("file %s: the digest does not change", name)
		}
	}
}

func digest(t *testing.T, a action.Action) string {
	t.Helper()
	d, err := action.Digest(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func FuzzCanonical(f *testing.F) {
	f.Add("GET", "https://a.example/", "X-A", "v", []byte("body"))
	f.Add("", "\u2028<&>", "", "\x00", []byte{0xff})
	f.Fuzz(func(t *testing.T, method, url, name, value string, body []byte) {
		a := &action.HTTP{Method: method, URL: url, Headers: []action.Header{{Name: name, Value: value}}, Body: action.Blob{Bytes: body}}
		c, err := action.Canonical(a)
		if err != nil {
			return
		}
		again, err := action.Canonical(a)
		if err != nil || string(again) != string(c) {
			t.Fatalf("not the same twice: %s, %s, %v", c, again, err)
		}
		if rfc, err := jcs.Transform(c); err != nil || string(rfc) != string(c) {
			t.Fatalf("not in canonical form: %s, want %s, %v", c, rfc, err)
		}
		if !json.Valid(c) || strings.ContainsAny(string(c), "\n\x00") {
			t.Fatalf("not one line of JSON: %q", c)
		}
	})
}

func TestLevels(t *testing.T) {
	var zero action.Level
	if zero != action.Deny || zero.String() != "deny" {
		t.Errorf("the zero level is %v", zero)
	}
	order := []action.Level{action.Deny, action.Presence, action.Call, action.Session, action.None}
	for i, a := range order {
		for j, b := range order {
			if got := action.Stricter(a, b); got != order[min(i, j)] {
				t.Errorf("stricter of %v and %v: %v", a, b, got)
			}
		}
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back action.Level
		if err := json.Unmarshal(raw, &back); err != nil || back != a {
			t.Errorf("%v came back as %v, %v", a, back, err)
		}
	}
	got := action.None
	if err := json.Unmarshal([]byte(`"often"`), &got); err == nil || got != action.Deny {
		t.Errorf("an unknown level was read as %v, %v", got, err)
	}
	if action.Level(99).String() != "deny" {
		t.Errorf("a level out of range is %v", action.Level(99))
	}
}
