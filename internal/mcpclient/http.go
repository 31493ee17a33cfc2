package mcpclient

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An Endpoint is a server's URL for Streamable HTTP. Transport carries the
// requests; it must not be nil. Authorize, where it is not nil, puts a credential
// into each request, or refuses it; it sees the URL that is sent to, which is
// always URL.
type Endpoint struct {
	URL       string
	Transport http.RoundTripper
	Authorize func(*http.Request) error
}

// Dial begins a session over Streamable HTTP. The context bounds the greeting.
// Errors match ErrUnauthorized, ErrRedirected, ErrTooLarge, ErrProtocol, or those
// of the context and the transport.
func Dial(ctx context.Context, e Endpoint, opt Options) (*Client, error) {
	return greet(ctx, opt, func(ctx context.Context, protocol string) (*Client, error) {
		t := newTap()
		w := &wire{endpoint: e, tap: t, limit: opt.Limits.filled().Message}
		return opt.connect(ctx, &mcp.StreamableClientTransport{
			Endpoint:             e.URL,
			HTTPClient:           &http.Client{Transport: w},
			DisableStandaloneSSE: opt.Changed == nil,
			MaxEventSize:         -1, // the filter bounds
		}, protocol, w, t)
	})
}

// A wire is the HTTP below one session.
type wire struct {
	endpoint Endpoint
	tap      *tap
	limit    int
	killed   atomic.Bool
}

func (w *wire) ended() error { return nil }
func (w *wire) stop()        {}
func (w *wire) kill()        { w.killed.Store(true) }

// streamWait is how long a server may take to begin the stream of its notifications,
// which it need not have. The SDK waits for it without a bound.
const streamWait = 5 * time.Second

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.killed.Load() {
		return nil, context.Canceled
	}
	if req.Method == http.MethodPost && req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			raw, _ := io.ReadAll(body)
			w.tap.sent(raw)
		}
	}
	if w.endpoint.Authorize != nil {
		req = req.Clone(req.Context())
		if err := w.endpoint.Authorize(req); err != nil {
			return nil, w.tap.fail(err)
		}
	}
	if req.Method == http.MethodGet {
		return w.stream(req)
	}
	res, err := w.endpoint.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return w.judge(res)
}

// stream asks for the stream of notifications. Where none comes the answer is that
// the server has none.
func (w *wire) stream(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	late := time.AfterFunc(streamWait, cancel)
	res, err := w.endpoint.Transport.RoundTrip(req.WithContext(ctx))
	if err == nil && late.Stop() && res.StatusCode == http.StatusOK {
		res.Body = &body{Reader: res.Body, close: func() error { defer cancel(); return res.Body.Close() }}
		inner := res.Body
		res.Body = &body{Reader: w.reader(res, inner), close: inner.Close}
		return res, nil
	}
	if err == nil {
		res.Body.Close()
	}
	cancel()
	if req.Context().Err() != nil {
		return nil, req.Context().Err()
	}
	return &http.Response{
		Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}

// judge refuses what no session can go on with, and filters the rest.
func (w *wire) judge(res *http.Response) (*http.Response, error) {
	var err error
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		err = fmt.Errorf("%w: HTTP %d", ErrUnauthorized, code)
	case code >= 300 && code < 400:
		err = fmt.Errorf("%w: HTTP %d to %s", ErrRedirected, code, res.Header.Get("Location"))
	}
	if err != nil {
		res.Body.Close()
		return nil, w.tap.fail(err)
	}
	inner := res.Body
	res.Body = &body{Reader: w.reader(res, inner), close: inner.Close}
	res.ContentLength = -1
	return res, nil
}

// reader bounds a body, and shows its messages to the tap.
func (w *wire) reader(res *http.Response, r io.Reader) io.Reader {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		return newEvents(r, w.tap, w.limit)
	case "application/json":
		return &whole{wire: w, src: r}
	}
	return io.LimitReader(r, 64<<10)
}

// A whole reads a body that is one message.
type whole struct {
	wire *wire
	src  io.Reader
	out  *bytes.Reader
}

func (b *whole) Read(p []byte) (int, error) {
	if b.out == nil {
		raw, err := io.ReadAll(io.LimitReader(b.src, int64(b.wire.limit)+1))
		if err != nil {
			return 0, err
		}
		if len(raw) > b.wire.limit {
			return 0, b.wire.tap.fail(fmt.Errorf("%w: a message of more than %d bytes", ErrTooLarge, b.wire.limit))
		}
		b.out = bytes.NewReader(b.wire.tap.received(raw))
	}
	return b.out.Read(p)
}

type body struct {
	io.Reader
	close func() error
}

func (b *body) Close() error { return b.close() }
