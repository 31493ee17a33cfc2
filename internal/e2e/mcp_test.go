package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Nothing but JSON-RPC on stdout, whatever goes wrong (MCP-01); agent.read checks
// each line as it comes.
func TestStdoutIsJSONRPCOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	for _, misuse := range [][]string{{"mcp", "--no-such-flag"}, {"mcp", "extra"}, {"mcp", "--socket"}} {
		if r := w.run(misuse...); r.code != 2 || r.out != "" || r.errors == "" {
			t.Errorf("%v: %+v", misuse, r)
		}
	}
	w.fails(3, nil, "serve", "--passphrase-file", w.file("wrong", "wrong\n"))
	screen := w.serve("--approval-limit", "2s")
	a, b := w.agent(), w.agent()
	c := a.get(web.URL + "/v1")
	screen.reads()
	c.refused("APPROVAL_EXPIRED")
	screen.expect("away: ")
	screen.types("\n")
	screen.expect("expired, nothing was run")
	c = a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1"})
	screen.answers("n")
	c.refused("APPROVAL_DENIED")
	db := filepath.Join(w.home, "journal.db")
	w.rename(db, db+".away")
	a.get(web.URL + "/v1").refused("JOURNAL_UNAVAILABLE")
	w.rename(db+".away", db)
	c = a.get(web.URL + "/slow?ms=60000")
	screen.answers("y")
	poll(t, "the request", func() bool { return len(web.requests()) > 0 })

	b.signal(syscall.SIGQUIT)
	if code := b.exit(patience); code == 0 {
		t.Error("exit code 0 after SIGQUIT")
	}
	screen.signal(syscall.SIGQUIT)
	screen.exit(patience)
	if code := a.exit(5 * time.Second); code == 0 {
		t.Error("exit code 0 though the daemon is gone")
	}
	poll(t, "the end of stdout", func() bool { a.mu.Lock(); defer a.mu.Unlock(); return a.ended })
	if !c.open() {
		t.Errorf("a reply came out of a killed daemon: %v", c.wait())
	}
	if !strings.Contains(a.stderr.String(), "executor serve") {
		t.Errorf("stderr: %s", a.stderr)
	}
}

// No daemon: 8 seconds, one sentence, exit code 4.
func TestMCPWithoutDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.mcp()
	began := time.Now()
	a.line(caseLines(t, "MCP-03/init-2025-06-18.jsonl")[0])
	if code := a.exit(patience); code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
	if took := time.Since(began); took < 7500*time.Millisecond || took > 11*time.Second {
		t.Errorf("it waited %s, 8 s are due", took)
	}
	if !strings.Contains(a.stderr.String(), "executor serve") || strings.Count(a.stderr.String(), "\n") > 3 {
		t.Errorf("stderr: %s", a.stderr)
	}
	if a.transcript.String() != "" {
		t.Errorf("stdout: %s", a.transcript)
	}
}

// A daemon that starts within the wait is joined.
func TestMCPWaitsForDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.mcp()
	a.line(caseLines(t, "MCP-03/init-2025-06-18.jsonl")[0])
	w.service()
	if m := a.reply("0"); m.Error != nil {
		t.Errorf("initialize: %+v", m.Error)
	}
}

// Lines of 5 MiB pass, and the session goes on (MCP-02).
func TestBigLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	big := strings.Repeat("0123456789abcdef", 5<<20/16)
	c := a.begin("http_request", args{"method": "GET", "url": web.URL + "/v1", "body": big})
	elapsed(t, 10*time.Second, "ping behind a line of 5 MiB", func() { a.request("ping", nil) })
	c.refused("INVALID_ARGUMENTS", "has no body")
	c = a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": big[:less(len(big)/4)]})
	_, id, _ := screen.prompt()
	screen.types("n too much to read\n")
	screen.expect("** " + id + ": denied")
	c.refused("APPROVAL_DENIED", "too much to read")
	if got := w.last(); got.Decision.Reason != "too much to read" {
		t.Errorf("the journal's reason is %q", got.Decision.Reason)
	}
	if out := w.ok("journal", "query", "-g", "too much to", "-o", "jsonl"); strings.Count(out, "\n") != 1 {
		t.Errorf("found by its reason: %q", out)
	}
	a.line(strings.Repeat("x", 17<<20))
	if m := a.reply("null"); m.Error == nil {
		t.Error("a line over the limit got no error")
	}
	a.request("ping", nil)
}

