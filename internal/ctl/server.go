package ctl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"executor/approval"
	"executor/internal/peer"
	"executor/internal/secret"
)

// A Daemon is what the operator's commands steer. Its methods are called
// concurrently. What their errors say is shown to the operator.
type Daemon interface {
	Status(ctx context.Context) Status
	// Lock locks the vault.
	Lock(ctx context.Context) error
	// Reload reads the vault again, after a command edited it.
	Reload(ctx context.Context) error
	// Unlock opens the vault with an identity, which is wiped when it returns.
	Unlock(ctx context.Context, identity *secret.Secret) error
}

// ServerConfig sets up a Server. Daemon and Desk are required; a nil Key lets nobody prove anything.
type ServerConfig struct {
	Daemon Daemon
	Desk   *approval.Desk
	// Key returns the 32-byte key of the proof, nil before the first unlock. It stays the daemon's.
	Key func() *secret.Secret
	// UID is the only user who is served.
	UID int
	// Rand is crypto/rand when nil.
	Rand io.Reader
}

// A Server is the daemon's end of operator.sock.
type Server struct {
	cfg  ServerConfig
	who  peer.Observer
	free chan struct{} // one token for each connection
}

// maxConns is how many connections are served at a time. More are closed at once.
const maxConns = 64

// NewServer returns a server for cfg.
func NewServer(cfg ServerConfig) *Server {
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Key == nil {
		cfg.Key = func() *secret.Secret { return nil }
	}
	return &Server{cfg: cfg, free: make(chan struct{}, maxConns)}
}

// Serve serves l until ctx ends, then closes l and every connection, waits for
// them and returns nil. Any other end is an error.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		c, err := l.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("operator socket: %w", err)
		case err != nil: // out of descriptors: others will end
			time.Sleep(50 * time.Millisecond)
			continue
		}
		select {
		case s.free <- struct{}{}:
			wg.Go(func() {
				defer func() { <-s.free }()
				s.serve(ctx, c)
			})
		default:
			c.Close()
		}
	}
}

// serve handles one connection. However it ends, it ends alone.
func (s *Server) serve(ctx context.Context, c *net.UnixConn) {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	who, err := s.who.FromConn(c)
	if err != nil || who.UID != s.cfg.UID {
		return
	}
	c.SetReadDeadline(time.Now().Add(helloTime))
	l := newLines(c)
	var h hello
	if err := l.read(&h, maxHello); err != nil {
		return
	}
	if h.Op != opProve {
		l.write(s.plain(ctx, h))
		return
	}
	ch, err := s.prove(l, h)
	if err != nil {
		return
	}
	s.proved(ctx, ch, who.PID)
}

// plain does what needs no proof.
func (s *Server) plain(ctx context.Context, h hello) welcome {
	var err error
	switch h.Op {
	case opStatus:
		st := s.cfg.Daemon.Status(ctx)
		return welcome{OK: true, Status: &st}
	case opLock:
		err = s.cfg.Daemon.Lock(ctx)
	case opReload:
		err = s.cfg.Daemon.Reload(ctx)
	default:
		err = errors.New("unknown operation")
	}
	code, text := coded(err)
	return welcome{OK: err == nil, Code: code, Error: text}
}

var errProof = errors.New("no proof")

// prove shows that the daemon has the key, and wants to see the same.
func (s *Server) prove(l *lines, h hello) (*channel, error) {
	key := s.cfg.Key()
	switch {
	case key == nil:
		code, text := coded(ErrLocked)
		l.write(welcome{Code: code, Error: text})
		return nil, ErrLocked
	case h.Protocol != protocol:
		l.write(welcome{Code: codeFailed, Error: fmt.Sprintf("the daemon speaks protocol %d", protocol)})
		return nil, errProof
	case len(h.Nonce) != nonceSize:
		return nil, errProof
	}
	a := agreement{key, h.Nonce, make([]byte, nonceSize)}
	if _, err := io.ReadFull(s.cfg.Rand, a.serve); err != nil {
		return nil, err
	}
	mine, err := a.proof(byDaemon)
	if err != nil {
		return nil, err
	}
	if err := l.write(welcome{OK: true, Nonce: a.serve, Proof: mine}); err != nil {
		return nil, err
	}
	var theirs proof
	if err := l.read(&theirs, maxHello); err != nil {
		return nil, err
	}
	if !a.proved(byCommand, theirs.Proof) {
		return nil, errProof
	}
	return newChannel(l, a, toDaemon, toCommand, maxToDaemon)
}
