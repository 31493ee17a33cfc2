package sshrun

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/internal/action"
)

// A stageError is a step that its context ended.
type stageError struct{ stage string }

func (e *stageError) Error() string { return e.stage + " timed out" }

// dialChain connects through all hops, each over the one before.
func (r *Runner) dialChain(ctx context.Context, hops []action.Hop, leases []*executor.Lease) (*conn, error) {
	c := newConn()
	dial := r.cfg.Dial
	for i, hop := range hops {
		client, err := r.dialHop(ctx, dial, hop, leases[i], c)
		if err != nil {
			c.close()
			return nil, err
		}
		c.chain = append(c.chain, client)
		dial = client.DialContext
	}
	c.watch()
	return c, nil
}

// dialHop connects to one hop and logs in there. When the time is over it closes
// the connection, which ends the handshake wherever it is.
func (r *Runner) dialHop(ctx context.Context, dial DialFunc, hop action.Hop, lease *executor.Lease, c *conn) (*ssh.Client, error) {
	p, err := parsePins(hop.HostKeys)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Handshake)
	defer cancel()
	nc, err := dial(ctx, "tcp", hop.Address)
	if err != nil {
		return nil, connectFailure(ctx, hop.Address, err)
	}
	c.remote = nc.RemoteAddr().String()
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	l := &login{lease: lease, now: r.cfg.Now}
	check := p.callback(r.cfg.Now)
	sc, channels, requests, err := ssh.NewClientConn(nc, hop.Address, &ssh.ClientConfig{
		User:         hop.User,
		AuthCallback: l.next,
		HostKeyCallback: func(addr string, remote net.Addr, key ssh.PublicKey) error {
			c.setHostKey(key)
			return check(addr, remote, key)
		},
		HostKeyAlgorithms: p.algorithms(),
		BannerCallback:    ssh.BannerCallback(func(string) error { return nil }),
	})
	if !stop() {
		nc.Close()
		return nil, &stageError{"the SSH handshake with " + hop.Address}
	}
	if err != nil {
		nc.Close()
		return nil, handshakeFailure(hop.Address, l, err)
	}
	return ssh.NewClient(sc, channels, requests), nil
}

func connectFailure(ctx context.Context, addr string, err error) error {
	if ctx.Err() != nil {
		return &stageError{"the connection to " + addr}
	}
	text := "no connection to " + addr
	var dns *net.DNSError
	var refused *ssh.OpenChannelError
	switch {
	case errors.As(err, &dns):
		text += ": the name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		text += ": it was refused"
	case errors.As(err, &refused):
		text += ": the jump host did not forward it"
	}
	return unreachable(text, err)
}

func handshakeFailure(addr string, l *login, err error) error {
	var own *executor.RunError
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &negotiation):
		return unreachable(addr+" offers no algorithm that is accepted here", err)
	case l.offered != nil || l.tried:
		return l.failure()
	}
	return unreachable("the SSH handshake with "+addr+" failed", err)
}

func unreachable(text string, err error) *executor.RunError {
	return &executor.RunError{Code: executor.UpstreamUnreachable, Message: text, Detail: kind(err)}
}

// kind names an error by its type, or by the system's word for it. Its text may
// hold what the server sent.
func kind(err error) error {
	if err == nil {
		return nil
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Errorf("%T", err)
}

func internal(message string) *executor.RunError {
	return &executor.RunError{Code: executor.Internal, Message: message}
}
