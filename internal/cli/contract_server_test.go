package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// mcpServer is an MCP server for scripts. Its tools are those of a file, and change
// when that does.
//
//	mcpserver stdio FILE
//	mcpserver http FILE ADDRESS-FILE [TOKEN]
//	mcpserver die | hang | flood       what it does when its tools are listed
func mcpServer() {
	var err error
	switch os.Args[1] {
	case "stdio":
		fmt.Fprintln(os.Stderr, "ready\x1b[2J")
		var s *mcp.Server
		if s, err = fileServer(os.Args[2]); err == nil {
			err = s.Run(context.Background(), &mcp.StdioTransport{})
		}
	case "http":
		err = serveFile(os.Args[2], os.Args[3], os.Args[4:])
	default:
		misbehave(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fileServer serves the tools of a file and follows its changes.
func fileServer(path string) (*mcp.Server, error) {
	s := mcp.NewServer(&mcp.Implementation{Name: "file", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	last, err := load(s, path, nil)
	go func() {
		for {
			time.Sleep(20 * time.Millisecond)
			last, _ = load(s, path, last)
		}
	}()
	return s, err
}

// load gives a server the tools of a file, if it is not the last one again.
func load(s *mcp.Server, path string, last []byte) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil || slices.Equal(raw, last) {
		return last, err
	}
	var list struct{ Tools []*mcp.Tool }
	if err := json.Unmarshal(raw, &list); err != nil {
		return last, err
	}
	var old struct{ Tools []*mcp.Tool }
	_ = json.Unmarshal(last, &old)
	for _, t := range list.Tools {
		s.AddTool(t, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	}
	for _, t := range old.Tools {
		if !slices.ContainsFunc(list.Tools, func(n *mcp.Tool) bool { return n.Name == t.Name }) {
			s.RemoveTools(t.Name)
		}
	}
	return raw, nil
}

func serveFile(path, addressFile string, token []string) error {
	s, err := fileServer(path)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(addressFile, []byte("http://"+l.Addr().String()+"/mcp"), 0o600); err != nil {
		return err
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(token) > 0 && r.Header.Get("Authorization") != "Bearer "+token[0] {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
}

func misbehave(how string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		switch m.Method {
		case "server/discover":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", m.ID)
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`+"\n", m.ID)
		case "tools/list":
			switch how {
			case "die":
				fmt.Fprintln(os.Stderr, "out of \x1b[31mluck")
				os.Exit(5)
			case "flood":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"%s"}]}}`+"\n", m.ID, strings.Repeat("x", 50<<20))
			case "hang":
				time.Sleep(time.Hour)
			}
		}
	}
}

// appears waits until a file has a line that matches.
func appears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: appears PATTERN FILE")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var raw []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if raw, _ = os.ReadFile(ts.MkAbs(args[1])); want.Match(raw) {
			return
		}
	}
	ts.Fatalf("no line %s in %s:\n%s", args[0], args[1], raw)
}
