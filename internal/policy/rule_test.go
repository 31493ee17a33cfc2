package policy_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"executor/internal/action"
	"executor/internal/policy"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func rule(t *testing.T, name string, r policy.Rule) policy.Item {
	t.Helper()
	r.Created = noon
	return item(t, policy.KindRule, name, 1, r)
}

func command(line string) *action.SSH { return &action.SSH{Host: "web-1", Command: line} }

func argv(args ...string) *action.SSH { return &action.SSH{Host: "web-1", Command: "x", Argv: args} }

func request(method, url string) *action.HTTP { return &action.HTTP{Method: method, URL: url} }

func judge(g *policy.Generation, tool string, a action.Action) policy.Ruling {
	return g.Judge(policy.Case{Tool: tool, Action: a, Default: policy.DefaultLevel(a), At: noon, Used: func(*policy.Rule) int { return 0 }})
}

func TestARuleOnACommand(t *testing.T) {
	status := policy.Rule{Approval: action.Session, Tool: "ssh_exec", Host: "web-1", Argv: "systemctl status *"}
	g := load(t, rule(t, "status", status))
	for name, tt := range map[string]struct {
		a    action.Action
		tool string
		want bool
	}{
		"a plain line":          {command("systemctl status nginx"), "ssh_exec", true},
		"a quoted word":         {command("systemctl 'status' \"nginx\""), "ssh_exec", true},
		"argv":                  {argv("systemctl", "status", "nginx"), "ssh_exec", true},
		"argv with anything":    {argv("systemctl", "status", "a; id"), "ssh_exec", true}, // one argument, quoted on its way
		"an option for *":       {command("systemctl status --now"), "ssh_exec", false},
		"an option in argv":     {argv("systemctl", "status", "-H"), "ssh_exec", false},
		"nothing for *":         {command("systemctl status ''"), "ssh_exec", false},
		"a line break for *":    {argv("systemctl", "status", "a\nb"), "ssh_exec", false},
		"more words":            {command("systemctl status nginx sshd"), "ssh_exec", false},
		"fewer words":           {command("systemctl status"), "ssh_exec", false},
		"another verb":          {command("systemctl restart nginx"), "ssh_exec", false},
		"a path":                {command("/tmp/systemctl status nginx"), "ssh_exec", false},
		"an operator":           {command("systemctl status nginx; id"), "ssh_exec", false},
		"a pipe":                {command("systemctl status nginx | sh"), "ssh_exec", false},
		"a substitution":        {command("systemctl status $(id)"), "ssh_exec", false},
		"a second line":         {command("systemctl status nginx\nid"), "ssh_exec", false},
		"an assignment":         {command("LD_PRELOAD=/tmp/x systemctl status nginx"), "ssh_exec", false},
		"a glob":                {command("systemctl status *"), "ssh_exec", false},
		"a redirection":         {command("systemctl status nginx >/etc/passwd"), "ssh_exec", false},
		"another tool":          {command("systemctl status nginx"), "deploy", false},
		"another host":          {&action.SSH{Host: "web-10", Command: "systemctl status nginx"}, "ssh_exec", false},
		"a variable":            {&action.SSH{Host: "web-1", Command: "systemctl status nginx", Env: []action.EnvVar{{Name: "LD_PRELOAD", Value: "x"}}}, "ssh_exec", false},
		"standard input":        {&action.SSH{Host: "web-1", Command: "systemctl status nginx", Stdin: action.Blob{Bytes: []byte("x")}}, "ssh_exec", false},
		"a request":             {request("GET", "https://web-1/systemctl/status/nginx"), "ssh_exec", false},
		"one argv of one word":  {argv("systemctl status nginx"), "ssh_exec", false},
		"case":                  {command("Systemctl status nginx"), "ssh_exec", false},
		"the program in quotes": {argv("systemctl ", "status", "nginx"), "ssh_exec", false},
	} {
		got := judge(g, tt.tool, tt.a)
		if (got.Rule != nil) != tt.want || (got.Level == action.Session) != tt.want && tt.a.Kind() == "ssh" {
			t.Errorf("%s: %v, %+v", name, got.Level, got.Findings[0])
		}
		if !tt.want && got.Findings[0].Why == "" {
			t.Errorf("%s: no reason", name)
		}
	}
	named := status
	named.Env, named.Stdin = []string{"LANG"}, true
	g = load(t, rule(t, "named", named))
	with := &action.SSH{Host: "web-1", Command: "systemctl status nginx", Env: []action.EnvVar{{Name: "LANG", Value: "C"}}, Stdin: action.Blob{Bytes: []byte("x")}}
	if got := judge(g, "ssh_exec", with); got.Rule == nil {
		t.Errorf("env and stdin that the rule names: %+v", got.Findings)
	}
	with.Env = append(with.Env, action.EnvVar{Name: "PATH", Value: "/tmp"})
	if got := judge(g, "ssh_exec", with); got.Rule != nil {
		t.Error("a variable that the rule does not name")
	}
}

