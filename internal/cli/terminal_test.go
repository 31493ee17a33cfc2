package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"executor/internal/term"

	"github.com/creack/pty"
	xterm "golang.org/x/term"
)

const patience = 30 * time.Second

// A person is a run of executor at a terminal of its own, 80 columns wide.
type person struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{} // closed when the terminal has no more

	mu     sync.Mutex
	screen bytes.Buffer
	read   int // of screen, by await
}

// atTerminal starts executor for a home.
func atTerminal(t *testing.T, home string, args ...string) *person {
	t.Helper()
	return atTerminalWith(t, nil, home, args...)
}

// atTerminalWith has more in the environment.
func atTerminalWith(t *testing.T, env []string, home string, args ...string) *person {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "executor"
	cmd.Env = append(env, "EXECUTOR_HOME="+home, "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"), "GORACE="+quickRace)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, cmd: cmd, tty: tty, done: make(chan struct{})}
	go p.look()
	t.Cleanup(func() { _ = cmd.Process.Kill(); tty.Close(); <-p.done })
	return p
}

func (p *person) look() {
	defer close(p.done)
	b := make([]byte, 4096)
	for {
		n, err := p.tty.Read(b)
		p.mu.Lock()
		p.screen.Write(b[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *person) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.String()
}

// await waits for text behind what was awaited before.
func (p *person) await(text string) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if i := strings.Index(p.seen()[p.read:], text); i >= 0 {
			p.read += i + len(text)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.t.Fatalf("%q did not appear; the screen:\n%s", text, p.seen())
}

// answer types keys once prompt is there.
func (p *person) answer(prompt, keys string) {
	p.t.Helper()
	p.await(prompt)
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end and its exit code.
func (p *person) ends(code int) string {
	p.t.Helper()
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d; the screen:\n%s", got, code, p.seen())
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Error("the terminal stays open")
	}
	return p.seen()
}

// state is how the terminal is set: echo, line editing, signal keys.
func (p *person) state() (state *xterm.State) {
	p.t.Helper()
	raw, err := p.tty.SyscallConn()
	if err != nil {
		p.t.Fatal(err)
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { state, inner = xterm.GetState(int(fd)) }); err != nil || inner != nil {
		p.t.Fatal(err, inner)
	}
	return state
}

// typedHome makes a home the way a person does.
func typedHome(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	p := atTerminal(t, home, "init", "--scrypt-work-factor", "12")
	p.answer("Choose a passphrase for the vault: ", "correct horse\r")
	p.answer("The same again: ", "correct horse\r")
	if strings.Contains(p.ends(0), "horse") {
		t.Errorf("the passphrase was echoed:\n%s", p.seen())
	}
	return home
}

func TestTypedSecrets(t *testing.T) {
	home := typedHome(t)
	p := atTerminal(t, home, "credential", "add", "ci", "--type", "bearer", "--target", "https://ci.example.com/")
	p.answer("Passphrase of the vault: ", "correct horsx\x7fe\r")
	p.answer("Secret (not shown): ", "canary-Jx81lsq9TzV4\r")
	if screen := p.ends(0); strings.Contains(screen, "canary") || strings.Contains(screen, "horse") {
		t.Errorf("what was typed hidden is on the screen:\n%s", screen)
	}
	p = atTerminal(t, home, "credential", "add", "key", "--type", "ssh-key", "--target", "ssh://web-1:22")
	p.await("a private key is read from a file: --from-file FILE, or < FILE")
	p.ends(2)
	p = atTerminal(t, home, "credential", "list")
	p.answer("Passphrase of the vault: ", "correct house\r")
	p.await("wrong passphrase")
	p.ends(3)
	p = atTerminal(t, home, "credential", "list")
	p.answer("Passphrase of the vault: ", "\r")
	p.await("nothing was typed; nothing was changed")
	p.ends(1)
}

func TestPassphrasesDiffer(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	p := atTerminal(t, home, "init")
	p.answer("Choose a passphrase for the vault: ", "one\r")
	p.answer("The same again: ", "two\r")
	p.await("the two passphrases differ; nothing was changed")
	p.ends(1)
	if _, err := os.Stat(home); err == nil {
		t.Error("a home was made")
	}
}

func TestConfirm(t *testing.T) {
	home := typedHome(t)
	pass := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(pass, []byte("correct horse"), 0o600); err != nil {
		t.Fatal(err)
	}
	add := atTerminal(t, home, "credential", "add", "ci", "--type", "bearer", "--target", "https://ci.example.com/", "--from-file", pass, "--passphrase-file", pass)
	add.ends(0)
	const question = `Remove credential "ci" and all its versions? [y/N] `
	for _, no := range []string{"\r", "n\r", "Y es\r", "\x04"} {
		p := atTerminal(t, home, "credential", "remove", "ci", "--passphrase-file", pass)
		p.answer(question, no)
		p.await("not confirmed; nothing was changed")
		p.ends(1)
	}
	p := atTerminal(t, home, "credential", "remove", "ci", "--passphrase-file", pass)
	p.answer(question, "y\r")
	p.await("credential ci removed")
	p.ends(0)
}

// Ctrl-C ends every prompt, and the terminal echoes again afterwards.
func TestInterruptedPrompts(t *testing.T) {
	home := typedHome(t)
	pass := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(pass, []byte("correct horse"), 0o600); err != nil {
		t.Fatal(err)
	}
	atTerminal(t, home, "rule", "add", "night", "--tool", "ssh_exec", "--approval", "deny", "--passphrase-file", pass).ends(0)
	for _, c := range []struct {
		args   []string
		prompt string
	}{
		{[]string{"credential", "list"}, "Passphrase of the vault: "},
		{[]string{"serve"}, "Passphrase of the vault: "},
		{[]string{"rule", "remove", "night", "--passphrase-file", pass}, `Remove rule "night"? [y/N] `},
	} {
		p := atTerminal(t, home, c.args...)
		p.answer(c.prompt, "abc\x03")
		p.await("executor: interrupted; nothing was changed")
		p.ends(1)
	}
	plain := atTerminal(t, home, "version")
	plain.ends(0)
	p := atTerminal(t, home, "credential", "list")
	p.await("Passphrase of the vault: ")
	if reflect.DeepEqual(p.state(), plain.state()) {
		t.Error("the prompt hides nothing")
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.await("executor: interrupted; nothing was changed")
	p.ends(1)
	if !reflect.DeepEqual(p.state(), plain.state()) {
		t.Error("the terminal was not put back as it was")
	}
}

func TestTablesAtTerminal(t *testing.T) {
	home := typedHome(t)
	pass := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(pass, []byte("correct horse"), 0o600); err != nil {
		t.Fatal(err)
	}
	target := "https://ci.example.com/" + strings.Repeat("long/", 30)
	atTerminal(t, home, "credential", "add", "ci", "--type", "bearer", "--target", target, "--from-file", pass, "--passphrase-file", pass).ends(0)
	screen := atTerminal(t, home, "credential", "list", "--passphrase-file", pass).ends(0)
	for _, line := range strings.Split(screen, "\r\n") {
		if term.Width(line) > 80 {
			t.Errorf("a line of %d columns: %s", term.Width(line), line)
		}
	}
	if !strings.Contains(screen, "https://ci.example.com/long/") || !strings.Contains(screen, "…") {
		t.Errorf("the target is not there, or not cut:\n%s", screen)
	}
}
