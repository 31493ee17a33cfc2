package sshrun_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// A server is an in-process SSH server that can be told to misbehave.
type server struct {
	addr   string
	config *ssh.ServerConfig
	// exec runs a command; it closes the channel itself.
	exec func(command string, ch ssh.Channel, signals <-chan string)
	// maxSessions refuses further sessions on a connection; 0 allows all.
	maxSessions int
	acceptEnv   func(name string) bool
	// subsystem serves SFTP on a channel; nil offers none.
	subsystem func(ch ssh.Channel)

	mu       sync.Mutex
	commands []string
	logins   int
	attempts []string // every authentication attempt's method
	conns    []net.Conn
	env      []string
	wg       sync.WaitGroup
}

func newServer(t testing.TB, keys ...ssh.Signer) *server {
	t.Helper()
	s := &server{
		config: &ssh.ServerConfig{NoClientAuth: false},
		exec: func(command string, ch ssh.Channel, _ <-chan string) {
			fmt.Fprintf(ch, "ran %s\n", command)
			exitStatus(ch, 0)
			ch.Close()
		},
		acceptEnv: func(string) bool { return true },
	}
	s.config.PublicKeyCallback = func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
		s.note(&s.attempts, "publickey")
		return nil, nil
	}
	for _, k := range keys {
		s.config.AddHostKey(k)
	}
	return s
}

func (s *server) note(list *[]string, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, what)
}

func (s *server) seen(list *[]string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), *list...)
}

func (s *server) loggedIn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// start listens until the test ends.
func (s *server) start(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = ln.Addr().String()
	s.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			s.wg.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		s.dropAll()
		s.wg.Wait()
	})
	return s.addr
}

func (s *server) dropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
}

func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

func (s *server) serve(c net.Conn) {
	defer c.Close()
	conn, chans, reqs, err := ssh.NewServerConn(c, s.config)
	if err != nil {
		return
	}
	defer conn.Close()
	s.mu.Lock()
	s.logins++
	s.mu.Unlock()
	s.wg.Go(func() { ssh.DiscardRequests(reqs) })
	var mu sync.Mutex
	open := 0
	for nc := range chans {
		if nc.ChannelType() == "direct-tcpip" {
			s.wg.Go(func() { s.forward(nc) })
			continue
		}
		mu.Lock()
		full := s.maxSessions > 0 && open >= s.maxSessions
		if !full {
			open++
		}
		mu.Unlock()
		if full {
			nc.Reject(ssh.Prohibited, "no more")
			continue
		}
		ch, requests, err := nc.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			s.session(ch, requests)
			mu.Lock()
			open--
			mu.Unlock()
		})
	}
}

func (s *server) forward(nc ssh.NewChannel) {
	var to struct {
		Host  string
		Port  uint32
		OHost string
		OPort uint32
	}
	if ssh.Unmarshal(nc.ExtraData(), &to) != nil {
		nc.Reject(ssh.ConnectionFailed, "")
		return
	}
	out, err := net.Dial("tcp", net.JoinHostPort(to.Host, fmt.Sprint(to.Port)))
	if err != nil {
		nc.Reject(ssh.ConnectionFailed, "")
		return
	}
	ch, reqs, err := nc.Accept()
	if err != nil {
		out.Close()
		return
	}
	s.wg.Go(func() { ssh.DiscardRequests(reqs) })
	s.wg.Go(func() { pipe(ch, out); ch.Close() })
	pipe(out, ch)
	out.Close()
}

func pipe(dst interface{ Write([]byte) (int, error) }, src interface{ Read([]byte) (int, error) }) {
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *server) session(ch ssh.Channel, requests <-chan *ssh.Request) {
	signals := make(chan string, 8)
	done := make(chan struct{})
	running := false
	for req := range requests {
		switch req.Type {
		case "env":
			var v struct{ Name, Value string }
			ssh.Unmarshal(req.Payload, &v)
			ok := s.acceptEnv(v.Name)
			if ok {
				s.note(&s.env, v.Name+"="+v.Value)
			}
			req.Reply(ok, nil)
		case "exec":
			var v struct{ Command string }
			ssh.Unmarshal(req.Payload, &v)
			s.note(&s.commands, v.Command)
			req.Reply(true, nil)
			running = true
			s.wg.Go(func() { defer close(done); s.exec(v.Command, ch, signals) })
		case "subsystem":
			req.Reply(s.subsystem != nil, nil)
			if s.subsystem != nil {
				running = true
				s.wg.Go(func() { defer close(done); s.subsystem(ch) })
			}
		case "signal":
			var v struct{ Name string }
			ssh.Unmarshal(req.Payload, &v)
			signals <- v.Name
		default:
			req.Reply(false, nil)
		}
	}
	close(signals)
	ch.Close()
	if running {
		<-done
	}
}

func exitStatus(ch ssh.Channel, code uint32) {
	ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{code}))
}

func exitSignal(ch ssh.Channel, name string) {
	ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
		Name      string
		Core      bool
		Msg, Lang string
	}{name, false, "canary text of the server", ""}))
}

// withPassword makes the server take one password by the methods named.
func (s *server) withPassword(password string, methods ...string) {
	s.config.PublicKeyCallback = nil
	check := func(method, got string) (*ssh.Permissions, error) {
		s.note(&s.attempts, method)
		if got == password {
			return nil, nil
		}
		return nil, errors.New("wrong")
	}
	for _, m := range methods {
		switch m {
		case "password":
			s.config.PasswordCallback = func(_ ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) { return check(m, string(p)) }
		case "keyboard-interactive":
			s.config.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
				answers, err := ask("", "", []string{"Password: "}, []bool{false})
				if err != nil {
					return nil, err
				}
				return check(m, answers[0])
			}
		}
	}
}

func hostSigner(t testing.TB, name string) ssh.Signer {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/hostkeys", name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.ParsePrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func certSigner(t testing.TB, name string) ssh.Signer {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/hostkeys", name))
	if err != nil {
		t.Fatal(err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewCertSigner(key.(*ssh.Certificate), hostSigner(t, "host_ed25519"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func pin(s ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

// eventually polls until ok or the deadline.
func eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %s: %s", limit, what)
}
