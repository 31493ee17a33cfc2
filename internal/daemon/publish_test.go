package daemon_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"executor/internal/contract"
	"executor/internal/ctl"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/publish"
	"executor/internal/secret"
	"executor/journal"
	"executor/vault"
)

// A downstream is an API that keeps every request.
type downstream struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newDownstream(t testing.TB) *downstream {
	d := &downstream{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		d.mu.Lock()
		d.bodies = append(d.bodies, string(body))
		d.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"p1"}`)
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *downstream) log() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.bodies)
}

// publishAll seals contract files, as executor tool publish does, without its questions.
// It returns when the vault holds them; reload makes serve take them over.
func publishAll(t testing.TB, dir string, yamls ...string) {
	t.Helper()
	home, err := daemon.OpenHome(t.Context(), dir, secret.New([]byte("bench")))
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	histories, err := daemon.Histories(home.Vault)
	if err != nil {
		t.Fatal(err)
	}
	err = home.Vault.Update(t.Context(), "publish", func(e *vault.Edit) error {
		for _, y := range yamls {
			f, err := contract.ParseFile([]byte(y))
			if err != nil {
				return err
			}
			r, err := publish.Judge(f, histories[f.Tool], publish.Options{Now: time.Now()})
			if err != nil {
				return err
			}
			if !r.Publishable() {
				return errors.New(r.Text())
			}
			body, err := json.Marshal(r.Op())
			if err != nil {
				return err
			}
			if _, err := e.Put(vault.Item{Kind: policy.KindTool, Name: f.Tool, Body: body}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func reload(t testing.TB, dir string) {
	t.Helper()
	c := &ctl.Client{Path: filepath.Join(dir, daemon.OperatorSocket)}
	if err := c.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A wire is an agent that speaks JSON-RPC line by line, so that what came first is seen.
type wire struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	id   int
	// notices are the notifications that came while an answer was waited for.
	notices []string
}

func dialAgent(t testing.TB, dir string) *wire {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "unix", filepath.Join(dir, daemon.AgentSocket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	w := &wire{t: t, conn: conn, in: bufio.NewReaderSize(conn, 1<<20)}
	w.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"wire","version":"1"}}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.conn, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (w *wire) next() message {
	w.t.Helper()
	if err := w.conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	line, err := w.in.ReadBytes('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		w.t.Fatalf("%v in %s", err, line)
	}
	return m
}

// ask sends a request and returns its result.
func (w *wire) ask(method, params string) json.RawMessage {
	w.t.Helper()
	w.id++
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.id, method, params))
	for {
		m := w.next()
		if m.ID == nil {
			w.notices = append(w.notices, m.Method)
			continue
		}
		if *m.ID != w.id || m.Error != nil {
			w.t.Fatalf("%s: %s", method, m.Error)
		}
		return m.Result
	}
}

const listChanged = "notifications/tools/list_changed"

// changed waits for list_changed.
func (w *wire) changed() {
	w.t.Helper()
	for !slices.Contains(w.notices, listChanged) {
		if m := w.next(); m.ID == nil {
			w.notices = append(w.notices, m.Method)
		}
	}
	w.notices = nil
}

// revisions is what tools/list says now.
func (w *wire) revisions() map[string]int {
	w.t.Helper()
	out := map[string]int{}
	params := `{}`
	for {
		var list struct {
			Tools []struct {
				Name string
				Meta map[string]contract.Claim `json:"_meta"`
			}
			NextCursor string
		}
		if err := json.Unmarshal(w.ask("tools/list", params), &list); err != nil {
			w.t.Fatal(err)
		}
		for _, tool := range list.Tools {
			out[tool.Name] = tool.Meta[contract.MetaKey].Revision
		}
		if list.NextCursor == "" {
			return out
		}
		params = fmt.Sprintf(`{"cursor":%q}`, list.NextCursor)
	}
}

// call returns the error code of a call, "" for a success.
func (w *wire) call(tool, args string) string {
	w.t.Helper()
	var res struct {
		IsError           bool
		StructuredContent struct {
			Code    string `json:"error_code"`
			Message string `json:"message"`
			Started bool   `json:"side_effect_started"`
		}
	}
	if err := json.Unmarshal(w.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)), &res); err != nil {
		w.t.Fatal(err)
	}
	if res.IsError && res.StructuredContent.Started {
		w.t.Errorf("%s: %s after an effect", tool, res.StructuredContent.Code)
	}
	if res.IsError && res.StructuredContent.Code == "" {
		w.t.Fatalf("an error without a code")
	}
	return res.StructuredContent.Code
}

func deploy(revision int, input, body, more, target string) string {
	return fmt.Sprintf(`
tool: deploy
description: Deploy a branch.
revision: %d
input: {type: object, %s, additionalProperties: false}
http: {method: POST, url: "%s/v1/previews", json: {%s}, credential: api}
approval: none
%s`, revision, input, target, body, more)
}

func TestDriftPublishUnderRunningAgents(t *testing.T) {
	api := newDownstream(t)
	dir := serveHome(t, api.URL+"/v1/")
	const branch = `properties: {branch: {type: string}}, required: [branch]`
	const region = `properties: {branch: {type: string}, region: {type: string, enum: [us, eu]}}, required: [branch, region]`
	publishAll(t, dir, deploy(1, branch, "branch: {$arg: branch}, region: us", "", api.URL))
	reload(t, dir)
	old := dialAgent(t, dir)
	if got := old.revisions()["deploy"]; got != 1 {
		t.Fatalf("served revision %d", got)
	}
	if code := old.call("deploy", `{"branch":"main"}`); code != "" {
		t.Fatal(code)
	}

	publishAll(t, dir, deploy(2, region, "branch: {$arg: branch}, region: {$arg: region}",
		"accepts: [{revision: 1, change: migration, until: 2099-01-31, adapt: [{default: {region: us}}]}]\n", api.URL))
	reload(t, dir)
	// The session has not listed again: its old call means what it meant.
	if code := old.call("deploy", `{"branch":"main"}`); code != "" {
		t.Fatal(code)
	}
	if got := api.log(); len(got) != 2 || got[0] != got[1] {
		t.Errorf("the downstream saw %q", got)
	}
	old.changed()
	if got := old.revisions()["deploy"]; got != 2 {
		t.Errorf("after list_changed revision %d is listed", got)
	}
	fresh := dialAgent(t, dir)
	if got := fresh.revisions()["deploy"]; got != 2 {
		t.Errorf("a new session is served revision %d", got)
	}
	if code := fresh.call("deploy", `{"branch":"main","region":"eu"}`); code != "" {
		t.Error(code)
	}
	if code := fresh.call("deploy", `{"branch":"main","area":"eu"}`); code != "INVALID_ARGUMENTS" {
		t.Errorf("what never fitted: %q", code)
	}

	// A fence: nothing of the old ones passes, and nothing is sent.
	publishAll(t, dir, deploy(3, region, "ref: {$arg: branch}, region: {$arg: region}", "declare_revision: true\naccepts: [{revision: 2, change: fence}, {revision: 1, change: fence}]\n", api.URL))
	reload(t, dir)
	sent := len(api.log())
	for _, w := range []*wire{old, fresh} {
		for _, args := range []string{`{"branch":"main"}`, `{"branch":"main","region":"eu"}`} {
			if code := w.call("deploy", args); code != "STALE_TOOL_SCHEMA" {
				t.Errorf("%s past a fence: %q", args, code)
			}
		}
		w.changed()
		if got := w.revisions()["deploy"]; got != 3 {
			t.Errorf("after list_changed revision %d is listed", got)
		}
		if code := w.call("deploy", `{"branch":"main","region":"eu"}`); code != "STALE_TOOL_SCHEMA" {
			t.Errorf("listed again, and the old call sent: %q", code)
		}
	}
	if got := api.log(); len(got) != sent {
		t.Errorf("refused calls reached the downstream: %q", got[sent:])
	}
	checkAdapters(t, dir)
}

// checkAdapters reads how the calls were recorded.
func checkAdapters(t *testing.T, dir string) {
	t.Helper()
	r, err := journal.OpenReader(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for a, err := range r.Activities(t.Context(), journal.Filter{Match: journal.Match{Tool: []string{"deploy"}, Status: []string{journal.OK}}}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d>%d %d", a.DeclaredRevision, a.SchemaRevision, contract.AdaptedFrom(a.Adapter)))
	}
	if want := "1>1 0, 1>2 1, 2>2 0"; strings.Join(got, ", ") != want {
		t.Errorf("recorded %q, want %q", strings.Join(got, ", "), want)
	}
}

// BenchmarkPublishThousandTools measures from the commit of a publish to the new
// list, with 1,000 tools and one agent that listed them. The goal is 200 ms.
func BenchmarkPublishThousandTools(b *testing.B) {
	const target = "https://ci.example.com"
	dir := serveHome(b, target+"/v1/")
	many := make([]string, 1000)
	for i := range many {
		many[i] = strings.Replace(deploy(1, `properties: {branch: {type: string}, label: {type: string, maxLength: 20}}, required: [branch]`,
			"branch: {$arg: branch}, label: {$arg: label}", "", target), "tool: deploy", fmt.Sprintf("tool: deploy_%d", i), 1)
	}
	publishAll(b, dir, many...)
	reload(b, dir)
	agent := dialAgent(b, dir)
	listed := 0
	for name := range agent.revisions() {
		if strings.HasPrefix(name, "deploy_") {
			listed++
		}
	}
	if listed != len(many) {
		b.Fatalf("%d of %d published tools are listed", listed, len(many))
	}
	times := make([]time.Duration, 0, b.N)
	revision := 1
	for range max(b.N, 11) {
		revision++
		publishAll(b, dir, strings.Replace(strings.Replace(many[500], "revision: 1", fmt.Sprintf("revision: %d", revision), 1),
			"Deploy a branch.", fmt.Sprintf("Deploy a branch, variant %d.", revision), 1))
		began := time.Now()
		reload(b, dir)
		agent.changed()
		if got := agent.revisions()["deploy_500"]; got != revision {
			b.Fatalf("revision %d is listed, want %d", got, revision)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "max-ms")
}