// Sixteen large replies at once to a slow reader: each whole, each once (MCP-02).
func TestParallelBigReplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a, out := w.mcpUnread(func(*exec.Cmd) {})
	go a.read(&slowly{out})
	a.request("initialize", args{"protocolVersion": "2025-06-18", "capabilities": args{}, "clientInfo": args{"name": "slow", "version": "0"}})
	var calls []pending
	size := less(300000)
	for i := range 16 {
		calls = append(calls, a.get(fmt.Sprintf("%s/big?n=%d&row=row-%02d", web.URL, size, i)))
	}
	screen.answers("y")
	for i, c := range calls {
		body, _ := c.succeeds().Fields["body"].(string)
		row := fmt.Sprintf("row-%02d\n", i)
		if len(body) < size || strings.ReplaceAll(body, row, "") != "" {
			t.Errorf("call %d got %d bytes, not only its own rows", i, len(body))
		}
		if n := len(a.replies(c.id)); n != 1 {
			t.Errorf("call %d has %d replies", i, n)
		}
	}
}

// less is a size for this test run: the race detector makes the program many times slower.
func less(size int) int {
	if raceEnabled {
		return size / 6
	}
	return size
}

// slowly reads a little at a time.
type slowly struct{ io.Reader }

func (s *slowly) Read(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.Reader.Read(b[:min(len(b), 16<<10)])
}

// Ids, notifications, unknown methods and garbage, all at once (MCP-03).
func TestIDsAndGarbage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service()
	a := w.mcp()
	if _, err := io.WriteString(a.in, strings.Join(caseLines(t, "MCP-03/session.jsonl"), "\n")+"\n"); err != nil {
		t.Fatal(err)
	}
	a.reply("8")
	poll(t, "a ping and an initialize of id 0", func() bool { return len(a.replies("0")) == 2 })
	for id, code := range map[string]int{`"str-1"`: 0, "9007199254740993": 0, `""`: 0, "8": 0, "7": -32601} {
		m := a.reply(id)
		if n := len(a.replies(id)); n != 1 {
			t.Errorf("id %s: %d replies", id, n)
		}
		if code == 0 && m.Error != nil || code != 0 && (m.Error == nil || m.Error.Code != code) {
			t.Errorf("id %s: %+v", id, m.Error)
		}
	}
	for _, m := range a.replies("0") {
		if m.Error != nil {
			t.Errorf("id 0: %+v", m.Error)
		}
	}
	codes := map[int]int{}
	poll(t, "two errors without an id", func() bool { return len(a.replies("null")) >= 2 })
	for _, m := range a.replies("null") {
		codes[m.Error.Code]++
	}
	if len(codes) != 2 || codes[-32600] != 1 || codes[-32700] != 1 {
		t.Errorf("errors without an id: %v", codes)
	}
	if n := len(a.all(func(message) bool { return true })); n != 9 {
		t.Errorf("%d lines came, 9 are due: notifications and blank lines are not answered", n)
	}
}

// Each protocol version is echoed, an unknown one answered with one that is known (MCP-03).
func TestProtocolVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service()
	for _, v := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2099-01-01"} {
		a := w.mcp()
		a.line(caseLines(t, "MCP-03/init-"+v+".jsonl")[0])
		m := a.reply("0")
		var r struct{ ProtocolVersion string }
		if m.Error != nil || json.Unmarshal(m.Result, &r) != nil {
			t.Errorf("%s: %+v", v, m)
			continue
		}
		if v != "2099-01-01" && r.ProtocolVersion != v || !strings.HasPrefix(r.ProtocolVersion, "202") {
			t.Errorf("%s was answered with %q", v, r.ProtocolVersion)
		}
	}
}

// A cancel ends what runs, downstream too (MCP-04).
func TestCancelWhileRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()

	sleep := "sleep 30004." + fmt.Sprint(os.Getpid())
	c := a.ssh("box", "exec "+sleep)
	screen.answers("y")
	poll(t, "the remote command", func() bool { return len(processes(sleep)) == 1 })
	a.cancel(c.id)
	elapsed(t, time.Second, "ping after a cancel", func() { a.request("ping", nil) })
	box.ends(sleep)
	if got := w.status("cancelled"); !got.Outcome.SideEffectStarted {
		t.Errorf("journal: %+v", got.Outcome)
	}

	h := a.get(web.URL + "/slow?ms=60000")
	screen.answers("y")
	poll(t, "the request", func() bool { return len(web.requests()) == 1 })
	a.cancel(h.id)
	within(t, 3*time.Second, "the end of the HTTP connection", func() bool { return web.left() == 1 })
	w.status("cancelled")
	a.cancel("4711")
	a.request("ping", nil)
	for _, p := range []pending{c, h} {
		for _, m := range a.replies(p.id) {
			if m.Error == nil && !strings.Contains(string(m.Result), `"isError":true`) {
				t.Errorf("a cancelled call was answered with a success: %s", m.Result)
			}
		}
	}
	w.verified()
}

