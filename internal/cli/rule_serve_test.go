package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// run runs executor without a terminal and returns what it printed.
func run(t *testing.T, home, stdin string, args ...string) (out string, code int) {
	t.Helper()
	cmd := self(t, home, args...)
	cmd.Stdin = strings.NewReader(stdin)
	raw, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(raw), cmd.ProcessState.ExitCode()
}

func self(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Args[0] = "executor"
	cmd.Env = []string{"EXECUTOR_HOME=" + home, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "GORACE=" + quickRace}
	return cmd
}

// An mcpAgent talks to serve through executor mcp.
type mcpAgent struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func connect(t *testing.T, home string) *mcpAgent {
	t.Helper()
	cmd := self(t, home, "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	a := &mcpAgent{t: t, in: in, out: bufio.NewReader(out)}
	a.send("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	a.reply()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

func (a *mcpAgent) send(method, params string) {
	a.id++
	fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", a.id, method, params)
}

// reply reads up to the reply to what was sent last.
func (a *mcpAgent) reply() string {
	a.t.Helper()
	for {
		line, err := a.out.ReadString('\n')
		if err != nil {
			a.t.Fatalf("the agent's session ended: %v", err)
		}
		var m struct{ ID int }
		if json.Unmarshal([]byte(line), &m) == nil && m.ID == a.id {
			return line
		}
	}
}

func (a *mcpAgent) call(args string) {
	a.send("tools/call", `{"name":"http_request","arguments":`+args+`}`)
}

// reads turns the pages of a request until the last one is shown.
func (p *person) reads() {
	p.t.Helper()
	for {
		p.await("== ")
		p.await("> ")
		seen := p.seen()[:p.read]
		if strings.HasSuffix(seen, "[REASON] or b> ") {
			return
		}
		if !strings.HasSuffix(seen, "n: no> ") {
			continue
		}
		p.types(" ")
	}
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

var onScreen = regexp.MustCompile(`== ([0-9a-z]{5})  `)

// A day with rules: a desktop note for a request, the queue as the operator and
// as anybody sees it, an answer from another shell, three yeses and the rule that
// they suggest, which the running serve takes up.
func TestRulesAtARunningServe(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "done") }))
	defer srv.Close()
	home, dir := typedHome(t), t.TempDir()
	pw, told, script := filepath.Join(dir, "pw"), filepath.Join(dir, "told"), filepath.Join(dir, "note.sh")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(pw, "correct horse\n")
	write(script, `{ echo "args: $*"; env | sed 's/=.*//' | sort; (: </dev/tty) 2>&- && echo "has a terminal"; ls -l /proc/$$/fd; } >`+told+".new\nmv "+told+".new "+told+"\n")
	if out, code := run(t, home, "token-of-the-test\n", "credential", "add", "api", "--type", "bearer", "--target", srv.URL+"/", "--passphrase-file", pw); code != 0 {
		t.Fatal(out)
	}
	if out, code := run(t, home, "", "serve", "--notify-command", "echo $HOME", "--passphrase-file", pw); code != 2 || !strings.Contains(out, "without a shell") {
		t.Errorf("a notify-command that needs a shell: %d %s", code, out)
	}
	serve := atTerminal(t, home, "serve", "--notify", "--notify-command", "sh "+script)
	serve.answer("Passphrase of the vault: ", "correct horse\r")
	serve.await("requests appear here")
	agent := connect(t, home)

	agent.call(`{"method":"POST","url":"` + srv.URL + `/items/0"}`)
	serve.reads()
	id := onScreen.FindStringSubmatch(serve.seen())[1]
	if !strings.Contains(serve.seen(), "\x1b]9;executor: approval "+id+" is waiting\a") {
		t.Error("no desktop note")
	}
	var note []byte
	for deadline := time.Now().Add(patience); note == nil; time.Sleep(10 * time.Millisecond) {
		if note, _ = os.ReadFile(told); time.Now().After(deadline) {
			t.Fatal("the notify-command did not run")
		}
	}
	if text := string(note); !strings.HasPrefix(text, "args: "+id+"\n") || strings.Contains(text, "EXECUTOR_HOME") || strings.Contains(text, "has a terminal") || strings.Contains(text, "socket:") || strings.Contains(text, home) {
		t.Errorf("the notify-command was given more than the id: %s", text)
	}
	if out, _ := run(t, home, "", "status"); !strings.Contains(out, "1 waiting for approval") || strings.Contains(out, id) || strings.Contains(out, "http_request") {
		t.Errorf("status without the passphrase:\n%s", out)
	}
	out, code := run(t, home, "", "status", "--passphrase-file", pw)
	if code != 0 || !strings.Contains(out, id) || !strings.Contains(out, "http_request") || !strings.Contains(out, srv.URL) || !strings.Contains(out, "shown") {
		t.Errorf("status with the passphrase: %d\n%s", code, out)
	}
	if out, _ := run(t, home, "", "status", "--passphrase-file", pw, "--jq", ".queue.open[0].id"); strings.TrimSpace(out) != id {
		t.Errorf("status --jq: %s", out)
	}
	other := atTerminal(t, home, "approve", "--once", id, "--passphrase-file", pw)
	other.reads()
	other.types("n not today\r")
	other.ends(0)
	if r := agent.reply(); !strings.Contains(r, "APPROVAL_DENIED") || !strings.Contains(r, "not today") {
		t.Errorf("the agent got %s", r)
	}
	serve.await("denied at console")

	for i := range 3 {
		agent.call(fmt.Sprintf(`{"method":"POST","url":"%s/items/%d"}`, srv.URL, i+1))
		serve.reads()
		serve.types("y\r")
		if r := agent.reply(); strings.Contains(r, "error_code") {
			t.Fatal(r)
		}
	}
	serve.await("a rule would cover them: executor rule add --tool http_request --method POST --target " + srv.URL + "/items/")
	if out, code := run(t, home, "", "rule", "add", "items", "--tool", "http_request", "--method", "POST", "--target", srv.URL+"/items/", "--approval", "none", "--max-calls", "1", "--passphrase-file", pw); code != 0 {
		t.Fatal(out)
	}
	agent.call(`{"method":"POST","url":"` + srv.URL + `/items/9"}`)
	if r := agent.reply(); strings.Contains(r, "error_code") || !strings.Contains(r, "done") {
		t.Errorf("under the rule: %s", r)
	}
	if out, _ := run(t, home, "", "rule", "list", "--passphrase-file", pw); !strings.Contains(out, "used up") {
		t.Errorf("rule list:\n%s", out)
	}
	if out, _ := run(t, home, "", "journal", "query", "-n", "1", "--jq", ".[0].decision.basis"); !strings.HasPrefix(out, "rule items version 1: ") {
		t.Errorf("the basis is %s", out)
	}
	agent.call(`{"method":"POST","url":"` + srv.URL + `/items/10"}`)
	serve.reads()
	serve.types("n\r")
	if r := agent.reply(); !strings.Contains(r, "APPROVAL_DENIED") {
		t.Errorf("when the rule is used up: %s", r)
	}
}
