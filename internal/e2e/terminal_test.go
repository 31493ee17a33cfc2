package e2e_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A terminal is a program on a pseudo-terminal of its own, as an operator has it.
type terminal struct {
	*process
	master *os.File
	raw    *capture
	mark   int // what was read so far
}

// onTerminal starts a command of the program with a controlling terminal of 80x24.
func (w *world) onTerminal(name string, args ...string) *terminal {
	w.Helper()
	return w.command(name, exec.Command(binary, args...))
}

func (w *world) command(name string, cmd *exec.Cmd) *terminal {
	w.Helper()
	cmd.Env, cmd.Dir = w.operator(), w.dir
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		w.Fatal(err)
	}
	t := &terminal{master: w.pollable(master), raw: w.capture("terminal of " + name)}
	t.process = w.follow(name, cmd, func(p *process) { p.signal(unix.SIGTERM) })
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 8192)
		for {
			n, err := t.master.Read(b)
			t.raw.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	w.Cleanup(func() { t.master.Close(); <-read })
	return t
}

// pollable makes a Close end a Read that waits.
func (w *world) pollable(f *os.File) *os.File {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		w.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		w.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "ptmx")
}

// fresh is what was written since it was last read.
func (t *terminal) fresh() string { return t.raw.String()[t.mark:] }

// expect waits for text, and takes everything up to its end.
func (t *terminal) expect(text string) string {
	t.w.Helper()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		if i := strings.Index(t.fresh(), text); i >= 0 {
			got := t.fresh()[:i+len(text)]
			t.mark += len(got)
			return got
		}
		if time.Now().After(end) {
			t.w.Fatalf("%s never shows %q; what came:\n%s", t.name, text, t.fresh())
		}
	}
}

// types sends keys.
func (t *terminal) types(keys string) {
	t.w.Helper()
	if _, err := t.master.WriteString(keys); err != nil {
		t.w.Fatalf("typing at %s: %v", t.name, err)
	}
}

// hidden answers a prompt that does not echo.
func (t *terminal) hidden(prompt, text string) {
	t.w.Helper()
	t.expect(prompt)
	poll(t.w, "echo off at "+prompt, func() bool { return !t.echoes() })
	t.types(text + "\n")
}

func (t *terminal) echoes() bool {
	mode, err := t.mode()
	return err == nil && mode.Lflag&unix.ECHO != 0
}

func (t *terminal) mode() (mode *unix.Termios, err error) {
	c, err := t.master.SyscallConn()
	if err != nil {
		return nil, err
	}
	ctlErr := c.Control(func(fd uintptr) { mode, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) })
	if ctlErr != nil {
		return nil, ctlErr
	}
	return mode, err
}

// ready is the end of a prompt of the approval screen.
var ready = regexp.MustCompile(`\r\n([0-9a-z]{5}) (Space: next, n: no|y, e, n \[REASON\] or b|y, n \[REASON\] or b)> $`)

// prompt waits until an answer is awaited, and returns what was shown and the
// id of the request.
func (t *terminal) prompt() (shown, id string, complete bool) {
	t.w.Helper()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		fresh := t.fresh()
		if m := ready.FindStringSubmatch(fresh); m != nil {
			t.mark += len(fresh)
			return fresh, m[1], !strings.HasPrefix(m[2], "Space")
		}
		if time.Now().After(end) {
			t.w.Fatalf("%s shows no prompt; what came:\n%s", t.name, fresh)
		}
	}
}

// reads waits for a request and reads it to its end.
func (t *terminal) reads() (shown, id string) {
	t.w.Helper()
	for {
		page, id, complete := t.prompt()
		shown += page
		if complete {
			return shown, id
		}
		t.types(" ")
	}
}

// answers reads a request to its end and answers it with a line.
func (t *terminal) answers(line string) (shown string) {
	t.w.Helper()
	shown, id := t.reads()
	t.types(line + "\n")
	t.expect("\r\n** " + id + ": ")
	t.expect("\r\n")
	return shown
}

// quiet fails if a request is on the screen that was not read.
func (t *terminal) quiet() {
	t.w.Helper()
	if strings.Contains(t.fresh(), "== ") {
		t.w.Errorf("%s asks where it should not:\n%s", t.name, t.fresh())
	}
}

// hangup takes the terminal away.
func (t *terminal) hangup() { t.master.Close() }

// serve starts the daemon at a terminal and unlocks it.
func (w *world) serve(flags ...string) *terminal {
	w.Helper()
	t := w.onTerminal("serve", append([]string{"serve"}, flags...)...)
	t.hidden("Passphrase of the vault: ", w.phrase)
	t.expect("approval console")
	w.up()
	return t
}

// up waits until the daemon answers.
func (w *world) up() {
	w.Helper()
	poll(w, "a serve that answers", func() bool { return w.run("status").code == 0 })
}

// service starts the daemon without a terminal.
func (w *world) service(flags ...string) (*process, *capture) {
	w.Helper()
	cmd := exec.Command(binary, w.unlocking(append([]string{"serve"}, flags...)...)...)
	cmd.Env, cmd.Dir = w.operator(), w.dir
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	out := w.capture("output of serve")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	p := w.follow("serve", cmd, func(p *process) { p.signal(unix.SIGTERM) })
	poll(w, "serving", func() bool {
		if !p.running() {
			w.Fatalf("serve ended at once:\n%s", out)
		}
		return strings.Contains(out.String(), "serving "+w.home)
	})
	return p, out
}

// approve attaches a console of its own.
func (w *world) approve(flags ...string) *terminal {
	w.Helper()
	t := w.onTerminal("approve", append([]string{"approve"}, flags...)...)
	t.hidden("Passphrase of the vault: ", w.phrase)
	t.expect("approval console")
	return t
}
