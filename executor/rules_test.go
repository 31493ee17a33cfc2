package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"executor/approval"
	"executor/executor"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
	"executor/journal"
)

const status = `{"host":"web-1","command":"systemctl status %s"}`

func statusRule(level action.Level) policy.Rule {
	return policy.Rule{Approval: level, Tool: "ssh_exec", Host: "web-1", Argv: "systemctl status *"}
}

func ruleItem(t *testing.T, name string, version int, r policy.Rule) policy.Item {
	t.Helper()
	r.Created = time.Now().Add(-time.Minute)
	return item(t, policy.KindRule, name, version, r)
}

// rules sets the vault's rules beside a host and a credential without floors.
func (w *world) rules(items ...policy.Item) {
	w.vault.set(w.t, append(append(webHost(w.t), apiCredential(w.t, 1, action.None)), items...)...)
}

// ok fails the test unless the call ran.
func (w *world) ok(tool, args string) journal.Activity {
	w.t.Helper()
	if r := w.call(tool, args); r.IsError {
		w.t.Fatalf("%s %s: %s", tool, args, r.Text)
	}
	return w.last()
}

// stops fails the test unless the call was refused with want and had no effect.
func (w *world) stops(want, tool, args string) journal.Activity {
	w.t.Helper()
	before := w.runner.count()
	if r := w.call(tool, args); code(r) != want {
		w.t.Fatalf("%s %s: %s, want %s", tool, args, r.Text, want)
	}
	if w.runner.count() != before {
		w.t.Fatalf("%s %s ran", tool, args)
	}
	return w.last()
}

// A night: nobody is there, and rules alone decide.
func TestAtNightRulesAloneDecide(t *testing.T) {
	w := newWorld(t)
	w.rules(ruleItem(t, "night", 1, statusRule(action.None)),
		ruleItem(t, "read", 3, policy.Rule{Approval: action.None, Methods: []string{"GET"}, Target: "https://api.example.com/v1/read/"}),
		ruleItem(t, "never", 1, policy.Rule{Approval: action.Deny, Methods: []string{"DELETE"}, Target: "https://api.example.com/v1/"}))
	a := w.ok("ssh_exec", fmt.Sprintf(status, "nginx"))
	if d := a.Decision; d.Basis != "rule night version 1: tool ssh_exec, on web-1: systemctl status *" || d.Level != "none" || d.Result != journal.Allowed || d.ShownDigest != "" {
		t.Errorf("%+v", d)
	}
	if d := w.ok("http_request", `{"method":"GET","url":"https://api.example.com/v1/read/x"}`).Decision; !strings.HasPrefix(d.Basis, "rule read version 3: GET under") {
		t.Errorf("%+v", d)
	}
	if d := w.stops("DENIED_BY_RULE", "http_request", `{"method":"DELETE","url":"https://api.example.com/v1/x"}`).Decision; !strings.HasPrefix(d.Basis, "rule never version 1: ") || d.Result != journal.Denied || d.Level != "deny" {
		t.Errorf("%+v", d)
	}
	for _, args := range []string{`{"host":"web-1","command":"systemctl status nginx; id"}`, `{"host":"web-1","command":"systemctl status --now"}`,
		`{"host":"web-1","command":"systemctl status nginx","env":{"A":"b"}}`, `{"host":"web-1","command":"systemctl status nginx","stdin":"x"}`} {
		w.stops("NO_APPROVER", "ssh_exec", args)
	}
	w.stops("NO_APPROVER", "http_request", `{"method":"GET","url":"https://api.example.com/v1/readonly"}`)
	w.stops("INVALID_ARGUMENTS", "http_request", `{"method":"GET","url":"https://api.example.com/v1/read/../admin"}`)
	w.stops("NO_APPROVER", "http_request", `{"method":"POST","url":"https://api.example.com/v1/read/x"}`)
}

