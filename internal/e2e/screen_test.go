package e2e_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// caseLines are the lines of a case's file.
func caseLines(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cases", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// caseArgs are the arguments of the tools/call lines of a case, by id.
func caseArgs(t testing.TB, name string) map[string]args {
	t.Helper()
	out := map[string]args{}
	for _, line := range caseLines(t, name) {
		var m struct {
			ID     json.Number
			Method string
			Params struct{ Arguments args }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "tools/call" {
			out[m.ID.String()] = m.Params.Arguments
		}
	}
	return out
}

func (w *world) absent(path string) {
	w.Helper()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		w.Errorf("%s is there (%v)", path, err)
	}
}

func (w *world) present(path string) {
	w.Helper()
	if _, err := os.Stat(path); err != nil {
		w.Error(err)
	}
}

// Control characters of a request are shown, never sent to the terminal (APR-01).
func TestEscapesOnTheScreen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	cases := caseArgs(t, "APR-01/escapes.jsonl")
	for id, visible := range map[string]string{"1": `\x1b[2K`, "2": `\x08`, "4": `\r`} {
		before := len(screen.raw.String())
		c := a.ssh("box", cases[id]["command"].(string))
		shown := screen.answers("n")
		c.refused("APPROVAL_DENIED")
		if !strings.Contains(shown, visible) {
			t.Errorf("id %s: %s is not shown:\n%s", id, visible, shown)
		}
		if !strings.Contains(shown, "\r\n! ") {
			t.Errorf("id %s: no warning line:\n%s", id, shown)
		}
		painted := strings.ReplaceAll(screen.raw.String()[before:], "\r\n", "\n")
		if i := strings.IndexAny(painted, "\x1b\x08\x7f\r\u009b"); i >= 0 {
			t.Errorf("id %s: byte %#x reached the terminal", id, painted[i])
		}
		if id == "1" && !strings.Contains(shown, "touch /tmp/case-APR-01-ran") {
			t.Errorf("the command is not readable:\n%s", shown)
		}
		if id == "4" && regexp.MustCompile(`(?m)^(Executor:|>) `).MatchString(shown) {
			t.Errorf("the command's second line looks like the program's own:\n%s", shown)
		}
	}
	a.begin("http_request", args{"method": "GET", "url": cases["3"]["url"]}).refused("INVALID_ARGUMENTS", "/url")
	if n := box.logins(); n != 0 {
		t.Errorf("%d logins", n)
	}
}

// A yes counts only after the end was on the screen (APR-02).
func TestLongCommandIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	command := caseArgs(t, "APR-02/long-tail.jsonl")["1"]["command"].(string)
	c := a.ssh("box", command)
	page, id, complete := screen.prompt()
	if complete || !strings.Contains(page, "page 1 of ") {
		t.Fatalf("the first page:\n%s", page)
	}
	screen.types("y\n")
	screen.expect("read it to the end first")
	shown := page
	for !complete {
		if !c.open() {
			t.Fatal("answered before it was read")
		}
		if page, _, complete = screen.prompt(); !complete {
			screen.types(" ")
		}
		shown += page
	}
	whole := regexp.MustCompile(`\r\n {2}: `).ReplaceAllString(shown, "")
	if !strings.Contains(whole, "touch /tmp/case-APR-02-ran") || !strings.Contains(shown, "characters") {
		t.Errorf("the end or the length is not on the screen:\n%s", shown)
	}
	screen.types("n\n")
	screen.expect("** " + id + ": denied")
	c.refused("APPROVAL_DENIED")
	if raw := w.last().RawArgs; !strings.Contains(raw, "case-APR-02-ran") {
		t.Errorf("the journal lacks the end of the command: %s", raw)
	}
	w.absent("/tmp/case-APR-02-ran")
}

