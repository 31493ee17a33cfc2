package executor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/approval"
	"executor/executor"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/journal"
)

const (
	get    = `{"method":"GET","url":"https://api.example.com/v1/me"}`
	post   = `{"method":"POST","url":"https://api.example.com/v1/items","json":{"a":1}}`
	uptime = `{"host":"web-1","command":"uptime"}`
)

func TestTheIntentIsDurableBeforeTheFirstByte(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	w.runner.before = func(context.Context, action.Action) {
		a := w.last()
		if a.Outcome.Status != journal.Running || a.Tool != "http_request" || a.DownstreamTarget != "https://api.example.com" {
			t.Errorf("when the action began the journal said %+v", a)
		}
	}
	if r := w.call("http_request", post); r.IsError {
		t.Fatalf("%+v", r)
	}
	a := w.last()
	if a.Outcome.Status != journal.OK || !a.Outcome.SideEffectStarted || *a.Outcome.HTTPStatus != 200 {
		t.Errorf("outcome %+v", a.Outcome)
	}
	if a.RawArgs != post {
		t.Errorf("raw_args %q, want the bytes as received", a.RawArgs)
	}
	if d := a.Decision; d.Result != journal.Allowed || d.Basis != approval.BasisAsked || d.Level != "call" || d.ShownDigest != a.ActionDigest || d.ApprovalDigest == "" {
		t.Errorf("decision %+v, action %s", d, a.ActionDigest)
	}
	if action.Sum(a.NormalizedArgs) != a.ActionDigest {
		t.Errorf("the recorded action has digest %s, the record says %s", action.Sum(a.NormalizedArgs), a.ActionDigest)
	}
}

func TestRefusalsHaveNoEffectAndOneEntry(t *testing.T) {
	for name, tt := range map[string]struct {
		tool, args string
		claim      string
		code       executor.Code
		action     string
	}{
		"unknown argument":        {"ssh_exec", `{"host":"web-1","command":"uptime","port":22}`, "", executor.InvalidArguments, "fix_arguments"},
		"unknown tool":            {"rm_rf", `{}`, "", executor.InvalidArguments, "fix_arguments"},
		"unknown host":            {"ssh_exec", `{"host":"127.0.0.1","command":"uptime"}`, "", executor.UnknownHost, "fix_arguments"},
		"host as an option":       {"ssh_exec", `{"host":"-oProxyCommand=x","command":"uptime"}`, "", executor.UnknownHost, "fix_arguments"},
		"credential not bound":    {"http_request", `{"method":"GET","url":"https://other.example.com/","credential":"api"}`, "", executor.CredentialNotBound, "fix_arguments"},
		"metadata address":        {"http_request", `{"method":"GET","url":"http://169.254.169.254/latest/"}`, "", executor.TargetBlocked, "ask_operator"},
		"metadata name":           {"http_request", `{"method":"GET","url":"http://metadata.google.internal/"}`, "", executor.TargetBlocked, "ask_operator"},
		"loopback, not bound":     {"http_request", `{"method":"GET","url":"http://127.0.0.1:8080/"}`, "", executor.TargetBlocked, "ask_operator"},
		"dot segment":             {"http_request", `{"method":"GET","url":"https://api.example.com/v1/../admin"}`, "", executor.InvalidArguments, "fix_arguments"},
		"userinfo":                {"http_request", `{"method":"GET","url":"https://api.example.com@evil.example/"}`, "", executor.InvalidArguments, "fix_arguments"},
		"the credential's header": {"http_request", `{"method":"GET","url":"https://api.example.com/v1/","headers":{"Authorization":"Bearer x"}}`, "", executor.InvalidArguments, "fix_arguments"},
		"the secret itself":       {"http_request", `{"method":"POST","url":"https://api.example.com/v1/","body":"` + canary + `"}`, "", executor.CredentialInArgs, "fix_arguments"},
		"a mask":                  {"http_request", `{"method":"POST","url":"https://api.example.com/v1/","body":"[credential api]"}`, "", executor.CredentialInArgs, "fix_arguments"},
		"stale revision":          {"ssh_exec", uptime, `{"revision":7}`, executor.StaleToolSchema, "refresh_tools"},
		"nobody to ask":           {"ssh_exec", uptime, "", executor.NoApprover, "ask_operator"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.x.Call(t.Context(), w.session, executor.Call{Tool: tt.tool, Arguments: json.RawMessage(tt.args), Claim: json.RawMessage(tt.claim)})
			if !r.IsError || code(r) != string(tt.code) || r.Structured["required_action"] != tt.action || r.Structured["side_effect_started"] != false {
				t.Fatalf("reply %+v", r)
			}
			if w.runner.count() != 0 {
				t.Error("something ran")
			}
			all := w.activities()
			if len(all) != 1 || all[0].Outcome.Status != journal.Refused || all[0].Outcome.ErrorCode != string(tt.code) {
				t.Errorf("journal: %+v", all)
			}
			if all[0].ActivityID != r.Structured["activity_id"] {
				t.Errorf("the agent was told activity %v, the journal says %s", r.Structured["activity_id"], all[0].ActivityID)
			}
			noSecret(t, "the reply", r)
			noSecret(t, "the journal", all)
		})
	}
}

