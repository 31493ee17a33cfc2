package ctl_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"executor/approval"
	"executor/internal/ctl"
	"executor/internal/secret"
)

var uid = os.Getuid()

func TestAWrongKeyProvesNothing(t *testing.T) {
	w := newWorld(t, nil)
	for name, k := range map[string]*secret.Secret{"other": key(8), "none": nil, "short": secret.New([]byte("short"))} {
		c := &ctl.Client{Path: w.path, Key: k}
		_, attach := c.Attach(w.ctx, approval.Attachment{})
		_, grants := c.Grants(w.ctx)
		_, queue := c.Queue(w.ctx)
		for op, err := range map[string]error{"attach": attach, "grants": grants, "queue": queue,
			"revoke": c.Revoke(w.ctx, "g-1"), "unlock": c.Unlock(w.ctx, secret.New([]byte("id")))} {
			if !errors.Is(err, ctl.ErrProof) {
				t.Errorf("%s key, %s: %v", name, op, err)
			}
		}
	}
	if n := w.desk.Queue().Approvers; n != 0 || len(w.daemon.done) != 0 {
		t.Errorf("%d approvers, done %v", n, w.daemon.done)
	}
}

// fake listens in the daemon's place.
func (w *world) fake(talk func(net.Conn, *bufio.Reader)) string {
	w.Helper()
	path := w.path + ".fake"
	l, err := net.Listen("unix", path)
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
			talk(c, bufio.NewReader(c))
			c.Close()
		}
	}()
	return path
}

// A process that took the socket's place gets neither a proof nor an identity.
func TestAFakeDaemon(t *testing.T) {
	w := newWorld(t, nil)
	after := make(chan string, 1)
	path := w.fake(func(c net.Conn, in *bufio.Reader) {
		in.ReadString('\n')
		zeros := "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
		fmt.Fprintf(c, "{\"ok\":true,\"nonce\":%q,\"proof\":%q}\n", zeros, zeros)
		rest, _ := io.ReadAll(in)
		after <- string(rest)
	})
	c := &ctl.Client{Path: path, Key: key(7)}
	if err := c.Unlock(w.ctx, secret.New([]byte("identity"))); !errors.Is(err, ctl.ErrProof) {
		t.Errorf("unlock at a fake: %v", err)
	}
	if rest := <-after; rest != "" {
		t.Errorf("the fake was told %q", rest)
	}
}

// Proofs are bound to their direction: what the daemon proves to an attacker is
// no proof of a command.
func TestReflection(t *testing.T) {
	w := newWorld(t, nil)
	c := w.raw()
	in := bufio.NewReader(c)
	fmt.Fprintf(c, "{\"op\":\"prove\",\"protocol\":1,\"nonce\":%q}\n", strings.Repeat("A", 43)+"=")
	line, err := in.ReadString('\n')
	if err != nil || !strings.Contains(line, `"proof":"`) {
		t.Fatalf("%q, %v", line, err)
	}
	theirs := line[strings.Index(line, `"proof":"`)+9:]
	fmt.Fprintf(c, "{\"proof\":%q}\n", theirs[:strings.Index(theirs, `"`)])
	fmt.Fprintln(c, `{"seq":1,"mac":"","body":{"op":"queue"}}`)
	closed(t, c)
}

func TestAnAnswerWithoutProof(t *testing.T) {
	w := newWorld(t, nil)
	seat := w.attach(w.client)
	call := w.ask(request("uptime"))
	p := w.shown(seat)
	body := fmt.Sprintf(`{"op":"answer","answer":{"id":%q,"digest":%q,"verdict":"yes"}}`, p.ID, p.Digest)
	frame := `{"seq":1,"mac":"` + strings.Repeat("0", 64) + `","body":` + body + `}`
	prove := `{"op":"prove","protocol":1,"nonce":"` + strings.Repeat("A", 43) + `="}`
	for _, lines := range [][]string{{frame}, {prove, frame}, {prove, `{"proof":""}`, frame}, {prove, `{"proof":"` + strings.Repeat("A", 43) + `="}`, frame}} {
		c := w.raw()
		for _, l := range lines {
			fmt.Fprintln(c, l)
		}
		io.Copy(io.Discard, c)
		w.waits(call)
	}
	c := w.raw()
	fmt.Fprintln(c, body)
	io.Copy(io.Discard, c)
	c = w.raw()
	fmt.Fprintln(c, `{"op":"answer"}`)
	if reply, _ := io.ReadAll(c); !bytes.Contains(reply, []byte("unknown operation")) {
		t.Errorf("a plain answer got %q", reply)
	}
	w.waits(call)
	if err := seat.Answer(w.ctx, to(p, approval.Yes)); err != nil {
		t.Error(err)
	}
}