func TestARuleNeverGoesBelowAFloor(t *testing.T) {
	w := newWorld(t)
	read := policy.Rule{Approval: action.None, Methods: []string{"GET"}, Target: "https://api.example.com/v1/"}
	w.vault.set(t, apiCredential(t, 1, action.Call), ruleItem(t, "read", 1, read))
	if d := w.stops("NO_APPROVER", "http_request", `{"method":"GET","url":"https://api.example.com/v1/x"}`).Decision; d.Level != "call" {
		t.Errorf("%+v", d)
	}
	write := policy.Rule{Approval: action.None, Methods: []string{"POST"}, Target: "https://api.example.com/v1/previews/"}
	w.vault.set(t, apiCredential(t, 1, action.Session), ruleItem(t, "write", 1, write))
	var scopes []string
	w.operator(func(p *approval.Prompt) approval.Answer {
		scopes = append(scopes, p.Scope)
		return approval.Answer{Verdict: approval.Yes}
	})
	w.ok("http_request", `{"method":"POST","url":"https://api.example.com/v1/previews/1"}`)
	w.ok("http_request", `{"method":"POST","url":"https://api.example.com/v1/other"}`)
	if len(scopes) != 2 || !strings.HasPrefix(scopes[0], "rule write version 1: ") || scopes[1] != "" {
		t.Errorf("under a floor of session the yeses cover %q", scopes)
	}
}

func TestASessionYesUnderARuleOnAHost(t *testing.T) {
	w := newWorld(t)
	w.rules(ruleItem(t, "status", 1, statusRule(action.Session)))
	var prompts []*approval.Prompt
	w.operator(func(p *approval.Prompt) approval.Answer {
		prompts = append(prompts, p)
		return approval.Answer{Verdict: approval.Yes}
	})
	w.ok("ssh_exec", fmt.Sprintf(status, "nginx"))
	d := w.ok("ssh_exec", `{"host":"web-1","argv":["systemctl","status","sshd"]}`).Decision
	scope := "rule status version 1: tool ssh_exec, on web-1: systemctl status *, at 10.0.0.7:22 as deploy with credential web version 1"
	if len(prompts) != 1 || prompts[0].Scope != scope || !strings.HasPrefix(d.Basis, "grant g-") || !strings.HasSuffix(d.Basis, ": "+scope) {
		t.Errorf("%d prompts, basis %q", len(prompts), d.Basis)
	}
	if text := fmt.Sprint(prompts[0].Sheet); !strings.Contains(text, "rule status version 1") {
		t.Errorf("the screen does not name the rule: %s", text)
	}
	w.ok("ssh_exec", `{"host":"web-1","command":"systemctl restart nginx"}`)
	if len(prompts) != 2 || prompts[1].Level != action.Call {
		t.Fatal("a yes under the rule covered another command")
	}
	// The same rule made anew is another one: the yes has ended.
	w.rules(ruleItem(t, "status", 2, statusRule(action.Session)))
	w.ok("ssh_exec", fmt.Sprintf(status, "nginx"))
	if len(prompts) != 3 {
		t.Error("a yes outlived its rule")
	}
	// Nobody is asked any more, and no rule is there: away from its level no grant helps.
	w.rules()
	w.ok("ssh_exec", fmt.Sprintf(status, "nginx"))
	if len(prompts) != 4 {
		t.Error("a yes under a rule that is gone covered a call")
	}
}

// A rule that applied moves while its request is on the screen; what did not take
// part voids nothing.
func TestARuleThatMovedIsChangedSinceShown(t *testing.T) {
	read := policy.Rule{Approval: action.Session, Methods: []string{"POST"}, Target: "https://api.example.com/v1/"}
	post := `{"method":"POST","url":"https://api.example.com/v1/x"}`
	for name, tt := range map[string]struct {
		now  func(*testing.T) []policy.Item
		want string
	}{
		"removed":   {func(t *testing.T) []policy.Item { return nil }, "CHANGED_SINCE_SHOWN"},
		"made anew": {func(t *testing.T) []policy.Item { return []policy.Item{ruleItem(t, "r", 2, read)} }, "CHANGED_SINCE_SHOWN"},
		"a stricter": {func(t *testing.T) []policy.Item {
			return []policy.Item{ruleItem(t, "r", 1, read), ruleItem(t, "s", 1, policy.Rule{Host: "", Tool: "http_request", Approval: action.Deny})}
		}, "CHANGED_SINCE_SHOWN"},
		"expired": {func(t *testing.T) []policy.Item {
			over := read
			over.Expires = time.Now().Add(-time.Second)
			return []policy.Item{ruleItem(t, "r", 1, over)}
		}, "CHANGED_SINCE_SHOWN"},
		"another rule": {func(t *testing.T) []policy.Item {
			return []policy.Item{ruleItem(t, "r", 1, read), ruleItem(t, "x", 1, policy.Rule{Approval: action.Deny, Host: "web-1"})}
		}, ""},
		"a weaker one": {func(t *testing.T) []policy.Item {
			weaker := read
			weaker.Approval = action.None
			return []policy.Item{ruleItem(t, "r", 1, read), ruleItem(t, "a", 1, weaker)}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.rules(ruleItem(t, "r", 1, read))
			w.operator(func(*approval.Prompt) approval.Answer {
				w.rules(tt.now(t)...)
				return approval.Answer{Verdict: approval.Yes}
			})
			if r := w.call("http_request", post); code(r) != tt.want {
				t.Fatalf("%s, want %q", r.Text, tt.want)
			}
			if ran := w.runner.count(); (ran == 1) != (tt.want == "") {
				t.Errorf("it ran %d times", ran)
			}
		})
	}
}

