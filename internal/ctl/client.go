package ctl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"

	"executor/approval"
	"executor/internal/secret"
)

// A Client is a command's end of operator.sock. Each call takes a connection of
// its own. It is safe for concurrent use.
type Client struct {
	// Path is the socket's.
	Path string
	// Key is the 32-byte key of the proof; Status, Lock and Reload do without. It stays the caller's.
	Key *secret.Secret
	// Rand is crypto/rand when nil.
	Rand io.Reader
}

// Status asks how the daemon is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	w, err := c.plain(ctx, opStatus)
	if err != nil {
		return Status{}, err
	}
	if w.Status == nil {
		return Status{}, fmt.Errorf("%w: a reply without a status", ErrLost)
	}
	return *w.Status, nil
}

// Lock locks the vault.
func (c *Client) Lock(ctx context.Context) error { _, err := c.plain(ctx, opLock); return err }

// Reload tells the daemon that the vault was edited.
func (c *Client) Reload(ctx context.Context) error { _, err := c.plain(ctx, opReload); return err }

// Grants lists what earlier answers still cover.
func (c *Client) Grants(ctx context.Context) ([]approval.Grant, error) {
	m, err := c.once(ctx, command{Op: opGrants}, nil)
	return m.Grants, err
}

// Revoke ends a grant; approval.ErrNoGrant if there is none with that id.
func (c *Client) Revoke(ctx context.Context, id string) error {
	_, err := c.once(ctx, command{Op: opRevoke, ID: id}, nil)
	return err
}

// Queue lists the open requests.
func (c *Client) Queue(ctx context.Context) (approval.Snapshot, error) {
	m, err := c.once(ctx, command{Op: opQueue}, nil)
	if err == nil && m.Queue == nil {
		err = fmt.Errorf("%w: a reply without a queue", ErrLost)
	}
	if err != nil {
		return approval.Snapshot{}, err
	}
	return *m.Queue, nil
}

// Unlock hands the identity over, sealed for this one connection. It stays the caller's.
func (c *Client) Unlock(ctx context.Context, identity *secret.Secret) error {
	_, err := c.once(ctx, command{Op: opUnlock}, identity)
	return err
}

// once proves, sends one command and reads its reply. An identity goes along sealed.
func (c *Client) once(ctx context.Context, cmd command, identity *secret.Secret) (message, error) {
	ch, end, err := c.prove(ctx)
	if err != nil {
		return message{}, err
	}
	defer end()
	if identity != nil {
		if cmd.Sealed, err = ch.agreed.seal(identity); err != nil {
			return message{}, err
		}
	}
	return exchange(ctx, ch, cmd)
}

// exchange sends the first command of a channel and reads its reply.
func exchange(ctx context.Context, ch *channel, cmd command) (message, error) {
	seq, err := ch.send(cmd)
	if err != nil {
		return message{}, lost(ctx, err)
	}
	var m message
	if _, err := ch.receive(&m); err != nil {
		return message{}, lost(ctx, err)
	}
	if m.Reply != seq {
		return message{}, lost(ctx, errFrame)
	}
	return m, decoded(m.Code, m.Error)
}

func (c *Client) plain(ctx context.Context, op string) (welcome, error) {
	l, end, err := c.dial(ctx)
	if err != nil {
		return welcome{}, err
	}
	defer end()
	return greet(ctx, l, hello{Op: op})
}

func greet(ctx context.Context, l *lines, h hello) (welcome, error) {
	var w welcome
	if err := l.write(h); err != nil {
		return w, lost(ctx, err)
	}
	if err := l.read(&w, maxToDaemon); err != nil {
		return w, lost(ctx, err)
	}
	if !w.OK {
		if w.Code == "" {
			w.Code = codeFailed
		}
		return w, decoded(w.Code, w.Error)
	}
	return w, nil
}

// dial connects. The connection ends with ctx, or with end.
func (c *Client) dial(ctx context.Context) (l *lines, end func(), err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", c.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, nil, fmt.Errorf("%w at %s", ErrNoDaemon, c.Path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("operator socket: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	return newLines(conn), func() { stop(); conn.Close() }, nil
}

// prove connects and shows, and wants to see, that both ends have the key.
func (c *Client) prove(ctx context.Context) (*channel, func(), error) {
	l, end, err := c.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	ch, err := c.agree(ctx, l)
	if err != nil {
		end()
		return nil, nil, err
	}
	return ch, end, nil
}

func (c *Client) agree(ctx context.Context, l *lines) (*channel, error) {
	a := agreement{key: c.Key, client: make([]byte, nonceSize)}
	random := c.Rand
	if random == nil {
		random = rand.Reader
	}
	if _, err := io.ReadFull(random, a.client); err != nil {
		return nil, fmt.Errorf("nonce: %w", err)
	}
	l.SetReadDeadline(time.Now().Add(helloTime))
	w, err := greet(ctx, l, hello{Op: opProve, Protocol: protocol, Nonce: a.client})
	if err != nil {
		return nil, err
	}
	l.SetReadDeadline(time.Time{})
	a.serve = w.Nonce
	if len(a.serve) != nonceSize || !a.proved(byDaemon, w.Proof) {
		return nil, ErrProof
	}
	mine, err := a.proof(byCommand)
	if err != nil {
		return nil, err
	}
	if err := l.write(proof{mine}); err != nil {
		return nil, lost(ctx, err)
	}
	return newChannel(l, a, toCommand, toDaemon, maxToCommand)
}

// lost words the end of a connection; ctx's own end comes first.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}
