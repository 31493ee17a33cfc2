package sshrun

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// maxListing bounds what a server may send while a directory is listed, which is
// held in memory: about 100,000 names.
const maxListing = 32 << 20

// errTooMuch: the server sent more than the operation takes.
var errTooMuch = errors.New("the server's answers are too long")

// answers reads what the server sends, up to a bound; 0 is none.
type answers struct {
	io.Reader
	max, n   int64
	exceeded atomic.Bool
}

func (a *answers) Read(b []byte) (int, error) {
	if a.max > 0 && a.n > a.max {
		a.exceeded.Store(true)
		return 0, errTooMuch
	}
	n, err := a.Reader.Read(b)
	a.n += int64(n)
	return n, err
}

// files starts SFTP on a session (draft-ietf-secsh-filexfer-02, version 3) and reads
// by way of from, whose Reader it sets. When ctx ends, what is under way fails. The
// caller calls done after its last use.
func (s *session) files(ctx context.Context, from *answers) (client *sftp.Client, done func(), err error) {
	ok, err := s.request(ctx, "subsystem", ssh.Marshal(struct{ Name string }{"sftp"}), nil)
	if err == nil && !ok {
		err = unreachable("the server offers no SFTP; nothing was done", nil)
	}
	if err != nil {
		s.end()
		return nil, nil, err
	}
	wg := &s.slot.conn.wg
	wg.Go(func() { ssh.DiscardRequests(s.requests) })
	wg.Go(func() { io.Copy(io.Discard, s.channel.Stderr()) })
	release := s.guard(ctx)
	from.Reader = s.channel
	client, err = sftp.NewClientPipe(from, s.channel, sftp.UseConcurrentWrites(true))
	if err != nil {
		release()
		s.end()
		return nil, nil, err
	}
	return client, func() { s.hangUp(client); release() }, nil
}

// guard closes the session when ctx ends, and its connection if the server does
// not answer to that, until release is called: then nothing waits for a silent server.
func (s *session) guard(ctx context.Context) (release func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		s.end()
		select {
		case <-over:
		case <-time.After(stopLimit):
			s.slot.conn.close()
		}
	})
	return func() {
		stop()
		close(over)
	}
}

// hangUp ends SFTP. A server that does not let go in time loses the connection to
// other calls, and the rest ends with it.
func (s *session) hangUp(client *sftp.Client) {
	closed := make(chan struct{})
	s.slot.conn.wg.Go(func() {
		client.Close()
		close(closed)
	})
	select {
	case <-closed:
	case <-time.After(settle):
		s.pool.retire(s.slot)
	}
}