// The calls of a rule are counted by what the journal holds: a restart gives
// none of them back, and callers at once never share the last one.
func TestMaxCallsOutlivesARestart(t *testing.T) {
	w := newWorld(t)
	limited := statusRule(action.None)
	limited.MaxCalls = 5
	one := ruleItem(t, "few", 1, limited)
	w.rules(one)
	w.ok("ssh_exec", fmt.Sprintf(status, "nginx"))
	w.ok("ssh_exec", fmt.Sprintf(status, "nginx"))
	w.again()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { w.call("ssh_exec", fmt.Sprintf(status, "nginx")) })
	}
	wg.Wait()
	if n := w.runner.count(); n != 5 {
		t.Errorf("%d calls ran under a rule for 5", n)
	}
	w.again()
	w.stops("NO_APPROVER", "ssh_exec", fmt.Sprintf(status, "nginx"))
	// The same name as a new rule begins anew.
	w.rules(ruleItem(t, "few", 2, limited))
	w.ok("ssh_exec", fmt.Sprintf(status, "nginx"))
}

// A call that was asked about, or did not run, uses nothing up.
func TestWhatMaxCallsDoesNotCount(t *testing.T) {
	w := newWorld(t)
	limited := statusRule(action.Session)
	limited.MaxCalls = 1
	w.rules(ruleItem(t, "one", 1, limited))
	w.stops("NO_APPROVER", "ssh_exec", fmt.Sprintf(status, "nginx"))
	w.operator(says(approval.Yes))
	if d := w.ok("ssh_exec", fmt.Sprintf(status, "nginx")).Decision; d.Basis != approval.BasisAsked || d.Level != "session" {
		t.Errorf("%+v", d)
	}
	if d := w.ok("ssh_exec", fmt.Sprintf(status, "sshd")).Decision; !strings.HasPrefix(d.Basis, "grant ") {
		t.Errorf("%+v", d)
	}
	if d := w.ok("ssh_exec", fmt.Sprintf(status, "cron")).Decision; d.Basis != approval.BasisAsked || d.Level != "call" {
		t.Errorf("the rule is used up, and the call was not asked about: %+v", d)
	}
}

