package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// listing is an agent that lists the tools of the serve and stays connected until
// the script ends.
func listing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: listing NAME")
	}
	conn, err := net.DialTimeout("unix", filepath.Join(ts.Getenv("DIR"), "agent.sock"), 10*time.Second)
	ts.Check(err)
	ts.Defer(func() { conn.Close() })
	ts.Check(conn.SetDeadline(time.Now().Add(30 * time.Second)))
	_, err = io.WriteString(conn, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
`, args[0]))
	ts.Check(err)
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		ts.Check(err)
		if strings.Contains(line, `"id":2`) {
			return
		}
	}
}
