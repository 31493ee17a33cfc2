package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"executor/executor/mcpserver"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what should come at once.
const patience = 20 * time.Second

// A world is one client connection, by hand, to a real server of the SDK that
// has four toys: ssh_exec answers with its arguments as they came, wait parks
// until its context ends or release is closed, rows writes 300 KB, and explode
// panics.
type world struct {
	t       *testing.T
	conn    *net.UnixConn // the client's end
	lines   *bufio.Reader
	tr      *mcpserver.Transport
	session *mcp.ServerSession
	started chan string   // the label of each wait that has begun
	release chan struct{} // lets each wait return a success
	causes  chan error    // why each wait was cancelled
	panics  chan string
}

func newWorld(t *testing.T, opt mcpserver.TransportOptions) *world {
	t.Helper()
	client, server := socketPair(t)
	w := &world{
		t: t, conn: client, lines: bufio.NewReaderSize(client, 64<<10),
		tr:      mcpserver.NewTransport(server, opt),
		started: make(chan string, 64), release: make(chan struct{}),
		causes: make(chan error, 64), panics: make(chan string, 8),
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "toy", Version: "1"}, nil)
	s.AddReceivingMiddleware(mcpserver.Recover(func(method string, value any, stack []byte) {
		w.panics <- fmt.Sprintf("%s: %v\n%s", method, value, stack)
	}))
	for name, h := range map[string]mcp.ToolHandler{"ssh_exec": echo, "wait": w.wait, "rows": rows, "explode": explode} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
	session, err := s.Connect(t.Context(), w.tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.session = session
	t.Cleanup(func() {
		client.Close()
		server.Close()
		session.Wait()
	})
	return w
}

func socketPair(t *testing.T) (client, server *net.UnixConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "line")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	addr := &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"}
	l, err := net.ListenUnix("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.DialUnix("unix", nil, addr); err != nil {
		t.Fatal(err)
	}
	if server, err = l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func echo(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return text(string(req.Params.Arguments)), nil
}

func rows(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Row string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	return text(strings.Repeat(in.Row+"\n", 300_000/(len(in.Row)+1))), nil
}

func explode(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	panic("the fuse burned down")
}

func (w *world) wait(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	w.started <- string(req.Params.Arguments)
	select {
	case <-w.release:
		return text("released"), nil
	case <-ctx.Done():
		w.causes <- context.Cause(ctx)
		return text("a success that must not be seen"), nil
	}
}

const handshake = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"case","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}`

// shakeHands brings the session to where tools can be called.
func (w *world) shakeHands() {
	w.t.Helper()
	w.send(handshake)
	if got := w.read(); !strings.Contains(got, `"id":"hello"`) {
		w.t.Fatalf("handshake: %s", got)
	}
}

func (w *world) send(lines string) {
	w.t.Helper()
	w.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(w.conn, lines+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// read returns the next line, or "" at the end.
func (w *world) read() string {
	w.t.Helper()
	w.conn.SetReadDeadline(time.Now().Add(patience))
	line, err := w.lines.ReadString('\n')
	if err != nil && !(errors.Is(err, io.EOF) && line == "") {
		w.t.Fatalf("reading: %v after %.200q", err, line)
	}
	if line != "" && !json.Valid([]byte(line)) {
		w.t.Fatalf("not JSON: %.200q", line)
	}
	return strings.TrimSuffix(line, "\n")
}

func (w *world) closeInput() {
	w.t.Helper()
	if err := w.conn.CloseWrite(); err != nil {
		w.t.Fatal(err)
	}
}

// rest closes the input and returns all lines that follow.
func (w *world) rest() []string {
	w.t.Helper()
	w.closeInput()
	var all []string
	for line := w.read(); line != ""; line = w.read() {
		all = append(all, line)
	}
	return all
}

func (w *world) awaitStart(n int) {
	w.t.Helper()
	for range n {
		select {
		case <-w.started:
		case <-time.After(patience):
			w.t.Fatal("no handler started")
		}
	}
}

func (w *world) cause() error {
	w.t.Helper()
	select {
	case err := <-w.causes:
		return err
	case <-time.After(patience):
		w.t.Fatal("the handler was not cancelled")
		return nil
	}
}

// awaitEnd waits until the server has ended the session.
func (w *world) awaitEnd() error {
	w.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- w.session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		w.t.Fatal("the session did not end")
		return nil
	}
}

// decode keeps the digits of numbers.
func decode(t *testing.T, line string) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(line)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return v
}

func toolText(t *testing.T, line string) (id, content string) {
	t.Helper()
	var r struct {
		ID     json.RawMessage
		Result struct{ Content []struct{ Text string } }
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Error != nil || len(r.Result.Content) != 1 {
		t.Fatalf("not a tool result: %.300s", line)
	}
	return string(r.ID), r.Result.Content[0].Text
}
