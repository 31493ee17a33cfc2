package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Journey 1: init at a terminal asks twice, changes nothing on a slip, and tells
// each client's way to register.
func TestInitAtATerminal(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	slip := w.onTerminal("init", "init", "--scrypt-work-factor", "12")
	slip.hidden("Choose a passphrase for the vault: ", w.phrase)
	slip.hidden("The same again: ", w.phrase+"x")
	slip.expect("differ; nothing was changed")
	if code := slip.exit(patience); code != 1 {
		t.Errorf("two passphrases that differ: exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(w.home, "vault.age")); err == nil {
		t.Error("a vault was made")
	}

	good := w.onTerminal("init", "init", "--scrypt-work-factor", "12")
	good.hidden("Choose a passphrase for the vault: ", w.phrase)
	good.hidden("The same again: ", w.phrase)
	if code := good.exit(patience); code != 0 {
		t.Fatalf("init: exit code %d\n%s", code, good.raw)
	}
	poll(t, "the registration", func() bool { return strings.Contains(good.fresh(), "Any other client") })
	for _, words := range []string{"claude mcp add executor -- " + binary, "[mcp_servers.executor]", "tool_timeout_sec", "MCP_TOOL_TIMEOUT", `"mcpServers"`, `"--home", "` + w.home + `"`} {
		if !strings.Contains(good.raw.String(), words) {
			t.Errorf("init does not print %q", words)
		}
	}
	for name, mode := range map[string]os.FileMode{".": 0o700, "vault.age": 0o600, "identity.age": 0o600, "journal.db": 0o600, "journal.pub": 0o600, "journal.pin": 0o600} {
		info, err := os.Stat(filepath.Join(w.home, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, mode %v, want %v", name, err, info.Mode().Perm(), mode)
		}
	}

	before := w.snapshot("vault.age", "identity.age", "journal.pub")
	w.fails(1, []string{"already exists", "nothing was changed"}, w.unlocking("init")...)
	if after := w.snapshot("vault.age", "identity.age", "journal.pub"); !equal(before, after) {
		t.Error("a second init changed the home")
	}
	w.verified()
}

func equal(a, b map[string]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// Without --home and EXECUTOR_HOME the home is below HOME, which is all that agents'
// clients pass on; XDG variables of the operator make no difference.
func TestDefaultHome(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.home = filepath.Join(w.dir, ".local", "share", "executor")
	w.env = []string{"EXECUTOR_HOME=", "XDG_DATA_HOME=" + w.dir + "/elsewhere", "XDG_RUNTIME_DIR=" + w.dir + "/run"}
	out := w.ok(w.unlocking("init", "--scrypt-work-factor", "12")...)
	if !strings.Contains(out, "claude mcp add executor -- "+binary+" mcp\n") {
		t.Errorf("the registration names more than it needs: %s", out)
	}
	w.present(filepath.Join(w.home, "vault.age"))
	w.service()
	a := w.startMCP(func(cmd *exec.Cmd) { cmd.Args = []string{binary, "mcp"} })
	a.line(caseLines(t, "MCP-03/init-2025-06-18.jsonl")[0])
	if m := a.reply("0"); m.Error != nil {
		t.Errorf("initialize: %+v", m.Error)
	}
}

// The passphrase comes from a descriptor as well.
func TestPassphraseDescriptor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := func(fd string) ran {
		cmd := exec.Command("sh", "-c", `exec "$0" credential list --passphrase-fd `+fd+` 3<"$1"`, binary, w.pass)
		cmd.Env = w.operator()
		out, err := cmd.CombinedOutput()
		w.log.Write(out)
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return ran{cmd.ProcessState.ExitCode(), string(out), string(out)}
	}
	if r := list("3"); r.code != 0 {
		t.Errorf("descriptor 3: %+v", r)
	}
	if r := list("9"); r.code == 0 || !strings.Contains(r.errors, "descriptor") {
		t.Errorf("a descriptor that is not open: %+v", r)
	}
	w.fails(2, []string{"passphrase-fd"}, w.unlocking("credential", "list", "--passphrase-fd", "3")...)
	// The secret on stdin and no terminal: the passphrase has nowhere to come from.
	if r := w.runWith(random(), "credential", "add", "x", "--type", "bearer", "--target", "https://x.example/"); r.code != 2 {
		t.Errorf("secret on stdin, no passphrase: %+v", r)
	}
}

// Journey 2: a credential's life, each way in for its secret, and never a way out.
func TestCredentialLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	first := w.credential("api", "--type", "bearer", "--target", web.URL+"/", "--approval", "session")
	basic := w.canary("basic", random())
	w.ok(w.unlocking("credential", "add", "site", "--type", "basic", "--username", "me", "--target", "https://site.example/", "--from-file", w.file("basic", basic+"\n"))...)
	prompt := w.onTerminal("credential add", w.unlocking("credential", "add", "typed", "--type", "header", "--header", "X-Token", "--format", "Token {secret}", "--target", "https://typed.example/")...)
	prompt.hidden("Secret (not shown): ", w.canary("typed", random()))
	if code := prompt.exit(patience); code != 0 {
		t.Fatalf("a secret that was typed: exit code %d\n%s", code, prompt.raw)
	}
	w.fails(1, []string{"exists", "credential rotate api"}, w.unlocking("credential", "add", "api", "--type", "bearer", "--target", "https://x.example/", "--from-file", w.pass)...)
	w.fails(2, []string{"no terminal"}, "credential", "add", "other", "--type", "bearer", "--target", "https://x.example/", "--from-file", w.pass)

	type info struct {
		Name, Type, Approval string
		Version              int
		Targets              []string
	}
	list := jsonOf[[]info](w, w.unlocking("credential", "list")...)
	if len(list) != 3 || list[0].Name != "api" || list[0].Approval != "session" || list[0].Targets[0] != web.URL+"/" {
		t.Errorf("credential list: %+v", list)
	}
	if show := w.ok(w.unlocking("credential", "show", "typed")...); !strings.Contains(show, "X-Token") || !strings.Contains(show, "https://typed.example/") {
		t.Errorf("credential show: %s", show)
	}

	screen := w.serve()
	a := w.agent()
	uses := func(want string) {
		t.Helper()
		c := a.get(web.URL + "/v1")
		screen.answers("y") // each version is asked about anew
		c.succeeds()
		seen := web.requests()
		if got := seen[len(seen)-1].Header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("another secret than expected was sent")
		}
	}
	uses(first)
	second := w.canary("api, rotated", random())
	if r := w.runWith(second+"\n", w.unlocking("credential", "rotate", "api")...); r.code != 0 || !strings.Contains(r.out, "now version 2") {
		t.Fatalf("rotate: %+v", r)
	}
	uses(second)
	if out := w.ok(w.unlocking("credential", "rollback", "api")...); !strings.Contains(out, "now version 3") {
		t.Errorf("rollback: %s", out)
	}
	uses(first)
	w.fails(2, []string{"--yes"}, w.unlocking("credential", "remove", "api")...)
	w.ok(w.unlocking("credential", "remove", "api", "--yes")...)
	a.begin("http_request", args{"method": "GET", "url": web.URL + "/v1", "credential": "api"}).refused("CREDENTIAL_NOT_BOUND")
	w.fails(1, []string{`no credential is called "api"`}, w.unlocking("credential", "show", "api")...)
	w.verified()
}

