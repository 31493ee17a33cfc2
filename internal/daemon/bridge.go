package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"executor/internal/ctl"
)

// Times of a bridge.
const (
	// BridgeWait is how long a bridge waits for a daemon.
	BridgeWait = 8 * time.Second
	dialEvery  = 100 * time.Millisecond
	// bridgeDrain is how long replies may come after the end of input: a little
	// more than the daemon takes to drain, and less than clients wait for an exit.
	bridgeDrain = 4500 * time.Millisecond
	// agentDrain is how long the daemon lets calls go on after the end of input.
	agentDrain = 4 * time.Second
)

// Bridge joins an agent's stdio to the daemon at socket. It holds no secret and
// reads nothing of what passes, but for line ends: only whole lines reach out.
// It waits up to wait for a daemon. The end of in is passed on, and replies are
// still delivered for a few seconds. It returns nil after the end of in, and an
// error when the daemon went away first or never came (ctl.ErrNoDaemon).
func Bridge(ctx context.Context, in io.Reader, out io.Writer, socket string, wait time.Duration) error {
	conn, err := dialAgent(ctx, socket, wait)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	ended, received := make(chan struct{}), make(chan error, 1)
	go func() {
		_, _ = io.Copy(conn, in) // a broken connection shows at the other direction
		close(ended)             // before the daemon can learn of it and close
		conn.CloseWrite()
	}()
	go func() { received <- copyLines(out, conn) }()

	select {
	case err := <-received:
		select {
		case <-ended:
			return nil
		default:
			return lost(ctx, err)
		}
	case <-ended:
	}
	end := time.NewTimer(bridgeDrain)
	defer end.Stop()
	select {
	case <-received:
	case <-end.C:
	}
	return nil
}

// lost names the reason for an end that the agent did not ask for.
func lost(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("the connection to executor serve broke: %w", err)
	}
	return fmt.Errorf("executor serve ended the session: %w", ctl.ErrNoDaemon)
}

func dialAgent(ctx context.Context, socket string, wait time.Duration) (*net.UnixConn, error) {
	if err := CheckSocketPath(socket); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(dialEvery)
	defer tick.Stop()
	for {
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", socket)
		if err == nil {
			return c.(*net.UnixConn), nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("nobody answers at %s after %s: %w", socket, wait, ctl.ErrNoDaemon)
		case <-tick.C:
		}
	}
}

// copyLines passes whole lines on. What a broken connection left unfinished is dropped.
func copyLines(out io.Writer, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err == nil {
			_, err = out.Write(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