func TestAGetIsAskedAboutOncePerSession(t *testing.T) {
	w := newWorld(t)
	var asked []string
	w.operator(func(p *approval.Prompt) approval.Answer {
		asked = append(asked, p.Scope)
		return approval.Answer{Verdict: approval.Yes}
	})
	for range 3 {
		if r := w.call("http_request", get); r.IsError {
			t.Fatalf("%+v", r)
		}
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "https://api.example.com/v1/") || !strings.Contains(asked[0], "version 1") {
		t.Errorf("three calls asked for %q", asked)
	}
	if b := w.last().Decision.Basis; !strings.HasPrefix(b, "grant ") {
		t.Errorf("basis of the third call: %q", b)
	}
	// Another version of the credential is another scope.
	w.vault.set(t, append(webHost(t), apiCredential(t, 2, action.None))...)
	w.call("http_request", get)
	if len(asked) != 2 || !strings.Contains(asked[1], "version 2") {
		t.Errorf("with a rotated credential asked for %q", asked)
	}
}

func TestArgumentsNeverLowerALevel(t *testing.T) {
	w := newWorld(t)
	w.vault.set(t,
		apiCredential(t, 1, action.None),
		item(t, "credential", "strict", 1, map[string]any{"type": "bearer", "targets": []string{"https://api.example.com/"}, "approval": "presence", "created": "2026-01-01T00:00:00Z"}),
	)
	var levels []action.Level
	w.operator(func(p *approval.Prompt) approval.Answer {
		levels = append(levels, p.Level)
		return approval.Answer{Verdict: approval.No}
	})
	w.call("http_request", `{"method":"GET","url":"https://api.example.com/v1/me","credential":"api"}`)
	if len(levels) != 1 || levels[0] != action.Presence {
		t.Errorf("levels asked: %v, want presence although the weaker credential was named", levels)
	}
}

