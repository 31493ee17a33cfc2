package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A drifting world has a served home, one published tool, and the downstream that
// the tool acts on, which writes down all that reaches it.
type drifting struct {
	*world
	down *api
	// row is the folder of the two contracts.
	row string
}

// drift serves a home in which the old contract of a row is published.
func drift(t *testing.T, row string) *drifting {
	t.Helper()
	d := &drifting{world: newWorld(t), down: newAPI(t), row: row}
	d.credential("ci", "--type", "bearer", "--target", d.down.URL+"/")
	d.service()
	d.publish("old")
	return d
}

// contract writes a contract of the row, changed by pairs of old and new text, to a file.
func (d *drifting) contract(which string, change ...string) string {
	d.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "drift", d.row, which+".yaml"))
	if err != nil {
		d.Fatal(err)
	}
	change = append(change, "http://DOWNSTREAM", d.down.URL)
	return d.file(which+".yaml", strings.NewReplacer(change...).Replace(string(raw)))
}

func (d *drifting) publish(which string, change ...string) {
	d.Helper()
	d.ok(d.unlocking("tool", "publish", d.contract(which, change...), "--yes")...)
}

// listed is a tool as tools/list shows it.
type listed struct {
	Name        string
	InputSchema struct {
		Properties map[string]struct{ Const string }
		Required   []string
	}
	Meta map[string]struct {
		Revision int
		Digest   string
		Accepts  []int
	} `json:"_meta"`
}

// list is what the agent is served of the tool deploy.
func (a *agent) list() listed {
	a.w.Helper()
	m := a.request("tools/list", nil)
	var r struct{ Tools []listed }
	if m.Error != nil || json.Unmarshal(m.Result, &r) != nil {
		a.w.Fatalf("tools/list: %+v %s", m.Error, m.Result)
	}
	for _, t := range r.Tools {
		if t.Name == "deploy" {
			return t
		}
	}
	a.w.Fatal("deploy is not listed")
	return listed{}
}

// changed waits until the agent was told that the list changed n times.
func (a *agent) changed(n int) {
	a.w.Helper()
	poll(a.w, "list_changed", func() bool {
		return len(a.all(func(m message) bool { return m.Method == "notifications/tools/list_changed" })) >= n
	})
}

func (a *agent) deploy(arguments args) pending {
	a.w.Helper()
	return a.begin("deploy", arguments)
}

// bodies are what reached the downstream, in order.
func (d *drifting) bodies() string {
	var out []string
	for _, r := range d.down.requests() {
		out = append(out, r.Method+" "+r.URI+" "+r.Body)
	}
	return strings.Join(out, "\n")
}