// Journey 3: a service, its status, lock and unlock.
func TestServiceLockAndUnlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	w.fails(4, []string{"executor serve"}, "status")
	serve, out := w.service()
	if !strings.Contains(out.String(), "passphrase file") {
		t.Errorf("serve does not warn of a passphrase file that agents can read: %s", out)
	}
	type status struct {
		Locked                        bool
		Sessions, Requests, Approvers int
	}
	if s := jsonOf[status](w, "status"); s.Locked || s.Approvers != 0 {
		t.Errorf("status: %+v", s)
	}
	console := w.approve()
	a := w.agent()
	waiting := a.get(web.URL + "/v1")
	console.reads()
	if s := jsonOf[status](w, "status"); s.Sessions != 1 || s.Requests != 1 || s.Approvers != 1 {
		t.Errorf("status with a request: %+v", s)
	}
	w.ok("lock")
	waiting.refused("VAULT_LOCKED", "ask_operator")
	a.get(web.URL+"/v1").refused("VAULT_LOCKED", "executor unlock")
	if s := jsonOf[status](w, "status"); !s.Locked {
		t.Error("status does not say locked")
	}
	wrong := w.file("wrong", "not the passphrase\n")
	w.fails(3, []string{"wrong passphrase"}, "unlock", "--passphrase-file", wrong)
	unlock := w.onTerminal("unlock", "unlock")
	unlock.hidden("Passphrase of the vault: ", w.phrase)
	if code := unlock.exit(patience); code != 0 {
		t.Fatalf("unlock: exit code %d\n%s", code, unlock.raw)
	}
	c := a.get(web.URL + "/v1")
	console.answers("y")
	c.succeeds()
	serve.signal(os.Interrupt)
	if code := serve.exit(patience); code != 0 {
		t.Errorf("serve after an interrupt: exit code %d\n%s", code, out)
	}
	w.verified()
}