func TestWhatWasShownIsWhatRuns(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *world){
		"credential rotated": func(t *testing.T, w *world) { w.vault.set(t, append(webHost(t), apiCredential(t, 2, action.None))...) },
		"credential removed": func(t *testing.T, w *world) { w.vault.set(t, webHost(t)...) },
		"level raised": func(t *testing.T, w *world) {
			w.vault.set(t, append(webHost(t), apiCredential(t, 1, action.Presence))...)
		},
		"vault locked": func(_ *testing.T, w *world) { w.vault.lock() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.operator(func(*approval.Prompt) approval.Answer {
				change(t, w)
				return approval.Answer{Verdict: approval.Yes}
			})
			r := w.call("http_request", post)
			want, action := executor.ChangedSinceShown, "retry_later"
			if name == "vault locked" {
				want, action = executor.VaultLocked, "ask_operator"
			}
			if code(r) != string(want) || r.Structured["required_action"] != action {
				t.Errorf("reply %+v", r)
			}
			if w.runner.count() != 0 {
				t.Error("it ran")
			}
			if a := w.last(); a.Decision.Result != journal.Changed || a.Outcome.Status != journal.Refused {
				t.Errorf("journal %+v", a)
			}
		})
	}
	t.Run("something else changed", func(t *testing.T) {
		w := newWorld(t)
		w.operator(func(*approval.Prompt) approval.Answer {
			w.vault.set(t, append(webHost(t), apiCredential(t, 1, action.None),
				item(t, "credential", "other", 1, map[string]any{"type": "bearer", "targets": []string{"https://other.example/"}, "approval": "none", "created": "2026-01-01T00:00:00Z"}))...)
			return approval.Answer{Verdict: approval.Yes}
		})
		if r := w.call("http_request", post); r.IsError {
			t.Errorf("a change of something else voided the yes: %+v", r)
		}
	})
}

func TestOutcomes(t *testing.T) {
	exit := 3
	for name, tt := range map[string]struct {
		answer func(action.Action) (executor.Response, error)
		status string
		code   executor.Code
		has    string
		caused bool // the operator gets the cause
	}{
		"a 404 is a result": {func(action.Action) (executor.Response, error) {
			return &executor.HTTPResponse{Status: 404, ContentType: "text/plain", Body: []byte("no")}, nil
		}, journal.OK, "", "status", false},
		"exit code 3 is a result": {func(action.Action) (executor.Response, error) {
			return &executor.SSHResponse{Exit: &exit}, nil
		}, journal.OK, "", "exit_code", false},
		"unreachable": {func(action.Action) (executor.Response, error) {
			return nil, &executor.RunError{Code: executor.UpstreamUnreachable, Message: "no answer", Detail: errBoom}
		}, journal.Error, executor.UpstreamUnreachable, "", true},
		"time limit, with what came so far": {func(action.Action) (executor.Response, error) {
			return &executor.SSHResponse{Stdout: []byte("half"), MayStillRun: true}, &executor.RunError{Code: executor.UpstreamTimeout, Message: "it took too long"}
		}, journal.Timeout, executor.UpstreamTimeout, "stdout", false},
		"an unknown error": {func(action.Action) (executor.Response, error) { return nil, errBoom }, journal.Error, executor.Internal, "", true},
		"a panic":          {func(action.Action) (executor.Response, error) { panic(errBoom) }, journal.Error, executor.Internal, "", true},
		"a panic over the answer": {func(action.Action) (executor.Response, error) {
			return &executor.HTTPResponse{Status: 200, Body: []byte("done"), Facts: map[string]any{"x": booming{}}}, nil
		}, journal.Error, executor.Internal, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.operator(says(approval.Yes))
			w.runner.answer = tt.answer
			r := w.call("http_request", post)
			if caused := strings.Contains(strings.Join(w.troubles(), "\n"), "boom [credential api]"); caused != tt.caused {
				t.Errorf("the operator was told %q", w.troubles())
			}
			if code(r) != string(tt.code) || r.IsError != (tt.code != "") {
				t.Errorf("reply %+v", r)
			}
			if tt.has != "" && r.Structured[tt.has] == nil {
				t.Errorf("reply %+v lacks %s", r.Structured, tt.has)
			}
			a := w.last()
			if a.Outcome.Status != tt.status || a.Outcome.ErrorCode != string(tt.code) || !a.Outcome.SideEffectStarted {
				t.Errorf("outcome %+v", a.Outcome)
			}
			noSecret(t, "the reply", r)
			noSecret(t, "the journal", w.activities())
		})
	}
}

