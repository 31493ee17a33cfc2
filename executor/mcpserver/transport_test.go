package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"executor/executor/mcpserver"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const callWait = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"wait","arguments":{}}}`

func ping(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }

func pong(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }

func TestConnectOnce(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	if _, err := w.tr.Connect(t.Context()); err == nil {
		t.Error("a transport was connected twice")
	}
}

func TestBigArgument(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	w.shakeHands()
	big := `{"body":"` + strings.Repeat("x", 5<<20) + `"}`
	go io.WriteString(w.conn, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ssh_exec","arguments":`+big+"}}\n"+ping(2)+"\n")
	var echoed, ponged bool
	for range 2 {
		line := w.read()
		if line == pong(2) {
			ponged = true
			continue
		}
		id, content := toolText(t, line)
		echoed = id == "1" && content == big
	}
	if !echoed || !ponged {
		t.Errorf("echoed %v, ping answered %v", echoed, ponged)
	}
}

func TestLineLimitIsExact(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{MaxLine: 100})
	line := func(id, size int) string {
		head, tail := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping","x":"`, id), `"}`
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
	}
	w.send(line(1, 100) + "\n" + line(2, 100) + "\r\n" + line(3, 101) + "\n" + line(4, 101) + "\r\n" + line(5, 100))
	const tooLong = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line exceeds the limit of 100 bytes"}}`
	compare(t, w.rest(), []string{pong(1), pong(2), tooLong, tooLong, pong(5)})
}

func TestLastLineNeedsNoNewline(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	w.send(ping(1))
	if _, err := io.WriteString(w.conn, ping(2)); err != nil {
		t.Fatal(err)
	}
	compare(t, w.rest(), []string{pong(1), pong(2)})
}

