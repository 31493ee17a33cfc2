package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// grace is how long a command has to end after its input did, and again after it
// was asked to.
const grace = 2 * time.Second

// A process is a server's command. It has a process group of its own, so that what
// it started ends with it.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *io.PipeReader

	stopping sync.Once
	done     chan struct{} // closed when the command ended
	err      error         // how; read after done
}

// startProcess runs cmd and returns the transport to it.
func startProcess(cmd *exec.Cmd, t *tap, limit int) (*process, mcp.Transport, error) {
	out, w := io.Pipe()
	p := &process{cmd: cmd, out: out, done: make(chan struct{})}
	cmd.Stdout = w
	cmd.WaitDelay = grace
	ownGroup(cmd)
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
		w.Close()
	}()
	return p, &mcp.IOTransport{
		Reader:        io.NopCloser(newLines(out, t, limit)),
		Writer:        tappedWriter{p.stdin, t},
		MaxLineLength: -1, // the filter bounds
	}, nil
}

// A tappedWriter shows the tap what goes out: one message a Write.
type tappedWriter struct {
	io.WriteCloser
	tap *tap
}

func (w tappedWriter) Write(b []byte) (int, error) {
	w.tap.sent(b)
	return w.WriteCloser.Write(b)
}

// ended says how the command ended, if it did. A command whose output is closed
// ends a moment later, which is waited for.
func (p *process) ended() error {
	select {
	case <-p.done:
	case <-time.After(grace / 8):
		return nil
	}
	if p.err == nil {
		return fmt.Errorf("%w by itself (exit status 0)", ErrEnded)
	}
	return fmt.Errorf("%w: %w", ErrEnded, p.err)
}

// stop ends the command: its input, then a request, then force.
func (p *process) stop() {
	p.stopping.Do(func() {
		p.stdin.Close()
		p.out.Close() // or a server that still sends could not be waited for
		for _, next := range []func(*exec.Cmd){askGroup, killGroup} {
			select {
			case <-p.done:
				killGroup(p.cmd) // what it left behind
				return
			case <-time.After(grace):
				next(p.cmd)
			}
		}
	})
	<-p.done
}

// kill ends the command at once.
func (p *process) kill() {
	killGroup(p.cmd)
	p.out.Close()
}

// A link is the carrier of a session.
type link interface {
	// ended says how the server ended, nil where it did not or cannot be known.
	ended() error
	// stop ends it and returns when it is gone.
	stop()
	// kill ends it at once.
	kill()
}

// hangUp ends a session and what carries it, in bounded time.
func hangUp(s *mcp.ClientSession, l link) error {
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		l.stop()
		return ignoreEnd(err)
	case <-time.After(grace):
	}
	l.kill()
	l.stop()
	return ignoreEnd(<-closed)
}

// ignoreEnd drops errors that only say that the other side is gone.
func ignoreEnd(err error) error {
	if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