// reached fails the test unless exactly this reached the downstream.
func (d *drifting) reached(want ...string) {
	d.Helper()
	if got := d.bodies(); got != strings.Join(want, "\n") {
		d.Errorf("reached the downstream:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

const posted = "POST /v1/previews "

// The nine steps: list, keep revision 1, prepare the call, the server moves to
// revision 2 with a required field, list_changed, the prepared call is sent, list
// again, retry only if that is allowed, call at revision 2.
func TestDriftNineSteps(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-approval-scope-added")
	a := d.agent()
	kept := a.list() // 1, 2
	prepared := args{"branch": "main"}
	d.publish("new")              // 4
	a.changed(1)                  // 5
	refusal := a.deploy(prepared) // 6
	r := refusal.refused("STALE_TOOL_SCHEMA", "Nothing was done", "List the tools again")
	if r.Fields["side_effect_started"] != false || r.Fields["current_revision"] != float64(2) || r.Fields["required_action"] != "refresh_tools" {
		t.Errorf("the refusal: %v", r.Fields)
	}
	if problems, err := json.Marshal(r.Fields["problems"]); err != nil || !strings.Contains(string(problems), "/approval_scope") {
		t.Errorf("the missing field is not named: %s", problems)
	}
	d.reached()
	now := a.list() // 7
	if kept.Meta["executor/contract"].Revision != 1 || now.Meta["executor/contract"].Revision != 2 {
		t.Errorf("listed %+v, then %+v", kept.Meta, now.Meta)
	}
	// 8: the scope chooses what may be done: no client fills it in.
	call := d.run("call", "deploy", "--args", `{"branch":"main"}`)
	if call.code == 0 || !strings.Contains(call.errors, "approval_scope") {
		t.Errorf("executor call without the scope: %+v", call)
	}
	d.reached()
	token := now.InputSchema.Properties["contract_revision"].Const
	a.deploy(args{"branch": "main", "approval_scope": "preview", "contract_revision": token}).succeeds() // 9
	d.reached(posted + `{"branch":"main","scope":"preview"}`)
	got := d.activities("--tool", "deploy")
	if len(got) != 2 || got[0].Outcome.Status != "refused" || got[1].Outcome.Status != "ok" {
		t.Errorf("journal: %+v", got)
	}
	var normalized struct{ URL string }
	if err := json.Unmarshal(got[1].NormalizedArgs, &normalized); err != nil || normalized.URL != d.down.URL+"/v1/previews" {
		t.Errorf("normalized arguments %s", got[1].NormalizedArgs)
	}
}

// One row each of what may change, by what the server and the downstream must see.
func TestDriftRows(t *testing.T) {
	t.Parallel()
	t.Run("optional-label-added", func(t *testing.T) {
		d := drift(t, "optional-label-added")
		a := d.agent()
		a.list()
		d.publish("new")
		a.deploy(args{"branch": "main"}).succeeds()
		d.reached(posted + `{"branch":"main"}`)
	})
	t.Run("required-region-with-a-safe-value", func(t *testing.T) {
		d := drift(t, "required-region-with-a-safe-value")
		a := d.agent()
		a.list()
		a.deploy(args{"branch": "main"}).succeeds()
		d.publish("new")
		a.deploy(args{"branch": "main"}).succeeds()
		same := posted + `{"branch":"main","region":"us-east"}`
		d.reached(same, same)
		all := d.activities("--tool", "deploy")
		if all[0].ActionDigest != all[1].ActionDigest {
			t.Errorf("one act has two digests: %s, %s", all[0].ActionDigest, all[1].ActionDigest)
		}
	})
	t.Run("required-approval-scope-added", func(t *testing.T) {
		d := drift(t, "required-approval-scope-added")
		a := d.agent()
		a.list()
		d.publish("new")
		a.deploy(args{"branch": "main"}).refused("STALE_TOOL_SCHEMA")
		d.reached()
	})
	t.Run("meaning-of-project-changed", func(t *testing.T) {
		d := drift(t, "meaning-of-project-changed")
		a := d.agent()
		a.list()
		d.publish("new")
		a.deploy(args{"project": "shop"}).refused("STALE_TOOL_SCHEMA")
		d.reached()
	})
	t.Run("output-field-added", func(t *testing.T) {
		d := drift(t, "output-field-added")
		a := d.agent()
		a.list()
		d.down.answer(`{"id":"d-1","url":"https://d-1.example"}`)
		d.publish("new")
		if f := a.deploy(args{"branch": "main"}).succeeds().Fields; f["id"] != "d-1" || f["url"] != nil {
			t.Errorf("a caller of revision 1 gets %v", f)
		}
		d.agent().list()
		b := d.agent()
		b.list()
		if f := b.deploy(args{"branch": "main"}).succeeds().Fields; f["id"] != "d-1" || f["url"] != "https://d-1.example" {
			t.Errorf("after a new list: %v", f)
		}
		d.reached(posted+`{"branch":"main"}`, posted+`{"branch":"main"}`)
	})
	t.Run("output-identifier-removed", func(t *testing.T) {
		d := drift(t, "output-identifier-removed")
		d.down.answer(`{"url":"https://d-1.example"}`)
		d.publish("new")
		r := d.run("call", "deploy", "--args", `{"branch":"main"}`, "--need", "id")
		if r.code == 0 || !strings.Contains(r.errors, "id") {
			t.Errorf("executor call that needs the id: %+v", r)
		}
		d.reached()
	})
}

// An answer that no longer fits the caller's revision is said to be so, with the
// effect admitted.
func TestDriftInTheAnswer(t *testing.T) {
	t.Parallel()
	d := drift(t, "output-field-added")
	a := d.agent()
	a.list()
	d.down.answer(`{"identifier":"d-1"}`)
	r := a.deploy(args{"branch": "main"}).refused("RESULT_CONTRACT", "may have had an effect")
	if r.Fields["side_effect_started"] != true {
		t.Errorf("%v", r.Fields)
	}
	d.reached(posted + `{"branch":"main"}`)
	if got := d.activities("--tool", "deploy"); got[0].Outcome.Status != "error" || !got[0].Outcome.SideEffectStarted {
		t.Errorf("journal: %+v", got[0].Outcome)
	}
}

func TestDriftRepeatedStaleCalls(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-approval-scope-added")
	a := d.agent()
	a.list()
	d.publish("new")
	for range 5 {
		a.deploy(args{"branch": "main"}).refused("STALE_TOOL_SCHEMA")
	}
	d.reached()
}

// A client that lists again, and then sends the old call all the same.
func TestDriftOldCallAfterANewList(t *testing.T) {
	t.Parallel()
	d := drift(t, "meaning-of-project-changed")
	a := d.agent()
	a.list()
	d.publish("new")
	now := a.list()
	a.deploy(args{"project": "shop"}).refused("STALE_TOOL_SCHEMA")
	d.reached()
	token := now.InputSchema.Properties["contract_revision"].Const
	if !strings.HasPrefix(token, "r2-") {
		t.Fatalf("listed %+v", now.InputSchema)
	}
	a.deploy(args{"project": "17", "contract_revision": token}).succeeds()
	d.reached(posted + `{"project":"17"}`)
}

// Where an old call could be taken for a new one, nothing is published without a
// declared revision.
func TestDriftOverlap(t *testing.T) {
	t.Parallel()
	for row, call := range map[string]args{
		"swapped-fields":  {"source": "a", "dest": "b"},
		"default-changed": {"branch": "main"},
	} {
		t.Run(row, func(t *testing.T) {
			d := drift(t, row)
			a := d.agent()
			a.list()
			r := d.run(d.unlocking("tool", "publish", d.contract("new"), "--yes")...)
			if r.code == 0 || !strings.Contains(r.out+r.errors, "declare_revision") {
				t.Fatalf("published: %+v", r)
			}
			if now := a.list().Meta["executor/contract"].Revision; now != 1 {
				t.Errorf("after the refusal revision %d is served", now)
			}
			d.publish("new", "approval: none", "approval: none\ndeclare_revision: true\naccepts: [{revision: 1, change: fence}]")
			a.deploy(call).refused("STALE_TOOL_SCHEMA")
			d.reached()
		})
	}
}

func TestDriftReconnect(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-region-with-a-safe-value")
	a := d.agent()
	a.list()
	a.in.Close()
	a.exit(patience)
	d.publish("new")
	b := d.agent() // the plan is the old one, the session is new, nothing was listed in it
	b.deploy(args{"branch": "main"}).succeeds()
	d.reached(posted + `{"branch":"main","region":"us-east"}`)
}

func TestDriftTwoSessionsOnTwoRevisions(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-region-with-a-safe-value")
	a := d.agent()
	a.list()
	d.publish("new")
	b := d.agent()
	b.list()
	x, y := a.deploy(args{"branch": "main"}), b.deploy(args{"branch": "main", "region": "eu-west"})
	x.succeeds()
	y.succeeds()
	if got := d.bodies(); !strings.Contains(got, `"region":"us-east"`) || !strings.Contains(got, `"region":"eu-west"`) || len(d.down.requests()) != 2 {
		t.Errorf("reached the downstream:\n%s", got)
	}
}

// A window for the sessions of the old time ends with them.
func TestDriftWindowOfSessions(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-region-with-a-safe-value")
	a := d.agent()
	a.list()
	d.publish("new", "until: 2099-12-31,", "until: 2099-12-31, sessions: true,")
	a.deploy(args{"branch": "main"}).succeeds()
	b := d.agent()
	b.deploy(args{"branch": "main"}).refused("STALE_TOOL_SCHEMA")
	d.reached(posted + `{"branch":"main","region":"us-east"}`)
}

func TestDriftRollback(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-approval-scope-added")
	a := d.agent()
	a.list()
	d.publish("new")
	a.deploy(args{"branch": "main"}).refused("STALE_TOOL_SCHEMA")
	d.publish("old", "revision: 1", "revision: 3")
	a.deploy(args{"branch": "main"}).succeeds()
	d.reached(posted + `{"branch":"main"}`)
}

// A caller without a session is taken by what it declares, or by what its
// arguments fit (MCP 2026-07-28 over the same socket).
func TestDriftStateless(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-region-with-a-safe-value")
	a := d.agent()
	one := a.list().Meta["executor/contract"]
	d.publish("new")
	b := d.mcp()
	call := func(claim any) result {
		meta := args{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": args{}, "io.modelcontextprotocol/clientInfo": args{"name": "stateless", "version": "1"}}
		if claim != nil {
			meta["executor/contract"] = claim
		}
		return pending{b, b.send("tools/call", args{"name": "deploy", "arguments": args{"branch": "main"}, "_meta": meta})}.wait()
	}
	if r := call(nil); r.IsError {
		t.Errorf("undeclared: %s", r.Text)
	}
	if r := call(args{"revision": 1, "digest": one.Digest}); r.IsError {
		t.Errorf("declared: %s", r.Text)
	}
	if r := call(args{"revision": 2}); r.Fields["error_code"] != "INVALID_ARGUMENTS" {
		t.Errorf("declared as what it is not: %s", r.Text)
	}
	same := posted + `{"branch":"main","region":"us-east"}`
	d.reached(same, same)
}

// A publish that ends the acceptance of a call while it waits for approval.
func TestDriftPublishWhileACallWaits(t *testing.T) {
	t.Parallel()
	d := &drifting{world: newWorld(t), down: newAPI(t), row: "required-approval-scope-added"}
	d.credential("ci", "--type", "bearer", "--target", d.down.URL+"/")
	screen := d.serve()
	d.publish("old", "approval: none", "approval: call")
	a := d.agent()
	a.list()
	c := a.deploy(args{"branch": "main"})
	screen.reads()
	d.publish("new", "approval: none", "approval: call")
	c.refused("CHANGED_SINCE_SHOWN")
	d.reached()
}

// A publish while a call is executing: it ends on the contract that it began with.
func TestDriftPublishWhileACallRuns(t *testing.T) {
	t.Parallel()
	d := drift(t, "required-approval-scope-added")
	d.down.hold()
	a := d.agent()
	a.list()
	c := a.deploy(args{"branch": "main"})
	poll(t, "the request at the downstream", func() bool { return len(d.down.requests()) == 1 })
	d.publish("new")
	a.changed(1)
	d.down.release()
	c.succeeds()
	d.reached(posted + `{"branch":"main"}`)
}
