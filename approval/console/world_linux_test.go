package console_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"

	"executor/approval"
	"executor/approval/console"
	"executor/internal/action"
)

// A screen is the far end of a pseudo-terminal: what was written there, raw and rendered.
type screen struct {
	master, slave *os.File
	mu            sync.Mutex
	raw           bytes.Buffer
	vt            vt10x.Terminal
}

// A bench is a real desk and a real console on a real pseudo-terminal.
type bench struct {
	testing.TB
	*screen
	ctx     context.Context
	stop    context.CancelFunc
	desk    *approval.Desk
	ended   chan error
	resized chan os.Signal
	before  *unix.Termios
}

type change func(*console.Options, *approval.Config)

func newScreen(t testing.TB, cols, rows int) *screen {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	master = pollable(t, master)
	s := &screen{master: master, slave: slave, vt: vt10x.New(vt10x.WithSize(cols, rows))}
	s.size(t, cols, rows)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			s.mu.Lock()
			s.raw.Write(b[:n])
			s.vt.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { slave.Close(); master.Close() })
	return s
}

// pollable makes a Close end a Read that waits.
func pollable(t testing.TB, f *os.File) *os.File {
	defer f.Close()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "ptmx")
}

func (s *screen) size(t testing.TB, cols, rows int) {
	if err := pty.Setsize(s.slave, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.vt.Resize(cols, rows)
	s.mu.Unlock()
}

func newBench(t testing.TB, cols, rows int, with change) *bench {
	ctx, stop := context.WithTimeout(context.Background(), 60*time.Second)
	b := &bench{TB: t, screen: newScreen(t, cols, rows), ctx: ctx, stop: stop, ended: make(chan error, 1), resized: make(chan os.Signal, 1)}
	o, cfg := console.Options{Terminal: b.slave, Resized: b.resized}, approval.Config{}
	if with != nil {
		with(&o, &cfg)
	}
	b.desk = approval.NewDesk(cfg)
	b.before = b.mode()
	seat, err := b.desk.Attach(approval.Attachment{Name: "terminal"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	go func() { b.ended <- c.Run(ctx, seat) }()
	t.Cleanup(func() { b.end() })
	b.until("approval console")
	return b
}

// end stops the console and returns what Run said.
func (b *bench) end() error {
	b.stop()
	select {
	case err := <-b.ended:
		b.ended <- err
		return err
	case <-time.After(10 * time.Second):
		b.Fatal("Run does not end")
		return nil
	}
}

func (b *bench) mode() *unix.Termios {
	b.Helper()
	m, err := unix.IoctlGetTermios(int(b.slave.Fd()), unix.TCGETS)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// unread is how many typed bytes the kernel still has.
func (b *bench) unread() int {
	b.Helper()
	n, err := unix.IoctlGetInt(int(b.slave.Fd()), unix.TIOCINQ)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

func (s *screen) rendered() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.String()
}

// forget drops what was written so far, so that until waits for new output.
func (s *screen) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Reset()
}

func (b *bench) until(text string) {
	b.Helper()
	b.poll("output "+text, func() bool { return strings.Contains(b.written(), text) })
}

func (b *bench) poll(what string, ok func() bool) {
	b.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("never came: %s; written:\n%s", what, b.written())
		}
	}
}

// types sends keys after the output so far was forgotten.
func (b *bench) types(keys string) {
	b.Helper()
	b.forget()
	if _, err := b.master.WriteString(keys); err != nil {
		b.Fatal(err)
	}
}

// prompt waits until the end of a prompt is there, and returns all since forget.
func (b *bench) prompt() string {
	b.Helper()
	b.poll("a prompt", func() bool { return strings.HasSuffix(b.written(), "> ") })
	return b.written()
}

// pages turns all pages and returns each as it was rendered.
func (b *bench) pages() []string {
	b.Helper()
	b.prompt()
	all := []string{b.rendered()}
	for strings.Contains(b.written(), "Space: next") {
		b.types(" ")
		b.prompt()
		all = append(all, b.rendered())
		if len(all) > 2000 {
			b.Fatal("pages without end")
		}
	}
	return all
}

func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(h[:])
}

func request(command string) approval.Request {
	return approval.Request{ActivityID: "a", SessionID: "s1", Client: "c", Tool: "ssh_exec", Level: action.Call,
		Digest: digest("approval" + command), ActionDigest: digest(command), Holds: func() error { return nil },
		Sheet: approval.Sheet{Sections: []approval.Section{
			{Title: "Action", Fields: []approval.Field{{Label: "host", Text: "web-1"}, {Label: "command", Text: command}}},
			{Title: "Asked by", Fields: []approval.Field{{Label: "client", Text: "claude 1.0 (claimed)"}}},
		}}}
}

type reply struct {
	approval.Decision
	err error
}

func (b *bench) ask(r approval.Request) <-chan reply {
	c := make(chan reply, 1)
	go func() {
		d, err := b.desk.Ask(b.ctx, r)
		c <- reply{d, err}
	}()
	return c
}

func (b *bench) got(c <-chan reply) reply {
	b.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(20 * time.Second):
		b.Fatalf("the call was never settled; written:\n%s", b.written())
		return reply{}
	}
}

// waits says that the call is still open. The desk is asked, not the clock.
func (b *bench) waits(c <-chan reply) {
	b.Helper()
	select {
	case r := <-c:
		b.Fatalf("settled too early: %+v; written:\n%s", r, b.written())
	default:
	}
	if len(b.desk.Queue().Open) == 0 {
		b.Fatal("the request left the queue")
	}
}
