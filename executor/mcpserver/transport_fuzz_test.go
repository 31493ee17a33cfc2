package mcpserver_test

import (
	"bytes"
	"testing"

	"executor/executor/mcpserver"
)

// Whatever lines a client sends, each line that it gets is JSON (read fails
// otherwise), a ping after them is answered, and the session ends.
func FuzzSession(f *testing.F) {
	f.Add([]byte(handshake + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ssh_exec","arguments":{}}}`))
	f.Add([]byte("{\n[\n\xff\n\"\r\n\x00"))
	f.Add([]byte(handshake + "\n" + `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":null}}`))
	f.Fuzz(func(t *testing.T, lines []byte) {
		if len(lines) > 8<<10 || bytes.Contains(lines, []byte("listen")) {
			return // a subscription parks until the end, and fills nothing else
		}
		w := newWorld(t, mcpserver.TransportOptions{MaxLine: 2048})
		close(w.release)
		w.send(string(lines))
		w.send(`{"jsonrpc":"2.0","id":"the very last","method":"ping"}`)
		answered := false
		for _, line := range w.rest() {
			answered = answered || line == `{"jsonrpc":"2.0","id":"the very last","result":{}}`
		}
		if !answered {
			t.Errorf("the last ping is not answered")
		}
		w.awaitEnd()
	})
}