// booming cannot be encoded.
type booming struct{}

func (booming) MarshalJSON() ([]byte, error) { panic(errBoom) }

func TestSecretsAreMaskedInResults(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	w.runner.answer = func(action.Action) (executor.Response, error) {
		return &executor.HTTPResponse{
			Status: 200, ContentType: "application/json", Body: []byte(`{"echo":"` + canary + `","rest":"kept"}`),
			Headers: []action.Header{{Name: "X-Echo", Value: "Bearer " + canary}}, FinalURL: "https://api.example.com/" + canary,
			Note: canary, Redirect: canary, Facts: map[string]any{"address": canary},
		}, nil
	}
	r := w.call("http_request", post)
	noSecret(t, "the reply", r)
	noSecret(t, "the journal", w.activities())
	body := string(r.Structured["json"].(json.RawMessage))
	if body != `{"echo":"[credential api]","rest":"kept"}` {
		t.Errorf("body %s", body)
	}
	if n := r.Structured["redactions"]; n != 6 {
		t.Errorf("redactions %v, want 6", n)
	}
}

func TestAWeakSecretWithholdsAndThenSuspends(t *testing.T) {
	w := newWorld(t)
	w.vault.set(t, item(t, "credential", "weak", 1, map[string]any{"type": "bearer", "targets": []string{"https://api.example.com/v1/"}, "approval": "none", "created": "2026-01-01T00:00:00Z"}))
	w.operator(says(approval.Yes))
	w.runner.answer = func(action.Action) (executor.Response, error) {
		return &executor.HTTPResponse{Status: 200, ContentType: "text/plain", Body: []byte("it is hunter2!")}, nil
	}
	for i, want := range []executor.Code{executor.ResultWithheld, executor.ResultWithheld, executor.ResultWithheld} {
		r := w.call("http_request", post)
		if code(r) != string(want) {
			t.Fatalf("call %d: %+v", i, r)
		}
		if strings.Contains(r.Text, "hunter2") {
			t.Errorf("call %d: %s", i, r.Text)
		}
	}
	if n := w.runner.count(); n != 2 {
		t.Errorf("%d calls ran, want 2: the second suspends the session", n)
	}
}

func TestCancel(t *testing.T) {
	t.Run("while it waits for approval", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.operator(func(*approval.Prompt) approval.Answer {
			cancel()
			return approval.Answer{Verdict: "none of them"}
		})
		r := w.x.Call(ctx, w.session, executor.Call{Tool: "ssh_exec", Arguments: json.RawMessage(uptime)})
		if code(r) != string(executor.CallCancelled) || w.runner.count() != 0 {
			t.Errorf("%+v", r)
		}
		if a := w.last(); a.Outcome.Status != journal.Cancelled || a.Outcome.SideEffectStarted {
			t.Errorf("%+v", a.Outcome)
		}
	})
	t.Run("while it runs", func(t *testing.T) {
		w := newWorld(t)
		w.operator(says(approval.Yes))
		ctx, cancel := context.WithCancel(t.Context())
		w.runner.answer = func(action.Action) (executor.Response, error) {
			cancel()
			return &executor.SSHResponse{MayStillRun: true}, ctx.Err()
		}
		r := w.x.Call(ctx, w.session, executor.Call{Tool: "ssh_exec", Arguments: json.RawMessage(uptime)})
		if code(r) != string(executor.CallCancelled) || r.Structured["side_effect_started"] != true {
			t.Errorf("%+v", r)
		}
		if a := w.last(); a.Outcome.Status != journal.Cancelled || !a.Outcome.SideEffectStarted {
			t.Errorf("%+v", a.Outcome)
		}
	})
}