// The end of input ends mcp within 5 s in every state (MCP-05).
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	limit := 5 * time.Second
	if raceEnabled {
		limit += 2 * time.Second // the machine, not the program
	}
	ends := func(t *testing.T, a *agent) {
		t.Helper()
		if err := a.in.Close(); err != nil {
			t.Fatal(err)
		}
		if code := a.exit(limit); code != 0 {
			t.Errorf("exit code %d after the end of input; stderr: %s", code, a.stderr)
		}
	}
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.service()
		a := w.agent()
		elapsed(t, 2*time.Second, "an idle mcp's end", func() { ends(t, a) })
		type session struct{ Closed *time.Time }
		poll(t, "the session's end", func() bool {
			s := jsonOf[[]session](w, "journal", "query", "sessions")
			return len(s) == 1 && s[0].Closed != nil
		})
	})
	t.Run("running command", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		box := w.sshd()
		box.register("box")
		screen := w.serve()
		a := w.agent()
		sleep := "sleep 30005." + fmt.Sprint(os.Getpid())
		a.ssh("box", "exec "+sleep)
		screen.answers("y")
		poll(t, "the remote command", func() bool { return len(processes(sleep)) == 1 })
		ends(t, a)
		box.ends(sleep)
		w.status("cancelled")
		w.verified()
	})
	t.Run("pending approval", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		box := w.sshd()
		box.register("box")
		screen := w.serve()
		a := w.agent()
		a.ssh("box", "true")
		_, id := screen.reads()
		ends(t, a)
		screen.expect(id)
		poll(t, "the request's end", func() bool {
			return strings.Contains(w.ok("status"), "0 waiting") || strings.Contains(w.ok("journal", "query"), "cancelled")
		})
		screen.types("y\n")
		w.status("cancelled")
		if n := box.logins(); n != 0 {
			t.Errorf("%d logins", n)
		}
	})
	t.Run("unread stdout", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		web := newAPI(t)
		w.credential("api", "--type", "bearer", "--target", web.URL+"/")
		screen := w.serve()
		a, out := w.mcpUnread(func(*exec.Cmd) {})
		r := bufio.NewReader(out)
		a.line(caseLines(t, "MCP-03/init-2025-06-18.jsonl")[0])
		if _, err := r.ReadBytes('\n'); err != nil {
			t.Fatal(err)
		}
		for range 8 { // and nobody reads what comes
			a.get(fmt.Sprintf("%s/big?n=%d&row=x", web.URL, less(900000)))
		}
		screen.answers("y")
		poll(t, "the requests", func() bool { return len(web.requests()) == 8 })
		ends(t, a)
		poll(t, "an outcome for each", func() bool { return len(w.activities("--status", "running")) == 0 })
		w.verified()
	})
	t.Run("killed parent", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.service()
		parent := exec.Command("/bin/sh", "-c", "sleep 600 | "+binary+" mcp --home "+w.home+" & echo $!; wait")
		parent.Env = w.bare()
		parent.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		poll(t, "a connection", func() bool { return strings.Contains(w.ok("status", "--jq", ".sessions"), "1") })
		if err := unix.Kill(-parent.Process.Pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait()
		within(t, limit, "the connection's end", func() bool { return strings.Contains(w.ok("status", "--jq", ".sessions"), "0") })
	})
}

