package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A lineConn implements mcp.Connection. One goroutine, which ends when the
// stream is closed, reads lines; Read, which the SDK calls from one goroutine,
// judges them; Write is called from many.
type lineConn struct {
	rwc   io.ReadWriteCloser
	opt   TransportOptions
	calls *calls
	out   *lineWriter

	frames  chan frame      // closed when the input has ended
	readErr error           // why; valid once frames is closed
	drain   <-chan struct{} // closed when the input shall count as ended

	closeOnce sync.Once
	closed    chan struct{}
	closeErr  error

	endOnce sync.Once
	endErr  error
}

// A frame is one line of input, or the report that one was too long.
type frame struct {
	line    []byte
	tooLong bool
}

func newLineConn(rwc io.ReadWriteCloser, opt TransportOptions, drain <-chan struct{}) *lineConn {
	c := &lineConn{
		rwc:    rwc,
		opt:    opt,
		calls:  newCalls(opt.MaxInFlight),
		frames: make(chan frame),
		drain:  drain,
		closed: make(chan struct{}),
	}
	c.out = newLineWriter(rwc, opt.WriteTimeout, opt.AfterFunc, func() { c.Close() })
	go c.pump()
	return c
}

// SessionID returns "": a stream has one session.
func (c *lineConn) SessionID() string { return "" }

// Close closes the stream. Read and Write return, and so does the reader.
func (c *lineConn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		if err := c.rwc.Close(); !errors.Is(err, net.ErrClosed) {
			c.closeErr = err
		}
	})
	return c.closeErr
}

func (c *lineConn) pump() {
	defer close(c.frames)
	lines := newLineReader(c.rwc, c.opt.MaxLine)
	for {
		line, err := lines.next()
		if err != nil && !errors.Is(err, errLineTooLong) {
			c.readErr = err
			return
		}
		select {
		case c.frames <- frame{line: line, tooLong: err != nil}:
		case <-c.closed:
			c.readErr = io.EOF
			return
		}
	}
}

// Read returns the next message that is one, after answering all that are not.
// At the end of input it waits until the calls in flight are answered, because
// the SDK writes nothing after Read has failed.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-c.drain:
			return nil, c.end(ctx)
		default:
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.drain:
			return nil, c.end(ctx)
		case f, ok := <-c.frames:
			if !ok {
				return nil, c.inputEnded(ctx)
			}
			msg, err := c.accept(ctx, f)
			if msg != nil || err != nil {
				return msg, err
			}
		}
	}
}

func (c *lineConn) inputEnded(ctx context.Context) error {
	switch {
	case errors.Is(c.readErr, net.ErrClosed), errors.Is(c.readErr, io.ErrClosedPipe):
		return c.closedBy()
	case errors.Is(c.readErr, io.EOF):
		return c.end(ctx)
	}
	return fmt.Errorf("reading a line: %w", c.readErr)
}

func (c *lineConn) end(ctx context.Context) error {
	c.endOnce.Do(func() { c.endErr = c.awaitReplies(ctx) })
	return c.endErr
}

func (c *lineConn) awaitReplies(ctx context.Context) error {
	late := make(chan struct{})
	stop := c.opt.AfterFunc(c.opt.DrainLimit, func() { close(late) })
	defer stop()
	select {
	case <-c.calls.end():
		return io.EOF
	case <-c.closed:
		return c.closedBy()
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		// A reply may be stuck in a client that does not read.
		c.Close()
		return ErrDrainLimit
	}
}

// closedBy says why this side closed the stream.
func (c *lineConn) closedBy() error {
	if err := c.out.failure(); err != nil {
		return err
	}
	return io.EOF
}

// Write sends one message. A response to a call that was cancelled, or that is
// unknown, is dropped.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		line, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return err
		}
		return c.out.write(ctx, append(line, '\n'))
	}
	answered := c.calls.take(r.ID)
	if answered == nil {
		return nil
	}
	defer c.calls.done(answered)
	if answered.cancelled {
		return nil
	}
	return c.answer(ctx, answered, r)
}

func (c *lineConn) answer(ctx context.Context, to *call, r *jsonrpc.Response) error {
	var problem *jsonrpc.Error
	result := r.Result
	if r.Error != nil {
		problem, result = wireError(r.Error, c.calls.uncoded(to)), nil
	} else {
		c.calls.succeeded()
	}
	line, err := encodeReply(to.wire, result, problem)
	if err != nil {
		return err
	}
	return c.out.write(ctx, line)
}