func TestAQuotedStarIsAStar(t *testing.T) {
	g := load(t, rule(t, "star", policy.Rule{Approval: action.None, Host: "web-1", Argv: "ls '*' *"}))
	if judge(g, "ssh_exec", argv("ls", "a", "b")).Rule != nil || judge(g, "ssh_exec", argv("ls", "*", "b")).Rule == nil {
		t.Error("a quoted * stands for an argument")
	}
}

func TestARuleOnRequests(t *testing.T) {
	g := load(t, rule(t, "read", policy.Rule{Approval: action.None, Methods: []string{"get", "HEAD"}, Target: "https://API.example.com/v1/read/"}))
	for url, want := range map[string]bool{
		"https://api.example.com/v1/read/":          true,
		"https://api.example.com/v1/read/x?y=z":     true,
		"https://api.example.com/v1/read":           false,
		"https://api.example.com/v1/readonly/x":     false,
		"https://api.example.com/v1/read/../admin":  false,
		"https://api.example.com/v1/read/%2e%2e/a":  false,
		"https://api.example.com/v1/read/..%2fa":    false,
		"https://api.example.com/v1/admin":          false,
		"https://api.example.com:8443/v1/read/x":    false,
		"http://api.example.com/v1/read/x":          false,
		"https://api.example.com.evil/v1/read/x":    false,
		"https://user@api.example.com/v1/read/x":    false,
		"https://api.example.com/V1/read/x":         false,
		"https://api.example.com/v1//read/x":        false,
		"https://evil.example/api.example.com/v1/r": false,
	} {
		if got := judge(g, "http_request", request("GET", url)).Rule != nil; got != want {
			t.Errorf("GET %s: %v", url, got)
		}
	}
	if judge(g, "http_request", request("POST", "https://api.example.com/v1/read/x")).Rule != nil {
		t.Error("POST under a rule for GET")
	}
	if got := judge(g, "http_request", request("HEAD", "https://api.example.com/v1/read/x")); got.Level != action.None || got.Rule.Text() != "rule read version 1: GET/HEAD under https://api.example.com/v1/read/" {
		t.Errorf("%+v", got)
	}
}

func TestTheStrictestRuleCounts(t *testing.T) {
	under := func(level action.Level, target string) policy.Rule {
		r := policy.Rule{Approval: level, Target: target}
		if level >= action.Session {
			r.Methods = []string{"GET"}
		}
		return r
	}
	g := load(t, rule(t, "a-none", under(action.None, "https://a.example/")), rule(t, "b-call", under(action.Call, "https://a.example/v1/")),
		rule(t, "c-session", under(action.Session, "https://a.example/v1/")), rule(t, "d-deny", under(action.Deny, "https://a.example/v1/x/")))
	for url, want := range map[string]string{
		"https://a.example/":       "a-none",
		"https://a.example/v1/":    "b-call",
		"https://a.example/v1/x/y": "d-deny",
		"https://b.example/":       "",
	} {
		got := judge(g, "http_request", request("GET", url))
		if name := ""; got.Rule != nil && got.Rule.Name != want || got.Rule == nil && want != name {
			t.Errorf("%s: %+v", url, got.Rule)
		}
	}
	if got := judge(g, "http_request", request("GET", "https://a.example/v1/x/y")); got.Level != action.Deny || len(got.Items) != 4 {
		t.Errorf("%+v", got)
	}
}

// A rule that denies or asks cannot be walked around with a variable or a line
// that is not plain while a wider rule lets everything through.
func TestAStricterRuleIsNotWalkedAround(t *testing.T) {
	g := load(t, rule(t, "all", policy.Rule{Approval: action.None, Host: "web-1", Env: []string{"A"}}),
		rule(t, "no-reboot", policy.Rule{Approval: action.Deny, Host: "web-1", Argv: "reboot"}))
	env := command("reboot")
	env.Env = []action.EnvVar{{Name: "A", Value: "1"}}
	for name, tt := range map[string]struct {
		a    action.Action
		want action.Level
	}{
		"another command": {command("uptime"), action.None},
		"the command":     {command("reboot"), action.Deny},
		"with a variable": {env, action.Deny},
		"not plain":       {command("reboot; true"), action.Call},
		"unparsable":      {command("reboot '"), action.Call},
	} {
		if got := judge(g, "ssh_exec", tt.a); got.Level != tt.want {
			t.Errorf("%s: %v, want %v", name, got.Level, tt.want)
		}
	}
}