func TestWithoutAJournalNothingRunsAndNobodyIsAsked(t *testing.T) {
	w := newWorld(t)
	asked := false
	w.operator(func(*approval.Prompt) approval.Answer { asked = true; return approval.Answer{Verdict: approval.Yes} })
	db := filepath.Join(w.dir, "journal.db")
	if err := os.Rename(db, db+".away"); err != nil {
		t.Fatal(err)
	}
	r := w.call("http_request", post)
	if code(r) != string(executor.JournalUnavailable) || !strings.Contains(r.Text, "journal unavailable, action not run") {
		t.Errorf("%+v", r)
	}
	if asked || w.runner.count() != 0 {
		t.Errorf("asked: %v, ran: %d", asked, w.runner.count())
	}
	if err := os.Rename(db+".away", db); err != nil {
		t.Fatal(err)
	}
	if r := w.call("http_request", post); r.IsError {
		t.Errorf("when the journal is back: %+v", r)
	}
}

func TestALockedVaultRefuses(t *testing.T) {
	w := newWorld(t)
	w.vault.lock()
	r := w.call("ssh_exec", `{"host":"web-1","command":"echo `+canary+`"}`)
	if code(r) != string(executor.VaultLocked) {
		t.Errorf("%+v", r)
	}
	noSecret(t, "the journal of a locked vault", w.activities())
}

func TestDrain(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	running, finish := make(chan struct{}), make(chan struct{})
	w.runner.before = func(context.Context, action.Action) { close(running); <-finish }
	replies := make(chan executor.Reply)
	go func() { replies <- w.call("http_request", post) }()
	<-running
	w.x.Stop()
	if r := w.call("list_targets", `{}`); code(r) != string(executor.Draining) {
		t.Errorf("a new call: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.x.Drain(ctx); err == nil {
		t.Error("drained while a call was running")
	}
	close(finish)
	if r := <-replies; r.IsError {
		t.Errorf("the call in flight: %+v", r)
	}
	if err := w.x.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSessionsAndCatalogs(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		if err := w.x.Served(t.Context(), w.session, w.x.Contracts()); err != nil {
			t.Fatal(err)
		}
	}
	w.call("list_targets", `{}`)
	if err := w.x.End(t.Context(), w.session, "test is over"); err != nil {
		t.Fatal(err)
	}
	if r := w.call("list_targets", `{}`); code(r) != string(executor.CallCancelled) {
		t.Errorf("a call of a closed session: %+v", r)
	}
	rd, err := journal.OpenReader(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	s, err := rd.Session(t.Context(), w.session.ID())
	if err != nil {
		t.Fatal(err)
	}
	if s.Closed == nil || s.CloseReason != "test is over" || s.Client.Name != "test agent" || !s.SameUID || s.Calls["total"] != 2 {
		t.Errorf("%+v", s)
	}
	if len(s.Catalogs) != 1 || s.Catalogs[0].Tools["ssh_exec"] != 1 || s.Catalogs[0].Digest != w.x.Contracts().Digest() {
		t.Errorf("catalogs %+v", s.Catalogs)
	}
	if a := w.activities()[0]; a.RevisionEvidence != contract.FromSession || a.DeclaredRevision != 1 {
		t.Errorf("evidence %q, declared %d", a.RevisionEvidence, a.DeclaredRevision)
	}
}

func TestARefusalFloodIsCounted(t *testing.T) {
	w := newWorld(t)
	const n = 130
	for range n {
		w.call("ssh_exec", `{"host":"nowhere","command":"x"}`)
	}
	if err := w.x.End(t.Context(), w.session, "done"); err != nil {
		t.Fatal(err)
	}
	rd, err := journal.OpenReader(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	s, err := rd.Session(t.Context(), w.session.ID())
	if err != nil {
		t.Fatal(err)
	}
	if s.Calls["refused"] != n {
		t.Errorf("%d refusals are on record, want %d", s.Calls["refused"], n)
	}
	if got := len(w.activities()); got >= n {
		t.Errorf("%d entries for %d refusals: they were not counted together", got, n)
	}
}