// Journey 4: what an agent sees.
func TestAgentSeesTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/v1/")
	box := w.sshd()
	box.register("box", "--approval", "presence")
	w.service()
	a := w.agent()

	var list struct {
		Tools []struct {
			Name                      string
			InputSchema, OutputSchema map[string]any
			Annotations               map[string]any
			Meta                      map[string]map[string]any `json:"_meta"`
		}
	}
	if err := json.Unmarshal(a.request("tools/list", nil).Result, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.InputSchema["additionalProperties"] != false || tool.OutputSchema["type"] != "object" {
			t.Errorf("%s: schemas: %v %v", tool.Name, tool.InputSchema, tool.OutputSchema)
		}
		if tool.Annotations["readOnlyHint"] != slices.Contains([]string{"http_get", "list_targets", "ssh_list_dir", "ssh_read_file"}, tool.Name) {
			t.Errorf("%s: annotations: %v", tool.Name, tool.Annotations)
		}
		if c := tool.Meta["executor/contract"]; c["revision"] != float64(1) || !strings.HasPrefix(c["digest"].(string), "sha256:") {
			t.Errorf("%s: _meta: %v", tool.Name, tool.Meta)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"http_get", "http_request", "list_targets", "ssh_exec", "ssh_list_dir", "ssh_read_file", "ssh_write_file"}) {
		t.Errorf("tools: %v", names)
	}

	r := a.begin("list_targets", args{}).succeeds()
	for _, words := range []string{`"name":"box"`, `"approval":"presence"`, `"credential":"api"`, web.URL + "/v1/", `"approval_read":"session"`, `"approval_write":"call"`} {
		if !strings.Contains(r.Text, words) {
			t.Errorf("list_targets lacks %s: %s", words, r.Text)
		}
	}
	if strings.Contains(r.Text, box.addr) || strings.Contains(r.Text, "AAAA") {
		t.Errorf("list_targets tells an address or a key: %s", r.Text)
	}
	if m := a.request("ping", nil); string(m.Result) != "{}" {
		t.Errorf("ping: %s", m.Result)
	}
}

// Journey 4: a call that waits tells so, and can be cancelled.
func TestProgressAndCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	call := func(token string) pending {
		return pending{a, a.send("tools/call", args{
			"name": "http_request", "arguments": args{"method": "POST", "url": web.URL + "/v1", "body": "x"},
			"_meta": args{"progressToken": token},
		})}
	}
	c := call("tok-1")
	poll(t, "progress", func() bool {
		return len(a.all(func(m message) bool {
			return m.Method == "notifications/progress" && strings.Contains(string(m.Params), `"tok-1"`) && strings.Contains(string(m.Params), "approval")
		})) > 0
	})
	_, id := screen.reads()
	a.cancel(c.id)
	elapsed(t, 2*time.Second, "ping after a cancel", func() { a.request("ping", nil) })
	screen.expect("caller gone: " + id)
	screen.prompt()
	screen.types("y\n")
	screen.expect("takes no answer")
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests after a cancel", n)
	}
	w.status("cancelled")
	if !c.open() {
		for _, m := range a.replies(c.id) {
			if m.Error == nil && !strings.Contains(string(m.Result), `"isError":true`) {
				t.Errorf("a cancelled call was answered with a success: %s", m.Result)
			}
		}
	}
	w.verified()
}