func TestSixteenBigRepliesToASlowReader(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	w.shakeHands()
	for i := range 16 {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"rows","arguments":{"Row":"row-%02d"}}}`, 100+i, i))
	}
	// 4 KiB at a time: each reply is written in many parts.
	w.lines.Reset(slowConn{w.conn})
	seen := map[string]bool{}
	for range 16 {
		id, content := toolText(t, w.read())
		if seen[id] {
			t.Errorf("id %s twice", id)
		}
		seen[id] = true
		var n int
		fmt.Sscan(id, &n)
		row := fmt.Sprintf("row-%02d\n", n-100)
		if content != strings.Repeat(row, 300_000/len(row)) {
			t.Errorf("id %s has %d bytes that begin %.20q", id, len(content), content)
		}
	}
}

func TestDuplicateIDInFlight(t *testing.T) {
	for _, id := range []string{"5", `"a"`, "9007199254740993", `""`} {
		w := newWorld(t, mcpserver.TransportOptions{})
		w.shakeHands()
		w.send(fmt.Sprintf(callWait, id))
		w.awaitStart(1)
		w.send(fmt.Sprintf(callWait, id))
		compare(t, []string{w.read()}, []string{`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"id already in use"}}`})
		close(w.release)
		if got, content := toolText(t, w.read()); got != id || content != "released" {
			t.Errorf("the first call: id %s, %q", got, content)
		}
		// Once answered, the id is free.
		w.send(fmt.Sprintf(callWait, id))
		if got, content := toolText(t, w.read()); got != id || content != "released" {
			t.Errorf("the third call: id %s, %q", got, content)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, id := range []string{"1", `"one"`, "9007199254740993"} {
		w := newWorld(t, mcpserver.TransportOptions{})
		w.shakeHands()
		w.send(fmt.Sprintf(callWait, id))
		w.awaitStart(1)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}`)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"user"}}`)
		if err := w.cause(); !errors.Is(err, context.Canceled) {
			t.Errorf("cause %v", err)
		}
		w.send(ping(2))
		compare(t, w.rest(), []string{pong(2)})
	}
}

func TestCancelBeforeTheHandlerStarts(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	w.send(handshake + "\n" + fmt.Sprintf(callWait, "1") + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n" + ping(2))
	var got []string
	for _, line := range w.rest() {
		if !strings.Contains(line, `"id":"hello"`) {
			got = append(got, line)
		}
	}
	compare(t, got, []string{pong(2)})
}

func TestEndOfInputDrains(t *testing.T) {
	c := newClock(t)
	w := newWorld(t, mcpserver.TransportOptions{DrainLimit: 7 * time.Second, AfterFunc: c.after})
	w.shakeHands()
	w.send(fmt.Sprintf(callWait, "1") + "\n" + fmt.Sprintf(callWait, "2"))
	w.awaitStart(2)
	w.closeInput()
	c.armed(7 * time.Second)
	select {
	case err := <-w.causes:
		t.Fatalf("cancelled at the end of input: %v", err)
	default:
	}
	close(w.release)
	ids := map[string]bool{}
	for range 2 {
		id, content := toolText(t, w.read())
		ids[id] = content == "released"
	}
	if !ids["1"] || !ids["2"] {
		t.Errorf("answered: %v", ids)
	}
	if line := w.read(); line != "" {
		t.Errorf("after the last reply: %s", line)
	}
	if err := w.awaitEnd(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestDrainLimit(t *testing.T) {
	c := newClock(t)
	w := newWorld(t, mcpserver.TransportOptions{DrainLimit: 7 * time.Second, AfterFunc: c.after})
	w.shakeHands()
	w.send(fmt.Sprintf(callWait, "1"))
	w.awaitStart(1)
	w.closeInput()
	c.pass(7 * time.Second)
	if err := w.cause(); !errors.Is(err, mcpserver.ErrDrainLimit) || !errors.Is(err, io.EOF) {
		t.Errorf("cause %v", err)
	}
	if line := w.read(); line != "" {
		t.Errorf("after the limit: %s", line)
	}
	if err := w.awaitEnd(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestSubscriptionIsNotWaitedFor(t *testing.T) {
	c := newClock(t)
	w := newWorld(t, mcpserver.TransportOptions{AfterFunc: c.after})
	w.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if got := w.read(); !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":1`) {
		t.Fatalf("acknowledged by %s", got)
	}
	w.closeInput()
	if err := w.awaitEnd(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestDrainFromThisSide(t *testing.T) {
	c := newClock(t)
	w := newWorld(t, mcpserver.TransportOptions{AfterFunc: c.after})
	w.shakeHands()
	w.send(fmt.Sprintf(callWait, "1"))
	w.awaitStart(1)
	w.tr.Drain()
	w.tr.Drain()
	c.armed(mcpserver.DefaultDrainLimit)
	w.send(ping(2))
	close(w.release)
	if id, content := toolText(t, w.read()); id != "1" || content != "released" {
		t.Errorf("id %s, %q", id, content)
	}
	if err := w.awaitEnd(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestCloseCancels(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	w.shakeHands()
	w.send(fmt.Sprintf(callWait, "1"))
	w.awaitStart(1)
	if err := w.tr.Close(); err != nil {
		t.Error(err)
	}
	if err := w.cause(); !errors.Is(err, io.EOF) {
		t.Errorf("cause %v", err)
	}
	if line := w.read(); line != "" {
		t.Errorf("after the end: %s", line)
	}
	if err := w.awaitEnd(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestPeerThatDoesNotRead(t *testing.T) {
	c := newClock(t)
	w := newWorld(t, mcpserver.TransportOptions{WriteTimeout: time.Minute, AfterFunc: c.after})
	w.shakeHands()
	w.send(fmt.Sprintf(callWait, "1"))
	w.awaitStart(1)
	for i := range 8 {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"rows","arguments":{"Row":"x"}}}`, 100+i))
	}
	// Every chunk has a timer; the one that stays is the one that is stuck.
	c.await(func() bool {
		c.mu.Lock()
		before := len(c.timers)
		c.mu.Unlock()
		time.Sleep(50 * time.Millisecond)
		c.mu.Lock()
		defer c.mu.Unlock()
		return before == 1 && len(c.timers) == 1
	})
	c.pass(time.Minute)
	if err := w.awaitEnd(); !errors.Is(err, mcpserver.ErrPeerNotReading) {
		t.Errorf("ended with %v", err)
	}
	if w.cause() == nil {
		t.Error("a handler had no cause")
	}
}

func TestDrainLimitWithAPeerThatDoesNotRead(t *testing.T) {
	c := newClock(t)
	w := newWorld(t, mcpserver.TransportOptions{AfterFunc: c.after})
	w.shakeHands()
	for i := range 8 {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"rows","arguments":{"Row":"x"}}}`, 100+i))
	}
	w.closeInput()
	c.pass(mcpserver.DefaultDrainLimit)
	w.awaitEnd()
}

func TestTooMuchInFlight(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{MaxInFlight: 16 << 10})
	w.shakeHands()
	for i := 1; i <= 3; i++ {
		w.send(fmt.Sprintf(callWait, fmt.Sprint(i)))
		w.awaitStart(1)
	}
	w.send(fmt.Sprintf(callWait, "4"))
	compare(t, []string{w.read()}, []string{`{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"*"}}`})
	// Cancelling makes room as soon as the handlers have returned.
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	w.cause()
	close(w.release)
	for range 2 {
		toolText(t, w.read())
	}
	// A single call may exceed the limit.
	w.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ssh_exec","arguments":{"x":"` + strings.Repeat("x", 20<<10) + `"}}}`)
	if id, _ := toolText(t, w.read()); id != "5" {
		t.Errorf("id %s", id)
	}
}

func TestPeerThatVanishes(t *testing.T) {
	c := newClock(t)
	w := newWorld(t, mcpserver.TransportOptions{AfterFunc: c.after})
	w.shakeHands()
	w.send(fmt.Sprintf(callWait, "1"))
	w.awaitStart(1)
	w.conn.Close()
	c.pass(mcpserver.DefaultDrainLimit)
	w.cause()
	w.awaitEnd()
}

func TestPanicIsReported(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	w.shakeHands()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"explode"}}`)
	if got := w.read(); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}` {
		t.Errorf("got %s", got)
	}
	report := <-w.panics
	if !strings.HasPrefix(report, "tools/call: the fuse burned down\n") || !strings.Contains(report, "explode") {
		t.Errorf("reported %s", report)
	}
}

func TestServerSpeaksFirst(t *testing.T) {
	w := newWorld(t, mcpserver.TransportOptions{})
	w.shakeHands()
	answered := make(chan error, 1)
	go func() { answered <- w.session.Ping(context.Background(), &mcp.PingParams{}) }()
	if got := w.read(); got != `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}` {
		t.Fatalf("got %s", got)
	}
	w.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// slowConn takes 4 KiB at a time.
type slowConn struct{ r io.Reader }

func (s slowConn) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.r.Read(p[:min(len(p), 4<<10)])
}