// Nothing answers without the terminal that shows the request (APR-41).
func TestNoAnswerWithoutTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	box := w.sshdAsMe() // as an agent under the operator's own uid
	box.register("box")
	screen := w.serve()
	a := w.agent()
	run := a.ssh("box", "yes | "+binary+" approve --home "+w.home+" --passphrase-file "+w.pass)
	screen.answers("y")
	if r := run.succeeds(); r.Fields["exit_code"] != float64(2) {
		t.Errorf("approve inside ssh_exec: %v", r.Fields)
	}

	c := a.get(web.URL + "/v1")
	_, id := screen.reads()
	for _, argv := range [][]string{w.unlocking("approve"), w.unlocking("approve", "--once", id)} {
		if r := w.runWith(strings.Repeat("y\n", 100), argv...); r.code != 2 || !strings.Contains(r.errors, "terminal") {
			t.Errorf("%v with piped stdin: %+v", argv, r)
		}
	}
	// A terminal of its own, but not the passphrase.
	own := w.onTerminal("approve", "approve")
	own.hidden("Passphrase of the vault: ", "guessed")
	if code := own.exit(patience); code != 3 {
		t.Errorf("approve with a wrong passphrase: exit code %d", code)
	}
	for _, lines := range []string{
		`{"op":"answer","answer":{"id":"` + id + `","verdict":"yes"}}`,
		`{"op":"attach","name":"pts/9"}`,
		`{"op":"grants"}`,
		`{"op":"prove","protocol":1,"nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}` + "\n" + `{"proof":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}` + "\n" + `{"seq":1,"mac":"00","body":{"op":"answer","answer":{"id":"` + id + `"}}}`,
		"y", "\x00\xff", strings.Repeat("y\n", 10000),
	} {
		reply := w.raw(filepath.Join(w.home, "operator.sock"), lines+"\n")
		if strings.Contains(reply, id) || strings.Contains(reply, web.URL) {
			t.Errorf("operator.sock tells a stranger of the request: %s", reply)
		}
	}
	if !c.open() || len(web.requests()) != 0 {
		t.Fatal("the request was answered")
	}
	screen.types("y\n")
	screen.expect("** " + id + ": allowed")
	c.succeeds()
}

// raw writes to a socket and returns what it says until it is silent or closes.
func (w *world) raw(path, text string) string {
	w.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(text)) // it may close in the middle
	_ = conn.(*net.UnixConn).CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	var out []byte
	b := make([]byte, 4096)
	for {
		n, err := conn.Read(b)
		out = append(out, b[:n]...)
		if err != nil {
			return string(out)
		}
	}
}

// An agent's client owns its terminal: executor mcp neither reads nor paints there (APR-42).
func TestClientsTerminalIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	client := &terminal{master: w.pollable(master), raw: w.capture("the client's terminal")}
	painted := make(chan struct{})
	go func() {
		defer close(painted)
		b := make([]byte, 1024)
		for {
			n, err := client.master.Read(b)
			client.raw.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	a := w.mcpOn(slave)
	a.request("initialize", args{"protocolVersion": "2025-06-18", "capabilities": args{}, "clientInfo": args{"name": "tui", "version": "1"}})
	c := a.get(web.URL + "/v1")
	screen.reads()
	for range 20 {
		if _, err := client.master.WriteString("y\n"); err != nil {
			t.Fatal(err)
		}
	}
	a.request("ping", nil)
	if !c.open() || len(web.requests()) != 0 {
		t.Fatal("a y at the client's terminal approved")
	}
	after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the mode of the client's terminal changed: %v", err)
	}
	screen.types("n\n")
	c.refused("APPROVAL_DENIED")
	a.in.Close()
	a.exit(patience)
	slave.Close()
	client.master.Close()
	<-painted
	if out := strings.ReplaceAll(client.raw.String(), "y\r\n", ""); out != "" {
		t.Errorf("painted on the client's terminal: %q", out)
	}
}

// mcpOn starts mcp with a controlling terminal besides its pipes.
func (w *world) mcpOn(tty *os.File) *agent {
	w.Helper()
	return w.startMCP(func(cmd *exec.Cmd) {
		cmd.ExtraFiles = []*os.File{tty}
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	})
}