func TestRedirectsStayInsideWhatWasJudged(t *testing.T) {
	deny := policy.Rule{Approval: action.Deny, Target: "https://api.example.com/v1/admin/"}
	read := policy.Rule{Approval: action.None, Methods: []string{"GET"}, Target: "https://api.example.com/v1/read/"}
	for name, tt := range map[string]struct {
		rules []policy.Item
		want  action.Redirects
	}{
		"no rule":               {nil, action.Redirects{Max: 5, Within: "https://api.example.com/v1/"}},
		"a narrower rule":       {[]policy.Item{ruleItem(t, "read", 1, read)}, action.Redirects{Max: 5, Within: "https://api.example.com/v1/read/"}},
		"a stricter rule below": {[]policy.Item{ruleItem(t, "no", 1, deny)}, action.Redirects{}},
		"both":                  {[]policy.Item{ruleItem(t, "read", 1, read), ruleItem(t, "no", 1, deny)}, action.Redirects{Max: 5, Within: "https://api.example.com/v1/read/"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.rules(tt.rules...)
			w.operator(says(approval.Yes))
			w.ok("http_request", `{"method":"GET","url":"https://api.example.com/v1/read/x"}`)
			if got := w.runner.ran[0].(*action.HTTP).Redirects; got != tt.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A rule may open a target that no credential is bound to; then it is sent without one.
func TestARuleOnAnUnboundTarget(t *testing.T) {
	w := newWorld(t)
	w.rules(ruleItem(t, "docs", 1, policy.Rule{Approval: action.Session, Methods: []string{"GET"}, Target: "https://docs.example.com/"}))
	asked := 0
	w.operator(func(*approval.Prompt) approval.Answer { asked++; return approval.Answer{Verdict: approval.Yes} })
	w.ok("http_request", `{"method":"GET","url":"https://docs.example.com/a"}`)
	d := w.ok("http_request", `{"method":"GET","url":"https://docs.example.com/b"}`).Decision
	if asked != 1 || !strings.HasSuffix(d.Basis, "rule docs version 1: GET under https://docs.example.com/, without credential") {
		t.Errorf("asked %d times, %+v", asked, d)
	}
}

func TestForeseeRunsNothing(t *testing.T) {
	g, err := policy.Load(1, append(webHost(t), ruleItem(t, "status", 1, statusRule(action.Session))))
	if err != nil {
		t.Fatal(err)
	}
	contracts, err := contract.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := contract.NewSnapshot(contracts...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := executor.Foresee(g, snapshot, "ssh_exec", json.RawMessage(fmt.Sprintf(status, "nginx")), time.Now(), nil)
	if err != nil || p.Level != action.Session || p.Ruling.Rule.Name != "status" || p.Default != action.Call || p.Floor != action.None || p.Covers == "" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := executor.Foresee(g, snapshot, "ssh_exec", json.RawMessage(`{"host":"nope","command":"id"}`), time.Now(), nil); err == nil || !strings.Contains(err.Error(), "UNKNOWN_HOST") {
		t.Errorf("an unknown host: %v", err)
	}
	if _, err := executor.Foresee(g, snapshot, "nope", json.RawMessage(`{}`), time.Now(), nil); !errors.Is(err, contract.ErrUnknownTool) {
		t.Errorf("an unknown tool: %v", err)
	}
}

func TestAfterThreeSimilarYesesARuleIsSuggested(t *testing.T) {
	for name, tt := range map[string]struct {
		tool  string
		calls []string
		want  string
	}{
		"commands": {"ssh_exec", []string{`{"host":"web-1","command":"systemctl status nginx"}`, `{"host":"web-1","argv":["systemctl","status","sshd"]}`,
			`{"host":"web-1","command":"systemctl status 'cron'"}`, `{"host":"web-1","command":"systemctl status x"}`},
			`executor rule add --tool ssh_exec --host web-1 --argv 'systemctl status *' --approval session`},
		"one command": {"ssh_exec", []string{`{"host":"web-1","command":"df -h"}`, `{"host":"web-1","command":"df -h"}`, `{"host":"web-1","command":"df -h"}`},
			`executor rule add --tool ssh_exec --host web-1 --argv 'df -h' --approval session`},
		"a star in an argument": {"ssh_exec", []string{`{"host":"web-1","argv":["ls","*"]}`, `{"host":"web-1","argv":["ls","*"]}`, `{"host":"web-1","argv":["ls","*"]}`},
			`executor rule add --tool ssh_exec --host web-1 --argv 'ls '\''*'\''' --approval session`},
		"requests": {"http_request", []string{`{"method":"POST","url":"https://api.example.com/v1/items/1"}`, `{"method":"POST","url":"https://api.example.com/v1/items/12?a=b"}`,
			`{"method":"POST","url":"https://api.example.com/v1/items/2/x"}`},
			`executor rule add --tool http_request --method POST --target https://api.example.com/v1/items/ --approval session`},
		"not alike":  {"ssh_exec", []string{`{"host":"web-1","command":"ls a"}`, `{"host":"web-1","command":"ls -l"}`, `{"host":"web-1","command":"ls a b"}`, `{"host":"web-1","command":"cat a"}`}, ""},
		"not plain":  {"ssh_exec", []string{`{"host":"web-1","command":"ls; id"}`, `{"host":"web-1","command":"ls; id"}`, `{"host":"web-1","command":"ls; id"}`}, ""},
		"with input": {"ssh_exec", []string{`{"host":"web-1","command":"cat","stdin":"x"}`, `{"host":"web-1","command":"cat","stdin":"x"}`, `{"host":"web-1","command":"cat","stdin":"x"}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.operator(says(approval.Yes))
			for _, args := range tt.calls {
				w.ok(tt.tool, args)
			}
			got := ""
			if len(w.suggested) > 0 {
				_, got, _ = strings.Cut(w.suggested[0], "cover them: ")
			}
			if got != tt.want || len(w.suggested) > 1 {
				t.Errorf("suggested %q, want %q", w.suggested, tt.want)
			}
		})
	}
}

// Every decision of a mixed day is walked: what was asked about ran as it was
// shown, and all else names the ground it ran on.
func TestTheWholeJournalShowsWhatWasShown(t *testing.T) {
	w := newWorld(t)
	w.rules(ruleItem(t, "status", 1, statusRule(action.Session)), ruleItem(t, "up", 1, policy.Rule{Approval: action.None, Host: "web-1", Argv: "uptime"}),
		ruleItem(t, "never", 1, policy.Rule{Approval: action.Deny, Host: "web-1", Argv: "reboot"}))
	n := 0
	w.operator(func(p *approval.Prompt) approval.Answer {
		n++
		switch n % 5 {
		case 0:
			return approval.Answer{Verdict: approval.No, Reason: "not now"}
		case 1:
			return approval.Answer{Verdict: approval.Exact}
		}
		return approval.Answer{Verdict: approval.Yes}
	})
	for i := range 12 {
		w.call("ssh_exec", fmt.Sprintf(`{"host":"web-1","command":"echo %d"}`, i/2))
		w.call("ssh_exec", fmt.Sprintf(status, fmt.Sprint("unit-", i)))
		w.call("ssh_exec", `{"host":"web-1","command":"uptime"}`)
		w.call("ssh_exec", `{"host":"web-1","command":"reboot"}`)
		w.call("http_request", fmt.Sprintf(`{"method":"GET","url":"https://api.example.com/v1/%d"}`, i))
		w.call("http_request", fmt.Sprintf(`{"method":"POST","url":"https://api.example.com/v1/%d"}`, i))
		w.call("list_targets", `{}`)
	}
	kinds := map[string]int{}
	for _, a := range w.activities() {
		d := a.Decision
		ground, scope, named := strings.Cut(d.Basis, ": ")
		ground, _, _ = strings.Cut(ground, " ")
		switch {
		case a.Outcome.Status == journal.Refused:
			kinds["refused"]++
			if d.Result == journal.Allowed {
				t.Errorf("%s: refused, and decided %+v", a.ActivityID, d)
			}
			continue
		case d.Result != journal.Allowed || a.ActionDigest == "":
			t.Errorf("%s: ran on %+v", a.ActivityID, d)
		case ground == "asked" && (d.ShownDigest != a.ActionDigest || d.ApprovalID == "" || d.ApprovalDigest == "" || d.By == ""):
			t.Errorf("%s: shown %s, ran %s", a.ActivityID, d.ShownDigest, a.ActionDigest)
		case ground != "asked" && d.ShownDigest != "":
			t.Errorf("%s: %q, and something was shown", a.ActivityID, d.Basis)
		case (ground == "grant" || ground == "rule") && (!named || scope == ""):
			t.Errorf("%s: no scope in %q", a.ActivityID, d.Basis)
		case ground == "level" && d.Level != "none":
			t.Errorf("%s: nobody was asked at level %s", a.ActivityID, d.Level)
		}
		kinds[ground]++
	}
	for _, kind := range []string{"refused", "asked", "grant", "rule", "level"} {
		if kinds[kind] == 0 {
			t.Errorf("no activity of the kind %q: %v", kind, kinds)
		}
	}
	if len(kinds) != 5 {
		t.Errorf("%v", kinds)
	}
}

// The vault is edited while the answer comes: what ran was judged by the rule
// that was shown.
func TestARuleEditedAsTheYesComes(t *testing.T) {
	w := newWorld(t)
	w.rules(ruleItem(t, "status", 1, statusRule(action.Session)))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for v := 2; ctx.Err() == nil; v++ {
			w.rules(ruleItem(t, "status", v, statusRule(action.Session)))
			_ = w.desk.Recheck(ctx)
		}
	})
	w.operator(says(approval.Yes))
	for i := range 30 {
		if r := w.call("ssh_exec", fmt.Sprintf(status, fmt.Sprint("unit-", i))); r.IsError && code(r) != "CHANGED_SINCE_SHOWN" {
			t.Errorf("%s", r.Text)
		}
	}
	cancel()
	wg.Wait()
	for _, a := range w.activities() {
		if a.Outcome.Status == journal.OK && a.Decision.Basis == "asked" && a.Decision.ShownDigest != a.ActionDigest {
			t.Errorf("%+v", a.Decision)
		}
	}
}

// Of a tool's own level and a rule, both of which replace the default, the
// stricter counts.
func TestARuleAndAToolsOwnLevel(t *testing.T) {
	post := policy.Rule{Tool: "deploy", Methods: []string{"POST"}, Target: "https://api.example.com/v1/previews"}
	for _, tt := range []struct {
		own, rule, want action.Level
	}{{action.Call, action.None, action.Call}, {action.None, action.Call, action.Call}, {action.None, action.None, action.None}, {action.Session, action.Presence, action.Presence}} {
		w := newWorld(t)
		w.runner.answer = answers(`{"id":"d-1"}`)
		w.publish(tool1 + "approval: " + tt.own.String() + "\n")
		post.Approval = tt.rule
		w.rules(ruleItem(t, "r", 1, post))
		w.call("deploy", `{"branch":"main"}`)
		if d := w.last().Decision; d.Level != tt.want.String() || (d.Result == journal.Allowed) != (tt.want == action.None) {
			t.Errorf("own level %v, rule %v: %+v", tt.own, tt.rule, d)
		}
	}
}

// Without a rule a session yes on a host covers the exact command.
func TestASessionYesOnAHostWithoutARule(t *testing.T) {
	w := newWorld(t)
	w.publish(`
tool: deploy
description: Deploy.
revision: 1
input: {type: object, properties: {branch: {type: string}}, required: [branch], additionalProperties: false}
ssh: {host: web-1, argv: [deploy, --branch, "{branch}"]}
approval: session
`)
	var scopes []string
	w.operator(func(p *approval.Prompt) approval.Answer {
		scopes = append(scopes, p.Scope)
		return approval.Answer{Verdict: approval.Yes}
	})
	for _, branch := range []string{"a", "a", "b", "a", "b"} {
		w.ok("deploy", fmt.Sprintf(`{"branch":%q}`, branch))
	}
	want := "exactly this action on ssh://web-1, at 10.0.0.7:22 as deploy with credential web version 1"
	if len(scopes) != 2 || scopes[0] != want || scopes[1] != want {
		t.Errorf("asked for %q", scopes)
	}
}

// APR-40: a session yes under a rule for a command covers no chained, no expanded
// and no other one, and no other host.
func TestASessionYesForACommandCoversNothingNearIt(t *testing.T) {
	w := newWorld(t)
	twin := item(t, policy.KindHost, "twin", 1, policy.Host{
		Addr: "10.0.0.7:22", User: "deploy", Credential: "web", Approval: action.None,
		HostKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ4bCwKf1nVwJrcwvZtPYxqPSGmfFhQ2rLlTzJvZ8m9"},
	})
	w.rules(twin, ruleItem(t, "up", 1, policy.Rule{Approval: action.Session, Tool: "ssh_exec", Host: "web-1", Argv: "uptime"}))
	var levels []action.Level
	w.operator(func(p *approval.Prompt) approval.Answer {
		levels = append(levels, p.Level)
		return approval.Answer{Verdict: approval.Yes}
	})
	w.ok("ssh_exec", `{"host":"web-1","command":"uptime"}`)
	w.ok("ssh_exec", `{"host":"web-1","argv":["uptime"]}`)
	if len(levels) != 1 || levels[0] != action.Session {
		t.Fatalf("asked at %v", levels)
	}
	near := []string{
		`{"host":"web-1","command":"uptime; touch ran"}`, `{"host":"web-1","command":"uptime && touch ran"}`, `{"host":"web-1","command":"uptime\ntouch ran"}`,
		`{"host":"web-1","command":"uptime $(touch ran)"}`, `{"host":"web-1","command":"uptime -p"}`, `{"host":"web-1","command":"uptime","stdin":"x"}`,
		`{"host":"web-1","command":"uptime","env":{"LD_PRELOAD":"x"}}`, `{"host":"web-1","argv":["uptime",""]}`, `{"host":"twin","command":"uptime"}`,
	}
	for i, args := range near {
		w.ok("ssh_exec", args)
		if len(levels) != i+2 || levels[i+1] != action.Call {
			t.Errorf("%s: asked at %v", args, levels[1:])
		}
	}
}
