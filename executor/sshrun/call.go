package sshrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/internal/action"
)

const (
	quiet      = time.Second            // without output after the exit, the channel counts as left open
	linger     = 4 * time.Second        // and after this in any case
	signalWait = 700 * time.Millisecond // for the exit after a signal
	stopLimit  = 2 * time.Second        // for signals and close to be taken by the connection
	settle     = 300 * time.Millisecond // for the last output after the exit
)

// errLost: the connection ended while the command ran.
var errLost = errors.New("connection lost")

// A call is one Run.
type call struct {
	action   *action.SSH
	activity string
	marker   string // "NAME=VALUE" as the server took it, or ""
	caller   context.Context
	started  func()
	begun    bool
	response *executor.SSHResponse
}

// exec sends the command and waits for its end. From here on nothing is repeated.
func (c *call) exec(ctx context.Context, s *session) error {
	if ctx.Err() != nil {
		s.end()
		return &stageError{"the connection"}
	}
	p := newProcess(s, c.action.Limits.MaxBytes)
	c.begun = true
	c.started()
	command := ssh.Marshal(struct{ Command string }{c.action.Command})
	ok, err := s.request(ctx, "exec", command, func() { p.feed(c.action.Stdin.Bytes) })
	if err == nil && !ok {
		p.stop(false)
		return unreachable("the server refused to run the command", nil)
	}
	if err == nil {
		err = p.wait(ctx)
	}
	if err != nil {
		p.stop(true)
	}
	p.report(c.response)
	c.note(err)
	if !p.isClosed() || c.response.MayStillRun { // a server may count the session until its process ends
		s.pool.retire(s.slot)
	}
	return err
}

// note says what the caller may not expect.
func (c *call) note(err error) {
	r := c.response
	ended := r.Exit != nil || r.Signal != ""
	switch {
	case err != nil && !ended:
		r.MayStillRun = true
		r.Note = "the remote process may still run; " + c.findIt()
	case err == nil && !ended:
		r.Note = "the server reported neither exit code nor signal: how the command ended is not known"
	case r.ChannelLeftOpen:
		r.Note = "the command ended, and something that it started still held its output"
	}
}

// failure puts err into words. What the server said is not among them.
func (c *call) failure(err error) *executor.RunError {
	var own *executor.RunError
	var stage *stageError
	cancelled := errors.Is(c.caller.Err(), context.Canceled)
	switch {
	case errors.As(err, &own):
		return own
	case cancelled:
		return &executor.RunError{Code: executor.CallCancelled, Message: "cancelled by the caller; " + c.extent()}
	case c.begun && errors.Is(err, context.DeadlineExceeded), c.begun && errors.As(err, &stage):
		return &executor.RunError{Code: executor.UpstreamTimeout, Message: fmt.Sprintf("the command did not end within %s; %s", c.action.Limits.Timeout, c.extent())}
	case errors.As(err, &stage), errors.Is(err, context.DeadlineExceeded):
		text := "the time limit was over before the command"
		if stage != nil {
			text = stage.Error()
		}
		return &executor.RunError{Code: executor.UpstreamTimeout, Message: text + "; " + c.extent()}
	case c.begun:
		return unreachable("the connection was lost while the command ran; "+c.extent(), err)
	}
	return unreachable("the connection was lost before the command; "+c.extent(), err)
}

// extent says what is known of the effect.
func (c *call) extent() string {
	switch {
	case !c.begun:
		return "nothing was run"
	case c.response.MayStillRun:
		return c.response.Note
	}
	return "the remote process was signalled and has ended"
}
