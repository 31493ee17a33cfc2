package ctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"executor/approval"
)

// proved does the one thing that a proved connection is for.
func (s *Server) proved(ctx context.Context, ch *channel, pid int) {
	var c command
	seq, err := ch.receive(&c)
	if err != nil {
		return
	}
	m := message{Reply: seq}
	switch c.Op {
	case opAttach:
		s.attach(ctx, ch, seq, c, pid)
		return
	case opGrants:
		m.Grants = s.cfg.Desk.Grants()
	case opRevoke:
		err = s.cfg.Desk.Revoke(ctx, c.ID)
	case opQueue:
		q := s.cfg.Desk.Queue()
		m.Queue = &q
	case opUnlock:
		err = s.unlock(ctx, ch, c.Sealed)
	default:
		err = errOperation
	}
	m.Code, m.Error = coded(err)
	ch.send(m)
}

var errOperation = errors.New("unknown operation")

func (s *Server) unlock(ctx context.Context, ch *channel, sealed []byte) error {
	identity, err := ch.agreed.unseal(sealed)
	if err != nil {
		return err
	}
	defer identity.Wipe()
	return s.cfg.Daemon.Unlock(ctx, identity)
}

// maxName is how much of a console's own name is kept.
const maxName = 64

// attach is a seat at the other end of a connection.
func (s *Server) attach(ctx context.Context, ch *channel, seq uint64, c command, pid int) {
	name := strings.TrimSpace("console " + c.Name[:min(len(c.Name), maxName)])
	seat, err := s.cfg.Desk.Attach(approval.Attachment{Name: fmt.Sprintf("%s (pid %d)", name, pid), Only: c.Only})
	code, text := coded(err)
	if _, sendErr := ch.send(message{Reply: seq, Code: code, Error: text}); err != nil || sendErr != nil {
		if err == nil {
			seat.Close()
		}
		return
	}
	defer seat.Close()
	ch.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer ch.Close() // ends a send that is under way
	defer cancel()
	wg.Go(func() {
		defer ch.Close() // ends the reading below
		for {
			e, err := seat.Next(ctx)
			if err != nil {
				return
			}
			if _, err := ch.send(message{Event: toWire(e)}); err != nil {
				return
			}
		}
	})
	for {
		var c command
		seq, err := ch.receive(&c)
		if err != nil {
			return
		}
		code, text := coded(atSeat(ctx, seat, c))
		if _, err := ch.send(message{Reply: seq, Code: code, Error: text}); err != nil {
			return
		}
	}
}

func atSeat(ctx context.Context, seat *approval.Seat, c command) error {
	switch {
	case c.Op == opShown:
		return seat.Shown(ctx, c.ID)
	case c.Op == opAwake:
		return seat.Awake(ctx)
	case c.Op == opAnswer && c.Answer != nil:
		return seat.Answer(ctx, *c.Answer)
	}
	return errOperation
}
