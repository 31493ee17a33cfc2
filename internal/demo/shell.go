package demo

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"executor/internal/secret"

	"golang.org/x/crypto/ssh"
)

// A shell is an SSH server on loopback that knows one user, one key and two commands.
type shell struct {
	listener net.Listener
	config   *ssh.ServerConfig
	hostKey  string         // as a pin
	userKey  *secret.Secret // the private key that logs in, OpenSSH PEM
	wg       sync.WaitGroup
}

var errWrongKey = errors.New("not the key that logs in")

func startShell() (*shell, error) {
	hostPublic, hostPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	_, userPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.NewSignerFromKey(hostPrivate)
	if err != nil {
		return nil, err
	}
	user, err := ssh.NewSignerFromKey(userPrivate)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(userPrivate, "executor demo")
	if err != nil {
		return nil, err
	}
	public, err := ssh.NewPublicKey(hostPublic)
	if err != nil {
		return nil, err
	}
	s := &shell{
		hostKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public))),
		userKey: secret.New(pem.EncodeToMemory(block)),
		config: &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if c.User() != "deploy" || !bytes.Equal(key.Marshal(), user.PublicKey().Marshal()) {
				return nil, errWrongKey
			}
			return &ssh.Permissions{}, nil
		}},
	}
	s.config.AddHostKey(signer)
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.wg.Go(s.accept)
	return s, nil
}

func (s *shell) addr() string { return s.listener.Addr().String() }

func (s *shell) close() error { return s.listener.Close() }

func (s *shell) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() { s.serve(c) })
	}
}

func (s *shell) serve(c net.Conn) {
	defer c.Close()
	_, channels, requests, err := ssh.NewServerConn(c, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for wanted := range channels {
		if wanted.ChannelType() != "session" {
			_ = wanted.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		ch, in, err := wanted.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() { session(ch, in) })
	}
}

// session answers one command (RFC 4254, sections 6.5 and 6.10).
func session(ch ssh.Channel, in <-chan *ssh.Request) {
	defer ch.Close()
	for r := range in {
		if r.Type != "exec" {
			_ = r.Reply(false, nil)
			continue
		}
		var exec struct{ Command string }
		if ssh.Unmarshal(r.Payload, &exec) != nil {
			_ = r.Reply(false, nil)
			return
		}
		_ = r.Reply(true, nil)
		status := run(exec.Command, ch)
		_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		return
	}
}

func run(command string, out io.ReadWriter) uint32 {
	switch command {
	case "uptime":
		fmt.Fprintln(out, " 19:04:11 up 41 days,  3:12,  1 user,  load average: 0.08, 0.03, 0.01")
		return 0
	case "systemctl restart shop":
		fmt.Fprintln(out, "shop.service restarted")
		return 0
	}
	fmt.Fprintf(out, "sh: %s: not found\n", command)
	return 127
}
