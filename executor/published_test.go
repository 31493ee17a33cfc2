package executor_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"executor/approval"
	"executor/executor"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/journal"
)

const tool1 = `
tool: deploy
description: Deploy.
revision: 1
input: {type: object, properties: {branch: {type: string}}, required: [branch], additionalProperties: false}
http: {method: POST, url: "https://api.example.com/v1/previews", json: {branch: {$arg: branch}, region: us}}
result: {jq: "{id: .id}", output: {type: object, properties: {id: {type: string}}, required: [id]}}
`

const tool2 = `
tool: deploy
description: Deploy.
revision: 2
input: {type: object, properties: {branch: {type: string}, region: {type: string, enum: [us, eu]}}, required: [branch, region], additionalProperties: false}
http: {method: POST, url: "https://api.example.com/v1/previews", json: {branch: {$arg: branch}, region: {$arg: region}}}
result: {jq: "{deployment: .id}", output: {type: object, properties: {deployment: {type: string}}, required: [deployment]}}
accepts: [{revision: 1, change: migration, until: 2099-12-31, adapt: [{default: {region: us}}]}]
`

// publish makes the executor serve a tool with these revisions.
func (w *world) publish(yamls ...string) {
	w.t.Helper()
	var ops []contract.Op
	for _, y := range yamls {
		f, err := contract.ParseFile([]byte(y))
		if err != nil {
			w.t.Fatal(err)
		}
		ops = append(ops, contract.Op{Op: contract.OpPublish, At: time.Now(), File: f, Kind: contract.Migration})
	}
	tool, err := contract.Replay("deploy", ops)
	if err != nil {
		w.t.Fatal(err)
	}
	builtin, err := contract.Builtin()
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := contract.NewSnapshot(append(builtin, tool)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.x.Publish(s)
}

func answers(body string) func(action.Action) (executor.Response, error) {
	return func(action.Action) (executor.Response, error) {
		return &executor.HTTPResponse{Status: 200, ContentType: "application/json", Body: []byte(body)}, nil
	}
}

func TestAnAdaptedCallKeepsItsMeaningAndItsShape(t *testing.T) {
	w := newWorld(t)
	var sheet approval.Sheet
	w.operator(func(p *approval.Prompt) approval.Answer {
		sheet = p.Sheet
		return approval.Answer{Verdict: approval.Yes}
	})
	w.runner.answer = answers(`{"id":"d-1"}`)
	w.publish(tool1)
	before := w.call("deploy", `{"branch":"main"}`)
	w.publish(tool1, tool2)
	after := w.call("deploy", `{"branch":"main"}`)
	for _, r := range []executor.Reply{before, after} {
		if r.IsError || r.Structured["id"] != "d-1" || r.Structured["deployment"] != nil || r.Revision != 1 {
			t.Errorf("a caller of revision 1 gets %+v", r)
		}
	}
	all := w.activities()
	if len(all) != 2 || all[0].ActionDigest != all[1].ActionDigest {
		t.Fatalf("one act has two digests: %+v", all)
	}
	if a := all[1]; a.SchemaRevision != 2 || !strings.Contains(a.Adapter, `region set to "us"`) || a.Decision.ShownDigest != a.ActionDigest {
		t.Errorf("journal %+v", a)
	}
	shown, err := json.Marshal(sheet)
	if err != nil || !strings.Contains(string(shown), "built on revision 1 and adapted") {
		t.Errorf("the screen does not say what the adapter changed: %s", shown)
	}
	if r := w.call("deploy", `{"branch":"main","region":"eu"}`); r.Structured["deployment"] != "d-1" || r.Revision != 2 {
		t.Errorf("a caller of revision 2 gets %+v", r)
	}
}

// An adapter that no longer fits the template is caught when it is used.
func TestAWrongAdapterIsRefusedBeforeAnyEffect(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	for name, change := range map[string][2]string{
		"another default":  {"{default: {region: us}}", "{default: {region: eu}}"},
		"another template": {"region: {$arg: region}}", "region: {$arg: region}, force: true}"},
		"another path":     {"/v1/previews", "/v1/deployments"},
	} {
		w.publish(tool1, strings.Replace(tool2, change[0], change[1], 1))
		r := w.call("deploy", `{"branch":"main"}`)
		if code(r) != string(executor.StaleToolSchema) || !strings.Contains(r.Text, "another action") || r.Structured["side_effect_started"] != false {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if w.runner.count() != 0 {
		t.Error("something ran")
	}
}

func TestAnAnswerThatDoesNotFitIsSaidToBeSo(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	w.publish(tool1)
	for name, answer := range map[string]func(action.Action) (executor.Response, error){
		"a field is gone": answers(`{"identifier":"d-1"}`),
		"of another type": answers(`{"id":7}`),
		"not an object":   answers(`[1]`),
		"not JSON": func(action.Action) (executor.Response, error) {
			return &executor.HTTPResponse{Status: 200, ContentType: "text/plain", Body: []byte("ok")}, nil
		},
	} {
		w.runner.answer = answer
		r := w.call("deploy", `{"branch":"main"}`)
		if code(r) != string(executor.ResultContract) || r.Structured["side_effect_started"] != true || r.Structured["id"] != nil {
			t.Errorf("%s: %+v", name, r)
		}
		if o := w.last().Outcome; o.Status != journal.Error || o.ErrorCode != string(executor.ResultContract) || !o.SideEffectStarted {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// A tool's own level replaces the default, the stricter of two revisions counts
// for an adapted call, and no level of a tool lowers a credential's floor.
func TestLevelsOfPublishedTools(t *testing.T) {
	w := newWorld(t)
	var levels []action.Level
	w.operator(func(p *approval.Prompt) approval.Answer {
		levels = append(levels, p.Level)
		return approval.Answer{Verdict: approval.No}
	})
	with := func(y, level string) string { return y + "approval: " + level + "\n" }
	w.publish(with(tool1, "presence"), with(tool2, "call"))
	w.call("deploy", `{"branch":"a"}`)
	w.call("deploy", `{"branch":"b","region":"us"}`)
	w.vault.set(t, apiCredential(t, 1, action.Presence))
	w.publish(with(tool1, "none"))
	w.call("deploy", `{"branch":"c"}`)
	want := []action.Level{action.Presence, action.Call, action.Presence}
	if len(levels) != 3 || levels[0] != want[0] || levels[1] != want[1] || levels[2] != want[2] {
		t.Errorf("asked at %v, want %v", levels, want)
	}
	w.vault.set(t, apiCredential(t, 1, action.None))
	if r := w.call("deploy", `{"branch":"d"}`); r.IsError && code(r) != string(executor.ResultContract) {
		t.Errorf("a tool of level none: %+v", r)
	}
	if len(levels) != 3 {
		t.Error("a tool of level none was asked about")
	}
}

// A level is no part of the act: where only that changed, an old call still runs,
// at the stricter of both.
func TestAChangeOfLevelAloneRefusesNoOldCall(t *testing.T) {
	w := newWorld(t)
	var levels []action.Level
	w.operator(func(p *approval.Prompt) approval.Answer {
		levels = append(levels, p.Level)
		return approval.Answer{Verdict: approval.Yes}
	})
	const read1 = `
tool: deploy
description: Read a preview.
revision: 1
input: {type: object, properties: {id: {type: string}}, required: [id], additionalProperties: false}
http: {method: GET, url: "https://api.example.com/v1/previews/{id}"}
approval: session
`
	read2 := strings.NewReplacer("revision: 1", "revision: 2", "approval: session", "approval: call").Replace(read1) +
		"accepts: [{revision: 1, change: additive}]\n"
	w.publish(read1, read2)
	one, _ := w.x.Contracts().Tool("deploy")
	old, _ := one.Revision(1)
	claim, err := json.Marshal(contract.Claim{Revision: 1, Digest: old.Digest()})
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range []json.RawMessage{nil, claim} {
		r := w.x.Call(t.Context(), w.session, executor.Call{Tool: "deploy", Arguments: json.RawMessage(`{"id":"7"}`), Claim: claim})
		if r.IsError {
			t.Errorf("claim %s: %+v", claim, r)
		}
	}
	if len(levels) != 2 || levels[0] != action.Call || levels[1] != action.Call {
		t.Errorf("asked at %v", levels)
	}
}

// An error and a success of one call name the same revisions, and a tool that is
// gone still says which contract it had.
func TestEveryReplyNamesItsContract(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	w.publish(tool1, tool2)
	w.runner.answer = answers(`{"id":"d-1"}`)
	good := w.call("deploy", `{"branch":"main"}`)
	w.runner.answer = answers(`{}`)
	bad := w.call("deploy", `{"branch":"main"}`)
	if good.IsError || !bad.IsError || good.Structured["schema_revision"] != bad.Structured["schema_revision"] || good.Revision != bad.Revision || good.Digest != bad.Digest {
		t.Errorf("a success %+v\nand an error %+v", good, bad)
	}
	ops := []contract.Op{{Op: contract.OpRetire, At: time.Now()}}
	for _, y := range []string{tool2, tool1} {
		f, err := contract.ParseFile([]byte(y))
		if err != nil {
			t.Fatal(err)
		}
		ops = append([]contract.Op{{Op: contract.OpPublish, At: time.Now(), File: f, Kind: contract.Migration}}, ops...)
	}
	tool, err := contract.Replay("deploy", ops)
	if err != nil {
		t.Fatal(err)
	}
	s, err := contract.NewSnapshot(tool)
	if err != nil {
		t.Fatal(err)
	}
	w.x.Publish(s)
	gone := w.call("deploy", `{"branch":"main"}`)
	two, _ := tool.Revision(2)
	if code(gone) != string(executor.ToolRemoved) || gone.Revision != 2 || gone.Digest != two.Digest() {
		t.Errorf("%+v", gone)
	}
	if action := gone.Structured["required_action"]; action != "do_not_retry" || !strings.Contains(gone.Text, "Required action: do_not_retry") {
		t.Errorf("nothing replaces the tool, and yet: %v, %s", action, gone.Text)
	}
}

// JSON on the wire is UTF-8: a body that is not is no JSON.
func TestABodyThatIsNoUTF8IsNoJSON(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	w.runner.answer = answers("{\"name\":\"\xff\"}")
	r := w.call("http_request", `{"method":"GET","url":"https://api.example.com/v1/me"}`)
	raw, err := json.Marshal(r.Structured)
	if err != nil || !utf8.Valid(raw) || r.Structured["json"] != nil || r.Structured["body_base64"] == nil {
		t.Errorf("%v: %q", err, raw)
	}
}

// A window that ends while the operator reads has ended: nothing runs.
func TestAWindowThatEndsDuringTheWait(t *testing.T) {
	w := newWorld(t)
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	w.publish(tool1, strings.Replace(tool2, "2099-12-31", tomorrow, 1))
	w.operator(func(*approval.Prompt) approval.Answer {
		w.ahead.Store(int64(72 * time.Hour))
		return approval.Answer{Verdict: approval.Yes}
	})
	r := w.call("deploy", `{"branch":"main"}`)
	if code(r) != string(executor.ChangedSinceShown) || w.runner.count() != 0 {
		t.Errorf("%+v, %d ran", r, w.runner.count())
	}
}
