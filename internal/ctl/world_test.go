package ctl_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/ctl"
	"executor/internal/secret"
)

// daemon notes what it was told.
type daemon struct {
	mu       sync.Mutex
	done     []string
	identity []byte
	kept     *secret.Secret
	fail     error
}

func (d *daemon) note(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, what)
	return d.fail
}

func (d *daemon) Status(context.Context) ctl.Status {
	return ctl.Status{Version: "v1", Sessions: 2, Requests: 1, Approvers: 3, JournalKey: "j+1+k"}
}
func (d *daemon) Lock(context.Context) error   { return d.note("lock") }
func (d *daemon) Reload(context.Context) error { return d.note("reload") }
func (d *daemon) Unlock(_ context.Context, identity *secret.Secret) error {
	d.kept = identity
	identity.Use(func(b []byte) error { d.identity = bytes.Clone(b); return nil })
	return d.note("unlock")
}

// A world is a served socket, a desk behind it, and a client with the key.
type world struct {
	testing.TB
	ctx    context.Context
	daemon *daemon
	desk   *approval.Desk
	client *ctl.Client
	path   string
}

func key(b byte) *secret.Secret { return secret.New(bytes.Repeat([]byte{b}, 32)) }

func newWorld(t testing.TB, change func(*ctl.ServerConfig)) *world {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	dir, err := os.MkdirTemp("", "ctl") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, ctx: ctx, daemon: &daemon{}, desk: approval.NewDesk(approval.Config{}), path: filepath.Join(dir, "operator.sock")}
	w.client = &ctl.Client{Path: w.path, Key: key(7)}
	k := key(7)
	cfg := ctl.ServerConfig{Daemon: w.daemon, Desk: w.desk, Key: func() *secret.Secret { return k }, UID: os.Getuid()}
	if change != nil {
		change(&cfg)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ctl.NewServer(cfg).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("Serve does not end")
		}
		os.RemoveAll(dir)
	})
	return w
}

func (w *world) attach(c *ctl.Client) *ctl.Seat {
	w.Helper()
	s, err := c.Attach(w.ctx, approval.Attachment{Name: "pts/3"})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { s.Close() })
	return s
}

func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(h[:])
}

func request(what string) approval.Request {
	return approval.Request{ActivityID: "a", SessionID: "s1", Client: "c", Tool: "ssh_exec", Level: action.Call,
		Digest: digest("approval" + what), ActionDigest: digest(what), Holds: func() error { return nil },
		Sheet: approval.Sheet{Sections: []approval.Section{{Title: "Action", Fields: []approval.Field{{Label: "command", Text: what}}}}}}
}

type reply struct {
	approval.Decision
	err error
}

func (w *world) ask(r approval.Request) <-chan reply {
	c := make(chan reply, 1)
	go func() {
		d, err := w.desk.Ask(w.ctx, r)
		c <- reply{d, err}
	}()
	return c
}

func (w *world) got(c <-chan reply) reply {
	w.Helper()
	select {
	case r := <-c:
		return r
	case <-w.ctx.Done():
		w.Fatal("the call was never settled")
		return reply{}
	}
}

func (w *world) waits(c <-chan reply) {
	w.Helper()
	select {
	case r := <-c:
		w.Fatalf("settled: %+v", r)
	default:
	}
}

func (w *world) until(what string, ok func() bool) {
	w.Helper()
	for !ok() {
		if w.ctx.Err() != nil {
			w.Fatalf("never came true: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

type seat interface {
	Next(context.Context) (approval.Event, error)
	Shown(context.Context, string) error
}

func (w *world) next(s seat, kind string) approval.Event {
	w.Helper()
	for {
		e, err := s.Next(w.ctx)
		if err != nil {
			w.Fatalf("waiting for %q: %v", kind, err)
		}
		if e.Kind == kind {
			return e
		}
	}
}

func (w *world) shown(s seat) *approval.Prompt {
	w.Helper()
	p := w.next(s, approval.Opened).Prompt
	if err := s.Shown(w.ctx, p.ID); err != nil {
		w.Fatal(err)
	}
	return p
}

func to(p *approval.Prompt, v approval.Verdict) approval.Answer {
	return approval.Answer{ID: p.ID, Digest: p.Digest, Verdict: v}
}

// A relay sits between a client and the daemon. up and down may change each
// line, or return nil to cut the connection; it keeps what passed.
type relay struct {
	path     string
	mu       sync.Mutex
	upward   [][]byte
	all      bytes.Buffer
	up, down func(n int, line []byte) [][]byte
}

func pass(_ int, line []byte) [][]byte { return [][]byte{line} }

func (w *world) relay(up, down func(int, []byte) [][]byte) *relay {
	w.Helper()
	r := &relay{path: w.path + ".relay", up: up, down: down}
	l, err := net.Listen("unix", r.path)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d, err := net.Dial("unix", w.path)
			if err != nil {
				c.Close()
				return
			}
			go r.copy(d, c, true)
			go r.copy(c, d, false)
		}
	}()
	return r
}

func (r *relay) copy(dst io.WriteCloser, src io.ReadCloser, up bool) {
	defer dst.Close()
	defer src.Close()
	in := bufio.NewReader(src)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		change := r.down
		r.mu.Lock()
		r.all.Write(line)
		if up {
			change = r.up
			r.upward = append(r.upward, bytes.Clone(line))
		}
		r.mu.Unlock()
		out := change(n, line)
		if out == nil {
			return
		}
		for _, l := range out {
			if _, err := dst.Write(l); err != nil {
				return
			}
		}
	}
}

// raw opens the socket by hand.
func (w *world) raw() *net.UnixConn {
	w.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: w.path, Net: "unix"})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// closed says that the daemon ends the connection without another word.
func closed(t testing.TB, c net.Conn) {
	t.Helper()
	b, err := io.ReadAll(c)
	if len(b) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("not closed at once: %q, %v", b, err)
	}
}
