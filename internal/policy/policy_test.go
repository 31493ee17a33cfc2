package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/target"
)

const pin = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ4bCwKf1nVwJrcwvZtPYxqPSGmfFhQ2rLlTzJvZ8m9"

func item(t *testing.T, kind, name string, version int, body any) policy.Item {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return policy.Item{Kind: kind, Name: name, Version: version, Body: raw}
}

func bearer(t *testing.T, name string, version int, level action.Level, targets ...string) policy.Item {
	return item(t, policy.KindCredential, name, version, policy.Credential{Type: policy.Bearer, Targets: targets, Approval: level})
}

func load(t *testing.T, items ...policy.Item) *policy.Generation {
	t.Helper()
	g, err := policy.Load(1, items)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustURL(t *testing.T, raw string) target.URL {
	t.Helper()
	u, err := target.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestTheLongestPrefixBinds(t *testing.T) {
	g := load(t,
		bearer(t, "wide", 1, action.None, "https://api.example.com/"),
		bearer(t, "narrow", 1, action.None, "https://api.example.com/v1/admin/", "https://other.example/"),
		bearer(t, "elsewhere", 1, action.None, "https://api.example.com:8443/"),
	)
	for raw, want := range map[string]string{
		"https://api.example.com/v1/items":     "wide",
		"https://api.example.com/v1/admin/x":   "narrow",
		"https://api.example.com/v1/administe": "wide",
		"https://API.example.com./v1/admin/x":  "narrow",
		"https://api.example.com:8443/v1":      "elsewhere",
		"https://api.example.com:9000/v1":      "",
		"http://api.example.com/v1":            "",
		"https://evil-api.example.com/":        "",
		"https://example.com/":                 "",
	} {
		b, err := g.BindURL(mustURL(t, raw), "")
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		got := ""
		if b.Credential != nil {
			got = b.Credential.Name
		}
		if got != want {
			t.Errorf("%s: bound to %q, want %q", raw, got, want)
		}
	}
}

func TestANamedCredentialMustBeBound(t *testing.T) {
	g := load(t, bearer(t, "a", 1, action.None, "https://a.example/"), bearer(t, "b", 1, action.None, "https://b.example/"))
	if _, err := g.BindURL(mustURL(t, "https://a.example/"), "b"); !errors.Is(err, policy.ErrNotBound) {
		t.Errorf("credential b on a.example: %v", err)
	}
	if _, err := g.BindURL(mustURL(t, "https://a.example/"), "no-such"); !errors.Is(err, policy.ErrNotBound) {
		t.Errorf("a credential that does not exist: %v", err)
	}
	var zero policy.Generation
	if b, err := zero.BindURL(mustURL(t, "https://a.example/"), ""); err != nil || b.Credential != nil {
		t.Errorf("the zero generation bound %+v, %v", b, err)
	}
}

func TestTheFloorIsTheStrictestOfAllThatMatch(t *testing.T) {
	g := load(t,
		bearer(t, "lax", 1, action.None, "https://api.example.com/v1/"),
		bearer(t, "strict", 1, action.Presence, "https://api.example.com/"),
		bearer(t, "other", 1, action.Presence, "https://other.example/"),
	)
	b, err := g.BindURL(mustURL(t, "https://api.example.com/v1/x"), "lax")
	if err != nil || b.Credential.Name != "lax" || b.Floor != action.Presence {
		t.Errorf("%+v, %v", b, err)
	}
	if len(b.Items) != 2 {
		t.Errorf("items that took part: %v", b.Items)
	}
}

func TestTheNewestVersionCounts(t *testing.T) {
	g := load(t, bearer(t, "a", 2, action.Call, "https://a.example/"), bearer(t, "a", 1, action.None, "https://a.example/"))
	c, _ := g.Credential("a")
	if c.Version != 2 || c.Approval != action.Call {
		t.Errorf("%+v", c)
	}
	if ref := c.Ref(); ref.Version != 2 || ref.Slot != "header Authorization" {
		t.Errorf("%+v", ref)
	}
}

func TestHosts(t *testing.T) {
	key := item(t, policy.KindCredential, "key", 3, policy.Credential{Type: policy.SSHKey, Targets: []string{"ssh://web-1.example.com:22"}, Approval: action.Call})
	host := func(addr, credential string) policy.Item {
		return item(t, policy.KindHost, "web-1", 1, policy.Host{Addr: addr, User: "deploy", Credential: credential, HostKeys: []string{pin}, Approval: action.Presence})
	}
	way, b, err := load(t, key, host("Web-1.example.com:22", "key")).BindHost("web-1")
	if err != nil || len(way) != 1 || way[0].Host.Addr != "web-1.example.com:22" || b.Credential.Version != 3 || b.Floor != action.Presence {
		t.Errorf("%+v %+v %v", way, b, err)
	}
	if _, _, err := load(t, key, host("web-1.example.com:2222", "key")).BindHost("web-1"); !errors.Is(err, policy.ErrNotBound) {
		t.Errorf("another port: %v", err)
	}
	if _, _, err := load(t, key, host("web-1.example.com:22", "gone")).BindHost("web-1"); !errors.Is(err, policy.ErrNotBound) {
		t.Errorf("a credential that is gone: %v", err)
	}
	if _, _, err := load(t, key).BindHost("web-1"); !errors.Is(err, policy.ErrUnknownHost) {
		t.Errorf("no host: %v", err)
	}
}

// A floor that is missing in the vault denies: nothing that was forgotten allows.
func TestAMissingFloorDenies(t *testing.T) {
	g := load(t, policy.Item{Kind: policy.KindCredential, Name: "a", Version: 1,
		Body: []byte(`{"type":"bearer","targets":["https://a.example/"],"created":"2026-01-01T00:00:00Z"}`)})
	if b, err := g.BindURL(mustURL(t, "https://a.example/"), ""); err != nil || b.Floor != action.Deny {
		t.Errorf("floor %v, %v", b.Floor, err)
	}
}

func TestWhatDoesNotLoad(t *testing.T) {
	for body, want := range map[string]string{
		`{"type":"bearer","targets":[],"approval":"none"}`:                                                          "target",
		`{"type":"bearer","targets":["http://api.example.com/"],"approval":"none"}`:                                 "http",
		`{"type":"bearer","targets":["ssh://a.example:22"],"approval":"none"}`:                                      "does not fit",
		`{"type":"ssh-key","targets":["https://a.example/"],"approval":"none"}`:                                     "does not fit",
		`{"type":"magic","targets":["https://a.example/"],"approval":"none"}`:                                       "magic",
		`{"type":"bearer","targets":["https://a.example/"],"approval":"often"}`:                                     "often",
		`{"type":"bearer","targets":["https://a.example/"],"approval":"none","extra":1}`:                            "extra",
		`{"type":"basic","targets":["https://a.example/"],"approval":"none"}`:                                       "username",
		`{"type":"basic","targets":["https://a.example/"],"approval":"none","username":"a:b"}`:                      "username",
		`{"type":"bearer","targets":["https://a.example/"],"approval":"none","username":"a"}`:                       "username",
		`{"type":"header","targets":["https://a.example/"],"approval":"none"}`:                                      "header",
		`{"type":"header","targets":["https://a.example/"],"approval":"none","header":"Host"}`:                      "Host",
		`{"type":"header","targets":["https://a.example/"],"approval":"none","header":"X-Key","format":"no place"}`: "format",
		`{"type":"header","targets":["https://a.example/"],"approval":"none","header":"X Key"}`:                     "header",
	} {
		_, err := policy.Load(1, []policy.Item{{Kind: policy.KindCredential, Name: "a", Version: 1, Body: []byte(body)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something about %q", body, err, want)
		}
	}
	if _, err := policy.Load(1, []policy.Item{{Kind: "spell", Name: "a", Version: 1, Body: []byte(`{}`)}}); err == nil {
		t.Error("an unknown kind was loaded")
	}
	for name, h := range map[string]policy.Host{
		"no key":       {Addr: "a.example:22", User: "u", Credential: "c"},
		"odd user":     {Addr: "a.example:22", User: "-oProxyCommand=x", Credential: "c", HostKeys: []string{pin}},
		"odd address":  {Addr: "-oProxyCommand=x:22", User: "u", Credential: "c", HostKeys: []string{pin}},
		"no login":     {Addr: "a.example:22", User: "u", HostKeys: []string{pin}},
		"line in user": {Addr: "a.example:22", User: "u\nroot", Credential: "c", HostKeys: []string{pin}},
	} {
		if _, err := policy.Load(1, []policy.Item{item(t, policy.KindHost, "h", 1, h)}); err == nil {
			t.Errorf("%s: %+v was loaded", name, h)
		}
	}
}

func TestDefaultLevels(t *testing.T) {
	for _, tt := range []struct {
		a    action.Action
		want action.Level
	}{
		{&action.Targets{}, action.None},
		{&action.HTTP{Method: "GET", Binding: "https://a.example/"}, action.Session},
		{&action.HTTP{Method: "HEAD", Binding: "https://a.example/"}, action.Session},
		{&action.HTTP{Method: "OPTIONS", Binding: "https://a.example/"}, action.Session},
		{&action.HTTP{Method: "GET"}, action.Call}, // no binding covers it
		{&action.HTTP{Method: "get", Binding: "https://a.example/"}, action.Call},
		{&action.HTTP{Method: "POST", Binding: "https://a.example/"}, action.Call},
		{&action.HTTP{Method: "DELETE", Binding: "https://a.example/"}, action.Call},
		{&action.SSH{}, action.Call},
	} {
		if got := policy.DefaultLevel(tt.a); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.a, got, tt.want)
		}
	}
}

func TestSummaryShowsNoAddressAndNoUser(t *testing.T) {
	g := load(t,
		bearer(t, "api", 1, action.Call, "https://api.example.com/v1/"),
		item(t, policy.KindCredential, "key", 1, policy.Credential{Type: policy.SSHKey, Targets: []string{"ssh://10.9.8.7:22"}, Approval: action.None}),
		item(t, policy.KindHost, "web-1", 1, policy.Host{Addr: "10.9.8.7:22", User: "deployer", Credential: "key", HostKeys: []string{pin}, Approval: action.Presence}),
	)
	hosts, bindings := g.Summary()
	raw, err := json.Marshal([]any{hosts, bindings})
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{"10.9.8.7", "deployer", "AAAA"} {
		if strings.Contains(string(raw), hidden) {
			t.Errorf("the summary shows %q: %s", hidden, raw)
		}
	}
	if len(hosts) != 1 || hosts[0].Level != action.Presence || len(bindings) != 1 || bindings[0].Read != action.Call {
		t.Errorf("%s", raw)
	}
}
