package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrDrainLimit ends a session whose calls were still unanswered when the
// drain limit had passed. It is the cancellation cause of those calls, and
// matches io.EOF, the normal end.
var ErrDrainLimit = fmt.Errorf("calls were unanswered at the drain limit: %w", io.EOF)

var errConnected = errors.New("transport is already connected")

// Defaults of TransportOptions.
const (
	DefaultMaxLine      = 16 << 20
	DefaultMaxInFlight  = 64 << 20
	DefaultDrainLimit   = 5 * time.Second
	DefaultWriteTimeout = 30 * time.Second
)

// TransportOptions sets the limits of one connection. A field that is zero or
// negative means its default: no limit can be switched off.
type TransportOptions struct {
	// MaxLine is the longest line that is accepted, in bytes without its end.
	MaxLine int
	// MaxInFlight bounds the bytes of unanswered calls, each counted as its
	// line and 4 KiB. A single call always passes.
	MaxInFlight int
	// DrainLimit is how long unanswered calls may go on after the end of input.
	DrainLimit time.Duration
	// WriteTimeout is how long the client may take to accept 16 KiB, or the
	// whole of a shorter line.
	WriteTimeout time.Duration
	// AfterFunc runs f in a goroutine of its own after d, unless stop is called
	// first. Nil means time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
}

func (o TransportOptions) withDefaults() TransportOptions {
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = DefaultMaxInFlight
	}
	if o.DrainLimit <= 0 {
		o.DrainLimit = DefaultDrainLimit
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = DefaultWriteTimeout
	}
	if o.AfterFunc == nil {
		o.AfterFunc = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	return o
}

// A Transport carries one MCP session as lines of JSON-RPC 2.0 over a stream
// (MCP 2025-11-25, basic/transports, stdio). It stands between a client that
// may send anything and the SDK, which gets only well-formed messages.
//
// One message is one line of UTF-8 that ends in "\n" or "\r\n":
//
//	→ {"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}
//	← {"jsonrpc":"2.0","id":9007199254740993,"result":{}}
//	→ not json
//	← {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"…"}}
//
// What it does with each line:
//
//   - Blank lines are ignored. A line over MaxLine is skipped to its end and
//     answered with -32600, one that is not JSON in UTF-8 with -32700, one that
//     is no request with -32600 and its id where that is usable, else null. The
//     session goes on after each.
//   - Members are matched by exact name. Others are ignored, but a member of the
//     envelope that stands twice is refused (-32600), and so is a member of
//     params that stands twice or, in tools/call, differs from a known one by
//     case (-32602). The bytes of arguments reach the handler as they were sent.
//   - An id is a string or an integer of any size, and comes back as it was
//     written. A call whose id is in use is refused (-32600); the first goes on.
//     A call that would exceed MaxInFlight is refused (-32000).
//   - A notification is never answered, whatever is wrong with its params.
//   - notifications/cancelled cancels the context of the call that it names and
//     withholds every later reply to it, also an error, as MCP asks
//     (basic/utilities/cancellation). One for an unknown id, or for initialize,
//     is ignored. A reply that was begun before is completed. The id stays in
//     use until the handler has returned.
//
// At the end of input (a half-closed socket) calls in flight go on and their
// replies are written; then the session ends. At DrainLimit the connection is
// closed and the contexts of the rest are cancelled with ErrDrainLimit as cause.
// A subscriptions/listen, which ends by cancellation only, is not waited for. A
// read error other than the end of input cancels at once.
//
// Replies are written one at a time and whole. A client that does not read
// ends the session with ErrPeerNotReading.
//
// The methods are safe for concurrent use. A Transport carries one session.
type Transport struct {
	rwc io.ReadWriteCloser
	opt TransportOptions

	mu        sync.Mutex
	connected bool
	drain     chan struct{} // closed by Drain
	draining  bool
}

// NewTransport returns a transport over rwc, which it owns from Connect on and
// closes when the session ends. Closing rwc must unblock its Read and Write, as
// it does for a net.Conn.
func NewTransport(rwc io.ReadWriteCloser, opt TransportOptions) *Transport {
	return &Transport{rwc: rwc, opt: opt.withDefaults(), drain: make(chan struct{})}
}

// Connect implements [mcp.Transport]. It may be called once.
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.connected {
		return nil, errConnected
	}
	t.connected = true
	return newLineConn(t.rwc, t.opt, t.drain), nil
}

// Drain treats the input as ended: nothing more is read, calls in flight are
// answered, and the session ends, all within DrainLimit. It returns at once;
// [mcp.ServerSession.Wait] tells when it is done.
func (t *Transport) Drain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.draining {
		t.draining = true
		close(t.drain)
	}
}

// Close closes the stream. It ends the session at once: the contexts of calls in
// flight are cancelled and nothing more is written. [mcp.ServerSession.Close],
// in contrast, cancels nothing, waits for every handler, and drops the replies.
func (t *Transport) Close() error { return t.rwc.Close() }
