package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A world is one operator's machine: a home, and whatever a test adds to it.
type world struct {
	testing.TB
	dir  string // everything of this world
	home string // executor's home
	pass string // the file with the passphrase
	// phrase is the passphrase.
	phrase string
	// env is added to the operator's environment.
	env []string

	mu       sync.Mutex
	secrets  map[string]string
	captures []*capture
	log      *capture // output of short commands
}

// newWorld makes an initialized home.
func newWorld(t testing.TB) *world {
	w := emptyWorld(t)
	w.ok("init", "--scrypt-work-factor", "12", "--passphrase-file", w.pass)
	return w
}

// emptyWorld makes a world without a home.
func emptyWorld(t testing.TB) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "xw") // short: sockets lie below it
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, dir: dir, home: filepath.Join(dir, "home"), secrets: map[string]string{}}
	t.Cleanup(func() {
		w.search()
		os.RemoveAll(dir)
	})
	w.phrase = w.canary("passphrase", "phrase "+random())
	w.pass = w.file("pass", w.phrase+"\n")
	w.log = w.capture("output of commands")
	return w
}

func random() string { return "Zq7-" + rand.Text() }

// file writes a file beside the home.
func (w *world) file(name, content string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// operator is the operator's environment.
func (w *world) operator() []string {
	env := []string{"HOME=" + w.dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "EXECUTOR_HOME=" + w.home}
	return append(append(env, w.race()...), w.env...)
}

// race keeps reports of the race detector in files, and its exit quick.
func (w *world) race() []string {
	if !raceEnabled {
		return nil
	}
	return []string{"GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(w.dir, "race")}
}

// ran is what became of a short command.
type ran struct {
	code        int
	out, errors string
}

// run runs one command to its end, without a terminal.
func (w *world) run(args ...string) ran { w.Helper(); return w.runWith("", args...) }

// runWith gives stdin to the command; "" is an empty one.
func (w *world) runWith(stdin string, args ...string) ran {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = w.operator(), w.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	w.log.Write(out.Bytes())
	w.log.Write(errs.Bytes())
	if cmd.ProcessState == nil {
		w.Fatalf("executor %s: %v", strings.Join(args, " "), err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// ok runs a command that must succeed, and returns its output.
func (w *world) ok(args ...string) string {
	w.Helper()
	r := w.run(args...)
	if r.code != 0 {
		w.Fatalf("executor %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.errors)
	}
	return r.out
}

// fails runs a command that must end with the code and say all of the words on
// standard error.
func (w *world) fails(code int, words []string, args ...string) ran {
	w.Helper()
	r := w.run(args...)
	if r.code != code {
		w.Errorf("executor %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.out, r.errors)
	}
	for _, word := range words {
		if !strings.Contains(r.errors, word) {
			w.Errorf("executor %s: stderr lacks %q:\n%s", strings.Join(args, " "), word, r.errors)
		}
	}
	return r
}

// unlocking adds the passphrase to a command.
func (w *world) unlocking(args ...string) []string {
	return append(args, "--passphrase-file", w.pass)
}

// credential stores a credential with a fresh secret, and returns it.
func (w *world) credential(name string, flags ...string) string {
	w.Helper()
	s := w.canary(name, random())
	w.store(name, s, flags...)
	return s
}

func (w *world) store(name, secret string, flags ...string) {
	w.Helper()
	r := w.runWith(secret, w.unlocking(append([]string{"credential", "add", name}, flags...)...)...)
	if r.code != 0 {
		w.Fatalf("credential add %s: exit code %d\n%s", name, r.code, r.errors)
	}
}

// jsonOf runs a command and decodes its output.
func jsonOf[T any](w *world, args ...string) T {
	w.Helper()
	var v T
	out := w.ok(append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		w.Fatalf("executor %s: %v in %s", strings.Join(args, " "), err, out)
	}
	return v
}

// An activity is what a test reads of an activity record.
type activity struct {
	ActivityID       string `json:"activity_id"`
	SessionID        string `json:"session_id"`
	Seq              int64
	Tool             string
	RawArgs          string          `json:"raw_args"`
	NormalizedArgs   json.RawMessage `json:"normalized_args"`
	ActionDigest     string          `json:"action_digest"`
	DownstreamTarget string          `json:"downstream_target"`
	Downstream       json.RawMessage
	Credential       *struct {
		Name    string
		Version int
	}
	Decision struct {
		Result, Level, By, Basis, Reason string
		ShownDigest                      string `json:"shown_digest"`
	}
	Outcome struct {
		Status            string
		ErrorCode         string `json:"error_code"`
		SideEffectStarted bool   `json:"side_effect_started"`
	}
}

// activities reads the journal.
func (w *world) activities(flags ...string) []activity {
	w.Helper()
	return jsonOf[[]activity](w, append([]string{"journal", "query", "activity"}, flags...)...)
}

// last is the newest activity.
func (w *world) last() activity {
	w.Helper()
	all := w.activities("-n", "1")
	if len(all) != 1 {
		w.Fatalf("%d activities", len(all))
	}
	return all[0]
}

// verified fails unless the journal is intact.
func (w *world) verified() {
	w.Helper()
	if r := w.run("journal", "verify"); r.code != 0 {
		w.Errorf("journal verify: exit code %d\n%s%s", r.code, r.out, r.errors)
	}
}

// files hashes the home, to tell whether anything changed.
func (w *world) snapshot(names ...string) map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(w.home, n))
		if err != nil {
			b = []byte(err.Error())
		}
		out[n] = string(b)
	}
	return out
}

// A process is one that goes on.
type process struct {
	w    *world
	name string
	cmd  *exec.Cmd
	done chan struct{}
}

// follow watches a process that was started, and ends it with the test.
func (w *world) follow(name string, cmd *exec.Cmd, end func(*process)) *process {
	p := &process{w: w, name: name, cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	w.Cleanup(func() {
		select {
		case <-p.done:
			return
		default:
		}
		end(p)
		select {
		case <-p.done:
		case <-time.After(patience):
			w.Errorf("%s does not end", name)
			_ = cmd.Process.Kill()
			<-p.done
		}
	})
	return p
}

func (p *process) signal(s os.Signal) {
	p.w.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.w.Errorf("signal to %s: %v", p.name, err)
	}
}

// exit waits for the end and returns the exit code.
func (p *process) exit(limit time.Duration) int {
	p.w.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.w.Fatalf("%s still runs after %s", p.name, limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}