// status waits until the newest activity has the outcome.
func (w *world) status(want string) activity {
	w.Helper()
	var got activity
	poll(w, "outcome "+want, func() bool {
		all := w.activities("-n", "1")
		if len(all) == 1 {
			got = all[0]
		}
		return len(all) == 1 && got.Outcome.Status == want
	})
	return got
}

// Journey 4 and 5: nobody is there to answer, and that is said at once.
func TestNoApproverAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	w.service()
	a := w.agent()
	elapsed(t, 2*time.Second, "NO_APPROVER", func() {
		a.get(web.URL+"/v1").refused("NO_APPROVER", "executor approve", "ask_operator")
	})
	a.begin("list_targets", args{}).succeeds()
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	got := w.activities("--status", "refused")
	if len(got) != 1 || got[0].Decision.Result != "no_approver" || got[0].Outcome.ErrorCode != "NO_APPROVER" {
		t.Errorf("journal: %+v", got)
	}
}

// Journey 5: both kinds of action, with their digest on the screen and in the journal.
func TestApprovedActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newTLS(t)
	w.env = append(w.env, "SSL_CERT_FILE="+w.certificate(web))
	token := w.credential("api", "--type", "bearer", "--target", web.URL+"/v1/")
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()

	c := a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1/deploy?x=1", "json": args{"branch": "main"}, "headers": args{"X-Note": "hello"}})
	shown := screen.answers("y")
	for _, words := range []string{"request: POST " + web.URL + "/v1/deploy?x=1", "X-Note: hello", `{"branch":"main"}`, "api version 1 (bearer", "http_request, revision 1", "claims to be: e2e 1", "observed", "call"} {
		if !strings.Contains(shown, words) {
			t.Errorf("the screen lacks %q:\n%s", words, shown)
		}
	}
	if r := c.succeeds(); r.Fields["status"] != float64(200) {
		t.Errorf("result: %v", r.Fields)
	}
	got := web.requests()
	if len(got) != 1 || got[0].Header.Get("Authorization") != "Bearer "+token || got[0].Body != `{"branch":"main"}` || got[0].Header.Get("X-Note") != "hello" || got[0].URI != "/v1/deploy?x=1" {
		t.Errorf("on the wire: %d requests, %s %s", len(got), got[0].Method, got[0].URI)
	}
	post := w.last()
	if post.Decision.ShownDigest != post.ActionDigest || post.Decision.Basis != "asked" || post.Outcome.Status != "ok" {
		t.Errorf("journal of the POST: %+v", post)
	}

	c = a.begin("ssh_exec", args{"host": "box", "argv": []string{"printf", "%s|", "a b", "it's", "$HOME"}, "stdin": "unused"})
	shown = screen.answers("y")
	if !strings.Contains(shown, `'it'"'"'s'`) && !strings.Contains(shown, `'it'\''s'`) {
		t.Errorf("the screen does not show the command as it is quoted:\n%s", shown)
	}
	if r := c.succeeds(); r.Fields["stdout"] != "a b|it's|$HOME|" || r.Fields["exit_code"] != float64(0) {
		t.Errorf("result: %v", r.Fields)
	}
	c = a.ssh("box", "echo out; echo err >&2; exit 3")
	screen.answers("y")
	if r := c.succeeds(); r.Fields["exit_code"] != float64(3) || r.Fields["stdout"] != "out\n" || r.Fields["stderr"] != "err\n" {
		t.Errorf("an exit code is a result: %v", r.Fields)
	}
	if run := w.last(); run.DownstreamTarget == "" || run.Decision.ShownDigest != run.ActionDigest {
		t.Errorf("journal of the command: %+v", run)
	}
	w.verified()
}

