package peer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"executor/internal/peer"
)

// TestMain makes the test binary its own client: started as "peer.test dial
// SOCKET" it connects and waits for the other end to hang up; "dial-and-end"
// exits at once.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && strings.HasPrefix(os.Args[1], "dial") {
		c, err := net.Dial("unix", os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if os.Args[1] == "dial" {
			io.Copy(io.Discard, c)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type world struct {
	t    *testing.T
	path string
	l    *net.UnixListener
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &world{t, path, l}
}

func (w *world) start(program, mode string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(program, mode, w.path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func (w *world) accept() *net.UnixConn {
	w.t.Helper()
	c, err := w.l.AcceptUnix()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

func hashOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestPeerOfAnotherProcess(t *testing.T) {
	w := newWorld(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := w.start(self, "dial")
	p, err := peer.FromConn(w.accept())
	if err != nil {
		t.Fatal(err)
	}
	if p.UID != os.Getuid() || p.PID != child.Process.Pid || p.Exe != self {
		t.Errorf("peer is %+v, want uid %d, pid %d, exe %s", p, os.Getuid(), child.Process.Pid, self)
	}
	if want := hashOf(t, self); p.ExeSHA256 != want {
		t.Errorf("hash %q, want %q", p.ExeSHA256, want)
	}
	parent, ok := p.Parent()
	if !ok || parent.PID != os.Getpid() || parent.Exe != self || parent.Name != "peer.test" {
		t.Errorf("parent is %+v, %v; want this process, %d", parent, ok, os.Getpid())
	}
	for i := 1; i < len(p.Chain); i++ {
		if p.Chain[i].Start > p.Chain[i-1].Start {
			t.Errorf("parent started after its child: %+v", p.Chain)
		}
	}
	if len(p.Chain) > peer.MaxChain {
		t.Errorf("chain of %d processes", len(p.Chain))
	}
}

func TestJSONNames(t *testing.T) {
	p := peer.Peer{UID: 1, PID: 2, Exe: "/x", ExeSHA256: "ab", Chain: []peer.Process{{PID: 2, Name: "x", Exe: "/x", Start: 9}}}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"uid":1,"pid":2,"exe":"/x","exe_sha256":"ab","chain":[{"pid":2,"name":"x","exe":"/x","start":9}]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestPeerThatEnded(t *testing.T) {
	w := newWorld(t)
	self, _ := os.Executable()
	child := w.start(self, "dial-and-end")
	c := w.accept()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	p, err := peer.FromConn(c)
	if err != nil {
		t.Fatal(err)
	}
	if p.PID != child.Process.Pid || p.UID != os.Getuid() {
		t.Errorf("peer is %+v, want pid %d", p, child.Process.Pid)
	}
	if p.Exe != "" || p.ExeSHA256 != "" || len(p.Chain) != 0 {
		t.Errorf("an ended process is described: %+v", p)
	}
	if _, ok := p.Parent(); ok {
		t.Error("an ended process has a parent")
	}
}

// A program that is replaced on disk after it was started is reported by the
// bytes that run, not by those that lie under its name now.
func TestHashIsOfTheRunningFile(t *testing.T) {
	w := newWorld(t)
	self, _ := os.Executable()
	program := filepath.Join(t.TempDir(), "agent")
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, b, 0o755); err != nil {
		t.Fatal(err)
	}
	w.start(program, "dial")
	c := w.accept()
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("another"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := peer.FromConn(c)
	if err != nil {
		t.Fatal(err)
	}
	if p.Exe != program+" (deleted)" || p.ExeSHA256 != hashOf(t, self) {
		t.Errorf("got exe %q, hash %s", p.Exe, p.ExeSHA256)
	}
}

func TestClosedConnection(t *testing.T) {
	w := newWorld(t)
	self, _ := os.Executable()
	w.start(self, "dial")
	c := w.accept()
	c.Close()
	if _, err := peer.FromConn(c); err == nil {
		t.Error("a closed connection has a peer")
	}
}
