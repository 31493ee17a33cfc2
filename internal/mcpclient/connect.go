package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are what this client says of itself, and how far it goes. The zero value
// has no name, the default limits, and does not listen.
type Options struct {
	Name    string // what this client calls itself
	Version string
	Limits  Limits
	// Changed is called, on a goroutine of the session's, when the server says that
	// its list of tools changed. Nil asks for no such word.
	Changed func()
}

// legacy is the newest revision that begins with initialize.
const legacy = "2025-11-25"

// Run starts a server's command and speaks MCP with it over stdio. command makes
// the command anew at each call: it is started a second time where the server does
// not survive a method that it does not know. The context bounds the greeting.
// Errors match ErrEnded, ErrTooLarge, ErrProtocol or those of the context.
func Run(ctx context.Context, command func() *exec.Cmd, opt Options) (*Client, error) {
	return greet(ctx, opt, func(ctx context.Context, protocol string) (*Client, error) {
		return run(ctx, command(), opt, protocol)
	})
}

func run(ctx context.Context, cmd *exec.Cmd, opt Options, protocol string) (*Client, error) {
	t, limits := newTap(), opt.Limits.filled()
	p, transport, err := startProcess(cmd, t, limits.Message)
	if err != nil {
		return nil, &startError{cmd.Path, err}
	}
	return opt.connect(ctx, transport, protocol, p, t)
}

// A startError is a command that could not be started; to try again is no use.
type startError struct {
	path string
	err  error
}

func (e *startError) Error() string { return fmt.Sprintf("mcp server %s: %v", e.path, e.err) }
func (e *startError) Unwrap() error { return e.err }

// greet tries the newest revision, then initialize on a new connection.
func greet(ctx context.Context, opt Options, connect func(context.Context, string) (*Client, error)) (*Client, error) {
	c, first := connect(ctx, "")
	if first == nil || final(ctx, first) {
		return c, first
	}
	c, err := connect(ctx, legacy)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// final reports whether another greeting could not help.
func final(ctx context.Context, err error) bool {
	var start *startError
	return ctx.Err() != nil || errors.As(err, &start) ||
		errors.Is(err, ErrTooLarge) || errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrRedirected)
}

// connect greets the server behind a transport. On an error the link is stopped.
func (opt Options) connect(ctx context.Context, transport mcp.Transport, protocol string, l link, t *tap) (*Client, error) {
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if opt.Changed != nil {
		o.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { opt.Changed() }
	}
	m := mcp.NewClient(&mcp.Implementation{Name: opt.Name, Version: opt.Version}, o)
	m.AddSendingMiddleware(shortDiscover)
	stop := context.AfterFunc(ctx, l.kill)
	session, err := m.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if !stop() && err == nil {
		hangUp(session, l)
		return nil, ctx.Err()
	}
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		} else {
			err = explain(err, t, l)
		}
		l.kill()
		l.stop()
		return nil, fmt.Errorf("mcp greeting: %w", err)
	}
	return &Client{session: session, link: l, tap: t, limits: opt.Limits.filled()}, nil
}

// shortDiscover gives server/discover a third of the time: a server that does not
// answer what it does not know is then greeted with initialize.
func shortDiscover(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if deadline, ok := ctx.Deadline(); ok && method == methodDiscover {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/3)
			defer cancel()
		}
		return next(ctx, method, req)
	}
}