// Journey 6: the journal's views.
func TestJournalViews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	tail := w.onTerminal("tail", "journal", "tail", "-f", "-o", "jsonl")
	a := w.agent()
	a.request("tools/list", nil)
	c := a.get(web.URL + "/one")
	screen.answers("y")
	c.succeeds()
	a.get(web.URL + "/two").succeeds()
	a.begin("http_request", args{"method": "GET"}).refused("INVALID_ARGUMENTS", "/url")
	a.begin("list_targets", args{}).succeeds()
	tail.expect(`"INVALID_ARGUMENTS"`)

	all := w.activities()
	if len(all) != 4 || !slices.IsSortedFunc(all, func(x, y activity) int { return int(x.Seq - y.Seq) }) {
		t.Fatalf("activities: %+v", all)
	}
	if all[0].Decision.Basis != "asked" || all[1].Decision.Basis == "asked" || all[1].Decision.ShownDigest != "" || all[3].Decision.Basis != "level" {
		t.Errorf("bases: %q %q %q", all[0].Decision.Basis, all[1].Decision.Basis, all[3].Decision.Basis)
	}
	if !strings.Contains(all[0].RawArgs, "/one") || !strings.Contains(string(all[0].NormalizedArgs), web.URL+"/one") || all[0].Credential == nil || all[0].Credential.Name != "api" {
		t.Errorf("record: %+v", all[0])
	}
	if string(all[2].Downstream) != "null" && len(all[2].Downstream) > 0 {
		t.Errorf("a refused call has a downstream: %s", all[2].Downstream)
	}
	for flags, want := range map[string]int{"--tool http_request": 3, "--status refused": 1, "--status ok --tool list_targets": 1, "-n 2": 2, "--since 1h-ago": -1, "--since -1h": 4, "--until -1h": 0, "--target " + web.URL: 2, "--session " + all[0].SessionID: 4} {
		args := append([]string{"journal", "query", "activity"}, strings.Fields(flags)...)
		if want < 0 {
			w.fails(2, []string{"is not a time"}, args...)
			continue
		}
		if got := w.activities(strings.Fields(flags)...); len(got) != want {
			t.Errorf("query %s: %d, want %d", flags, len(got), want)
		}
	}
	if r := w.activities("-r"); r[0].Seq != all[3].Seq {
		t.Error("-r does not begin with the newest")
	}
	for _, format := range []string{"table", "csv", "jsonl"} {
		if out := w.ok("journal", "query", "-o", format); strings.Count(out, "\n") < 4 || !strings.Contains(out, "http_request") {
			t.Errorf("-o %s: %s", format, out)
		}
	}
	if out := w.ok("journal", "show", all[0].ActivityID); !strings.Contains(out, all[0].ActionDigest) {
		t.Errorf("show: %s", out)
	}
	w.sessionRecord(all[0].SessionID)
	w.verified()
}

func (w *world) sessionRecord(id string) {
	w.Helper()
	type session struct {
		SessionID string `json:"session_id"`
		SameUID   bool   `json:"same_uid"`
		Transport string
		Client    struct{ Name, Version, Protocol string }
		Peer      map[string]any
		Grants    []struct{ Scope, By string }
		Catalogs  []struct{ Tools map[string]int }
		Calls     map[string]int
	}
	all := jsonOf[[]session](w, "journal", "query", "sessions")
	if len(all) != 1 {
		w.Fatalf("%d sessions", len(all))
	}
	s := all[0]
	if s.SessionID != id || !s.SameUID || s.Transport != "stdio" || s.Client.Name != "e2e" || s.Client.Protocol != "2025-06-18" {
		w.Errorf("session: %+v", s)
	}
	if exe, _ := s.Peer["exe"].(string); exe != binary {
		w.Errorf("peer: %v", s.Peer)
	}
	if len(s.Grants) != 1 || !strings.Contains(s.Grants[0].Scope, "GET") || len(s.Catalogs) != 1 || s.Catalogs[0].Tools["ssh_exec"] != 1 {
		w.Errorf("grants %+v, catalogs %+v", s.Grants, s.Catalogs)
	}
	if s.Calls["total"] != 4 || s.Calls["refused"] != 1 || s.Calls["ok"] != 3 {
		w.Errorf("calls: %v", s.Calls)
	}
}
