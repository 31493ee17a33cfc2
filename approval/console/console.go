package console

import (
	"context"
	"errors"
	"sync"

	"executor/approval"
)

// A Console is a terminal at which approvals are answered.
type Console struct {
	opts Options
	tty  *tty
}

// New takes the terminal. The error is ErrNotTerminal when it is none.
func New(o Options) (*Console, error) {
	t, err := openTTY(o.Terminal)
	if err != nil {
		return nil, err
	}
	return &Console{o, t}, nil
}

// Run answers at seat until parent ends (nil), the terminal hangs up (ErrHangup),
// the seat fails, or, with Options.Once, one request is settled (nil). It may be
// called once. When it returns, the seat is closed, the terminal's mode is as
// New found it, and nothing of it runs any more.
func (c *Console) Run(parent context.Context, seat Seat) error {
	defer c.tty.close()
	defer seat.Close()
	if err := c.tty.enter(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(parent)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer c.tty.interrupt()
	defer cancel(nil)
	// A write that hangs must not outlive ctx.
	defer context.AfterFunc(ctx, c.tty.interrupt)()

	s := &session{opts: c.opts, tty: c.tty, seat: seat, line: newLine()}
	events, typed := make(chan approval.Event), make(chan keys)
	wg.Go(func() { pump(ctx, cancel, events, func() (approval.Event, error) { return seat.Next(ctx) }) })
	wg.Go(func() { pump(ctx, cancel, typed, c.tty.read) })
	err := s.run(ctx, events, typed)
	if parent.Err() != nil || errors.Is(err, errDone) {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// pump sends what next returns until one of them fails.
func pump[T any](ctx context.Context, cancel context.CancelCauseFunc, out chan<- T, next func() (T, error)) {
	for {
		v, err := next()
		if err != nil {
			cancel(err)
			return
		}
		select {
		case out <- v:
		case <-ctx.Done():
			return
		}
	}
}
