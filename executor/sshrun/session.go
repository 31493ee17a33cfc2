package sshrun

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/internal/action"
)

// maxOpens is how often a session is tried on another connection before any of
// the command was sent.
const maxOpens = 8

// A session is one open channel.
type session struct {
	pool     *pool
	slot     *slot
	reused   bool
	channel  ssh.Channel
	requests <-chan *ssh.Request
	unasked  []byte // an env request that goes before the next one, unanswered
}

// open finds a connection and opens a session on it. A connection that broke, or
// whose server allows no further session, is passed over: nothing was run yet.
func (r *Runner) open(ctx context.Context, key string, dial func(context.Context) (*conn, error)) (*session, error) {
	var last error
	for range maxOpens {
		s, reused, err := r.pool.acquire(ctx, key, dial)
		if err != nil {
			return nil, err
		}
		sess := &session{pool: r.pool, slot: s, reused: reused}
		if err = sess.open(ctx); err == nil {
			return sess, nil
		}
		var refused *ssh.OpenChannelError
		var stage *stageError
		switch {
		case errors.As(err, &stage):
			sess.abandon()
			return nil, err
		case errors.As(err, &refused) && !r.pool.narrow(s):
			sess.abandon()
			return nil, unreachable("the server refuses to open a session", err)
		case !errors.As(err, &refused):
			r.pool.retire(s)
		}
		sess.release()
		last = err
	}
	return nil, unreachable("no connection on which the server opens a session", last)
}

// open opens the channel. A server that does not answer does not hold the call:
// the channel, should it still open, is closed in the connection's own time.
func (s *session) open(ctx context.Context) error {
	type opened struct {
		channel  ssh.Channel
		requests <-chan *ssh.Request
		err      error
	}
	answer := make(chan opened, 1)
	s.slot.conn.wg.Go(func() {
		channel, requests, err := s.slot.conn.client().OpenChannel("session", nil)
		answer <- opened{channel, requests, err}
	})
	select {
	case o := <-answer:
		s.channel, s.requests = o.channel, o.requests
		return o.err
	case <-ctx.Done():
		s.slot.conn.wg.Go(func() {
			if o := <-answer; o.err == nil {
				o.channel.Close()
				ssh.DiscardRequests(o.requests)
			}
		})
		return &stageError{"opening a session"}
	}
}

// request sends a channel request and waits for the answer or the context. After a
// yes that was waited for, then is run on the connection's own time.
func (s *session) request(ctx context.Context, name string, payload []byte, then func()) (bool, error) {
	type reply struct {
		ok  bool
		err error
	}
	answer := make(chan reply, 1)
	unasked := s.unasked
	s.unasked = nil
	s.slot.conn.wg.Go(func() {
		if unasked != nil {
			s.channel.SendRequest("env", false, unasked)
		}
		ok, err := s.channel.SendRequest(name, true, payload)
		answer <- reply{ok, err}
		if ok && err == nil && then != nil && ctx.Err() == nil {
			then()
		}
	})
	select {
	case r := <-answer:
		return r.ok, r.err
	case <-ctx.Done():
		return false, &stageError{"the server's answer"}
	}
}

// setenv sets the variables. One that the server does not take ends the call
// before the command is sent: it would run under other conditions than were shown.
func (s *session) setenv(ctx context.Context, env []action.EnvVar) error {
	for _, v := range env {
		ok, err := s.request(ctx, "env", ssh.Marshal(v), nil)
		if err == nil && !ok {
			err = &executor.RunError{
				Code:    executor.InvalidArguments,
				Message: fmt.Sprintf("the server does not accept the environment variable %s (AcceptEnv in its sshd_config); nothing was run", v.Name),
			}
		}
		if err != nil {
			s.end()
			return err
		}
	}
	return nil
}

// end closes a session on which nothing runs.
func (s *session) end() {
	s.slot.conn.wg.Go(func() {
		s.channel.Close()
		ssh.DiscardRequests(s.requests)
	})
}

// abandon gives up the session and takes its connection out of the pool.
func (s *session) abandon() {
	s.pool.retire(s.slot)
	s.release()
}

func (s *session) release() { s.pool.release(s.slot) }

func (s *session) describe(facts map[string]any) {
	facts["address"] = s.slot.conn.remote
	facts["host_key"] = s.slot.conn.fingerprint()
	facts["reused"] = s.reused
}