// Names that differ by case, stand twice or are unknown are refused by name (MCP-06).
func TestArgumentNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	for _, line := range caseLines(t, "MCP-06/case-variant.jsonl")[2:] {
		a.line(line)
	}
	for _, id := range []string{"1", "2"} {
		m := a.all(func(m message) bool { return string(m.ID) == id && len(m.Result) > 0 })
		poll(t, "a refusal of "+id, func() bool {
			m = a.all(func(m message) bool {
				return string(m.ID) == id && strings.Contains(string(m.Result), "INVALID_ARGUMENTS")
			})
			return len(m) > 0
		})
	}
	poll(t, "a list of tools for id 3", func() bool { return strings.Contains(string(a.reply("3").Result), `"inputSchema"`) })
	w.absent("/tmp/case-MCP-06-ran")

	ran := w.drop() + "/ran"
	raw := func(arguments string) pending {
		a.mu.Lock()
		a.next += 100
		id := fmt.Sprint(a.next)
		a.mu.Unlock()
		a.line(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ssh_exec","arguments":` + arguments + `}}`)
		return pending{a, id}
	}
	for arguments, name := range map[string]string{
		`{"host":"box","command":"true","Command":"touch ` + ran + `"}`:      "/Command",
		`{"host":"box","command":"true","command":"touch ` + ran + `"}`:      "/command",
		`{"host":"box","command":"true","comm\u0061nd":"touch ` + ran + `"}`: "/command",
		`{"host":"box","HOST":"box","command":"true"}`:                       "/HOST",
		`{"host":"box","command":"true","sudo":true}`:                        "/sudo",
		`{"host":"box","command":"true","ſtdin":"x"}`:                        "/ſtdin",
		`{"host":"box","command":"true","env":{"A":"1","A":"2"}}`:            "/env/A",
		`{"host":"box","command":null,"argv":["true"]}`:                      "/command",
		`{"host":"box","command":"true","timeout_s":"5"}`:                    "/timeout_s",
		`{"host":"box"}`:                    "command",
		`{"host":["box"],"command":"true"}`: "/host",
	} {
		r := raw(arguments).refused("INVALID_ARGUMENTS", "fix_arguments")
		problems, _ := json.Marshal(r.Fields["problems"])
		if !strings.Contains(string(problems), name) && !strings.Contains(r.Text, name) {
			t.Errorf("%s: %s is not named: %s", arguments, name, problems)
		}
	}
	a.line(`{"jsonrpc":"2.0","id":"dup","method":"tools/call","params":{"name":"ssh_exec","name":"list_targets","arguments":{}}}`)
	if m := a.reply(`"dup"`); m.Error == nil || m.Error.Code != -32602 && m.Error.Code != -32600 {
		t.Errorf("a name that stands twice in params: %+v", m)
	}
	screen.quiet()
	w.absent(ran)
	if n := box.logins(); n != 0 {
		t.Errorf("%d logins", n)
	}
}

// Only "command" reaches the remote shell (SSH-44).
func TestOnlyTheCommandReachesTheShell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	cases := caseArgs(t, "SSH-44/metadata-newline.jsonl")
	with := cases["1"]
	with["host"] = "box"
	delete(with, "port")
	delete(with, "credential")
	r := a.begin("ssh_exec", with).refused("INVALID_ARGUMENTS")
	for _, name := range []string{"/description", "/reason", "/cwd"} {
		if !strings.Contains(r.Text, name) {
			t.Errorf("%s is not named: %s", name, r.Text)
		}
	}
	delete(cases["2"], "credential")
	a.begin("ssh_exec", cases["2"]).refused("UNKNOWN_HOST", "list_targets")
	a.begin("ssh_exec", cases["3"]).refused("INVALID_ARGUMENTS", "/user")
	screen.quiet()
	w.absent("/tmp/case-SSH-44-ran")
	c := a.begin("ssh_exec", args{"host": "box", "argv": []string{"echo", "x\ny; touch " + w.drop() + "/ran"}})
	screen.answers("y")
	if r := c.succeeds(); r.Fields["stdout"] != "x\ny; touch "+w.drop()+"/ran\n" {
		t.Errorf("argv: %v", r.Fields)
	}
	w.absent(w.drop() + "/ran")
	for _, bad := range [][]string{{"--user", "-oProxyCommand=x"}, {"--user", "a\nb"}, {"--addr", "-oProxyCommand=x:22"}} {
		flags := append([]string{"host", "add", "bad", "--addr", box.addr, "--user", box.user, "--credential", "box-key", "--host-key", box.hostKey}, bad...)
		w.fails(2, nil, w.unlocking(flags...)...)
	}
}

func (w *world) rename(from, to string) {
	w.Helper()
	if err := os.Rename(from, to); err != nil {
		w.Fatal(err)
	}
}

// The operator's socket is not the agents', and the other way round.
func TestAgentSocketSpeaksMCPOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service()
	for path, mode := range map[string]os.FileMode{"agent.sock": 0o600, "operator.sock": 0o600} {
		info, err := os.Stat(filepath.Join(w.home, path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, mode %v", path, err, info.Mode())
		}
	}
	out := w.raw(filepath.Join(w.home, "agent.sock"), `{"op":"lock"}`+"\n"+`{"op":"status"}`+"\n")
	if strings.Count(out, `"error"`) != 2 || strings.Contains(w.ok("status"), "locked;") {
		t.Errorf("agent.sock took an operator's command: %s", out)
	}
	conn, err := net.Dial("unix", filepath.Join(w.home, "agent.sock"))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	type session struct{ Client struct{ Name string } }
	if s := jsonOf[[]session](w, "journal", "query", "sessions"); len(s) != 0 {
		t.Errorf("a connection without a request left a record: %+v", s)
	}
}