func TestRulesEnd(t *testing.T) {
	g := load(t, rule(t, "r", policy.Rule{Approval: action.None, Host: "web-1", Argv: "uptime", Expires: noon.Add(time.Hour), MaxCalls: 2}))
	at := func(after time.Duration, used int) action.Level {
		return g.Judge(policy.Case{Tool: "ssh_exec", Action: command("uptime"), Default: action.Call, At: noon.Add(after), Used: func(*policy.Rule) int { return used }}).Level
	}
	for _, tt := range []struct {
		after time.Duration
		used  int
		want  action.Level
	}{{0, 0, action.None}, {time.Hour - 1, 1, action.None}, {time.Hour, 0, action.Call}, {0, 2, action.Call}, {0, 3, action.Call}} {
		if got := at(tt.after, tt.used); got != tt.want {
			t.Errorf("after %s and %d calls: %v", tt.after, tt.used, got)
		}
	}
	if got := g.Judge(policy.Case{Action: command("uptime"), Default: action.Call, At: noon}); got.Level != action.Call {
		t.Error("a rule whose calls cannot be counted applies")
	}
	if got := g.Judge(policy.Case{Action: command("id")}); got.Level != action.Deny {
		t.Error("a case without a default allows")
	}
}

func TestRulesThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		r    policy.Rule
		want string
	}{
		{policy.Rule{}, "names nothing"},
		{policy.Rule{Approval: action.None}, "names nothing"},
		{policy.Rule{Approval: action.None, Tool: "ssh_exec"}, "names a place"},
		{policy.Rule{Approval: action.Session, Methods: []string{"GET"}}, "names a place"},
		{policy.Rule{Approval: action.None, Target: "https://a.example/"}, "names the methods"},
		{policy.Rule{Host: "web-1", Target: "https://a.example/"}, "not on both"},
		{policy.Rule{Argv: "reboot"}, "names the host"},
		{policy.Rule{Host: "web-1", Argv: "reboot; id"}, "plain words"},
		{policy.Rule{Host: "web-1", Argv: "* status"}, "the program is named"},
		{policy.Rule{Host: "web-1", Argv: "ls a*"}, "plain words"},
		{policy.Rule{Host: "web-1", Env: []string{"A=b"}}, "name of a variable"},
		{policy.Rule{Host: "WEB 1"}, "host"},
		{policy.Rule{Tool: "a b"}, "name of a tool"},
		{policy.Rule{Methods: []string{"TRACE"}}, "TRACE"},
		{policy.Rule{Target: "https://*.example.com/"}, "wildcards"},
		{policy.Rule{Target: "https://a.example/v1/../x"}, "dot segment"},
		{policy.Rule{Target: "ssh://a.example:22"}, "--host"},
		{policy.Rule{Host: "web-1", MaxCalls: 3}, "counts the calls"},
		{policy.Rule{Approval: action.None, Host: "web-1", MaxCalls: -1}, "1 or more"},
		{policy.Rule{Host: "web-1", Created: noon, Expires: noon}, "over before"},
	} {
		tt.r.Name = "r"
		if err := tt.r.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want something about %q", tt.r, err, tt.want)
		}
		raw, err := json.Marshal(tt.r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Load(1, []policy.Item{{Kind: policy.KindRule, Name: "r", Version: 1, Body: raw}}); err == nil {
			t.Errorf("%s was loaded", raw)
		}
	}
	forgotten := policy.Item{Kind: policy.KindRule, Name: "r", Version: 1, Body: []byte(`{"host":"web-1","created":"2026-01-01T00:00:00Z"}`)}
	if got := judge(load(t, forgotten), "ssh_exec", command("id")); got.Level != action.Deny {
		t.Errorf("a rule without a level: %v", got.Level)
	}
}

func TestTheStoredFormOfARule(t *testing.T) {
	created := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)
	r := policy.Rule{Name: "status", Approval: action.Session, Tool: "ssh_exec", Host: "web-1", Argv: "systemctl status *", Created: created}
	raw, err := json.Marshal(r)
	want := `{"approval":"session","tool":"ssh_exec","host":"web-1","argv":"systemctl status *","created":"2026-11-30T20:00:00Z"}`
	if err != nil || string(raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
	g := load(t, policy.Item{Kind: policy.KindRule, Name: "status", Version: 3, Body: raw})
	if got := g.Rules()[0]; got.Ref() != (policy.Ref{Kind: "rule", Name: "status", Version: 3}) || !reflect.DeepEqual(got.Created, created) {
		t.Errorf("%+v", got)
	}
}

func TestStricterBelow(t *testing.T) {
	g := load(t, rule(t, "admin", policy.Rule{Approval: action.Deny, Target: "https://a.example/v1/admin/", Methods: []string{"GET"}}))
	for _, tt := range []struct {
		method, within string
		level          action.Level
		want           bool
	}{
		{"GET", "https://a.example/v1/", action.Session, true},
		{"GET", "https://a.example/v1/admin/x/", action.None, true},
		{"HEAD", "https://a.example/v1/", action.Session, false},
		{"GET", "https://a.example/v2/", action.Session, false},
		{"GET", "https://a.example/v1/", action.Deny, false},
	} {
		if got := g.StricterBelow("http_request", tt.method, tt.within, tt.level); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