// A relay that changes, repeats, holds back, swaps or cuts what passes ends its
// own console. The request stays open for the other one.
func TestMeddling(t *testing.T) {
	answer := func(n int, line []byte) bool { return bytes.Contains(line, []byte(`"op":"answer"`)) }
	var held []byte
	holding := make(chan bool)
	for name, up := range map[string]func(int, []byte) [][]byte{
		"another digest": func(n int, l []byte) [][]byte {
			return [][]byte{bytes.Replace(l, []byte(digest("approvalfirst")), []byte(digest("approvalsecond")), 1)}
		},
		"another verdict": func(n int, l []byte) [][]byte {
			return [][]byte{bytes.Replace(l, []byte(`"verdict":"no"`), []byte(`"verdict":"yes"`), 1)}
		},
		"another number": func(n int, l []byte) [][]byte {
			if answer(n, l) {
				l = bytes.Replace(l, []byte(`"seq":3`), []byte(`"seq":4`), 1)
			}
			return [][]byte{l}
		},
		"cut": func(n int, l []byte) [][]byte {
			if answer(n, l) {
				return nil
			}
			return [][]byte{l}
		},
		"cut inside": func(n int, l []byte) [][]byte {
			if answer(n, l) {
				return [][]byte{l[:len(l)/2], []byte("\n")}
			}
			return [][]byte{l}
		},
		"two swapped": func(n int, l []byte) [][]byte {
			if bytes.Contains(l, []byte(`"op":"shown"`)) && held == nil {
				held = bytes.Clone(l)
				close(holding)
				return [][]byte{}
			}
			if held != nil {
				return [][]byte{l, held}
			}
			return [][]byte{l}
		},
		"padded": func(n int, l []byte) [][]byte {
			if answer(n, l) {
				l = bytes.Replace(l, []byte(`"op"`), []byte(` "op"`), 1)
			}
			return [][]byte{l}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			r := w.relay(up, pass)
			good := w.attach(w.client)
			bad := w.attach(&ctl.Client{Path: r.path, Key: key(7)})
			call := w.ask(request("first"))
			p := w.shown(good)
			w.next(bad, approval.Opened)
			if name == "two swapped" {
				go bad.Shown(w.ctx, p.ID)
				<-holding
			} else if err := bad.Shown(w.ctx, p.ID); err != nil {
				t.Fatal(err)
			}
			verdict := approval.Yes
			if name == "another verdict" {
				verdict = approval.No
			}
			if err := bad.Answer(w.ctx, to(p, verdict)); !errors.Is(err, ctl.ErrLost) {
				t.Errorf("answer through the relay: %v", err)
			}
			w.until("the bad console is gone", func() bool { return w.desk.Queue().Approvers == 1 })
			w.waits(call)
			if err := good.Answer(w.ctx, to(p, approval.Yes)); err != nil {
				t.Error(err)
			}
			if got := w.got(call); got.err != nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What is shown cannot be changed on the way either.
func TestMeddlingWithWhatIsShown(t *testing.T) {
	w := newWorld(t, nil)
	r := w.relay(pass, func(_ int, l []byte) [][]byte {
		return [][]byte{bytes.Replace(l, []byte(`"label":"command"`), []byte(`"label":"comment"`), 1)}
	})
	seat := w.attach(&ctl.Client{Path: r.path, Key: key(7)})
	w.ask(request("first"))
	if e, err := seat.Next(w.ctx); !errors.Is(err, ctl.ErrLost) {
		t.Errorf("event %+v, %v", e, err)
	}
}

func TestReplay(t *testing.T) {
	w := newWorld(t, nil)
	twice := false
	r := w.relay(func(n int, l []byte) [][]byte {
		if twice && bytes.Contains(l, []byte(`"op":"answer"`)) {
			return [][]byte{l, l}
		}
		return [][]byte{l}
	}, pass)
	good := w.attach(w.client)
	through := w.attach(&ctl.Client{Path: r.path, Key: key(7)})
	first := w.ask(request("same"))
	p := w.shown(through)
	if err := through.Answer(w.ctx, to(p, approval.Yes)); err != nil {
		t.Fatal(err)
	}
	w.got(first)
	r.mu.Lock()
	recorded := bytes.Join(r.upward, nil)
	r.mu.Unlock()
	second := w.ask(request("same"))
	w.next(good, approval.Opened)
	c := w.raw()
	c.Write(recorded)
	io.Copy(io.Discard, c)
	w.waits(second)
	if n := w.desk.Queue().Approvers; n != 2 {
		t.Errorf("%d approvers", n)
	}
	twice = true
	p = w.shown(through)
	through.Answer(w.ctx, to(p, approval.No)) // counts once; the copy ends the console
	if got := w.got(second); !errors.Is(got.err, approval.ErrDenied) {
		t.Errorf("got %+v", got)
	}
	w.until("the console with the copy is gone", func() bool { return w.desk.Queue().Approvers == 1 })
}

func TestMalformedLinesEndTheirConnectionOnly(t *testing.T) {
	w := newWorld(t, nil)
	seat := w.attach(w.client)
	for _, line := range []string{"", "{", "[]", "null", `{"op":1}`, `{"Op":"status"}`, `{"op":"status","op":"lock"}`, `{"op":"status","x":1}`,
		`{"op":"prove"}`, `{"op":"prove","protocol":2}`, `{"op":"prove","protocol":1,"nonce":"AA=="}`, "\xff\xfe", strings.Repeat("a", 1<<20)} {
		c := w.raw()
		io.WriteString(c, line+"\n")
		c.CloseWrite()
		io.Copy(io.Discard, c)
	}
	if len(w.daemon.done) != 0 {
		t.Errorf("done %v", w.daemon.done)
	}
	call := w.ask(request("uptime"))
	if err := seat.Answer(w.ctx, to(w.shown(seat), approval.Yes)); err != nil {
		t.Error(err)
	}
	if got := w.got(call); got.err != nil {
		t.Errorf("got %+v", got)
	}
}

// Idle connections take nothing from a console that is there, and make room when they go.
func TestAFloodOfConnections(t *testing.T) {
	w := newWorld(t, nil)
	seat := w.attach(w.client)
	var conns []net.Conn
	for range 200 {
		c, err := net.DialTimeout("unix", w.path, time.Second)
		if err != nil {
			break
		}
		conns = append(conns, c)
	}
	call := w.ask(request("uptime"))
	if err := seat.Answer(w.ctx, to(w.shown(seat), approval.Yes)); err != nil {
		t.Error(err)
	}
	w.got(call)
	for _, c := range conns {
		c.Close()
	}
	w.until("there is room again", func() bool { _, err := w.client.Status(w.ctx); return err == nil })
}

func FuzzConnection(f *testing.F) {
	for _, s := range []string{`{"op":"status"}`, `{"op":"lock"}`, `{"op":"prove","protocol":1,"nonce":"AAAA"}`, "{\"op\":\"prove\"}\n{\"proof\":\"\"}\n{\"seq\":1}", "\x00"} {
		f.Add([]byte(s))
	}
	w := newWorld(f, nil)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: w.path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.Write(append(b, '\n'))
		c.CloseWrite()
		io.Copy(io.Discard, c)
		if st, err := w.client.Status(t.Context()); err != nil || st.Version != "v1" {
			t.Errorf("status after %q: %v", b, err)
		}
		if w.desk.Queue().Approvers != 0 || len(w.daemon.identity) != 0 {
			t.Errorf("%q took a seat or unlocked", b)
		}
	})
}
