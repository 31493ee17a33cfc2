package mcpclient_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"executor/internal/mcpclient"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// roleVariable makes the test's own binary a server.
const roleVariable = "MCPCLIENT_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	switch {
	case role == "":
		os.Exit(m.Run())
	case role == "sdk":
		serveSDK()
	default:
		fmt.Fprintln(os.Stderr, "a server that is", role)
		if role == "chatty" {
			fmt.Print("Welcome!\n\n  listening on stdio\n")
		}
		serveLines(&script{role: role})
	}
}

func command(role string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0"}
		return cmd
	}
}

var options = mcpclient.Options{Name: "test", Version: "1"}

func run(t *testing.T, role string, opt mcpclient.Options) *mcpclient.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	c, err := mcpclient.Run(ctx, command(role), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func dial(t *testing.T, url string, opt mcpclient.Options) *mcpclient.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	c, err := mcpclient.Dial(ctx, mcpclient.Endpoint{URL: url, Transport: http.DefaultTransport}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func list(t *testing.T, c *mcpclient.Client) (mcpclient.Listing, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	return c.List(ctx)
}

func names(l mcpclient.Listing) string {
	var out []string
	for _, raw := range l.Tools {
		var t struct{ Name string }
		if err := json.Unmarshal(raw, &t); err != nil {
			return err.Error()
		}
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

// sdkServer is a server of the SDK's, with one tool.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "2"}, &mcp.ServerOptions{Instructions: "Be kind.", PageSize: 1})
	add(s, "alpha", `{"type":"object"}`)
	return s
}

func add(s *mcp.Server, name, schema string) {
	s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
}

// serveSDK adds a tool when it gets a line "beta" in the file named by SIGNAL.
func serveSDK() {
	s := sdkServer()
	if path := os.Getenv("SIGNAL"); path != "" {
		go func() {
			for {
				if _, err := os.Stat(path); err == nil {
					add(s, "beta", `{"type":"object"}`)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// A script is a server written by hand: it says what no library would.
type script struct {
	role  string
	lists atomic.Int32 // tools/list requests so far
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor string `json:"cursor"`
	} `json:"params"`
}

func result(id json.RawMessage, format string, args ...any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, fmt.Sprintf(format, args...))
}

func refusal(id json.RawMessage, code int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text)
}

// answer returns the messages that answer a request, one a line.
func (s *script) answer(r request) string {
	switch r.Method {
	case "server/discover":
		switch s.role {
		case "deaf":
			return ""
		case "brittle":
			os.Exit(7)
		}
		return refusal(r.ID, -32601, "no such method")
	case "initialize":
		switch s.role {
		case "mute":
			return ""
		case "stillborn":
			os.Exit(3)
		}
		return result(r.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"later":{"x":1.50}},"serverInfo":{"name":"script","version":"1"},"instructions":"Read <this>."}`)
	case "tools/list":
		return s.list(r, int(s.lists.Add(1)))
	}
	return ""
}

func (s *script) list(r request, n int) string {
	switch s.role {
	case "hang":
		return ""
	case "die":
		os.Exit(9)
	case "huge":
		return result(r.ID, `{"tools":[{"name":"a","description":"%s"}]}`, strings.Repeat("x", 50<<20))
	case "endless":
		return result(r.ID, `{"tools":[{"name":"t%d","description":"%s"}],"nextCursor":"%[1]d"}`, n, strings.Repeat("x", 100<<10))
	case "circle":
		return result(r.ID, `{"tools":[],"nextCursor":"again"}`)
	case "none":
		return result(r.ID, `{}`)
	case "deep", "abyss":
		depth := map[string]int{"deep": 9000, "abyss": 20000}[s.role]
		return result(r.ID, `{"tools":[{"name":"a","inputSchema":%s1%s}]}`, strings.Repeat(`{"not":`, depth), strings.Repeat("}", depth))
	case "pages", "restless", "expired", "noticed":
		return s.page(r, n)
	}
	return result(r.ID, "%s", faithful)
}

// faithful is a list that a library would not give back as it is.
const faithful = `{"tools":[{"zeta":{"n":12345678901234567890.10,"e":1E+2},"name":"exact","inputSchema":{"type":"object","required":["b","a"],"properties":{"b":{"maximum":9007199254740993},"a":{"x-mcp-header":"bad name"}}},"annotations":"odd"}],"extra":true}`

// page is a list of three pages that changes between the second and the third: the
// list was a b c d e f, and then c is gone and every tool moves up.
func (s *script) page(r request, n int) string {
	old, young := []string{"a", "b", "c", "d", "e", "f"}, []string{"a", "b", "d", "e", "f", "g"}
	tools := old
	if n > 2 && s.role != "noticed" || n > 9 {
		tools = young
	}
	if s.role == "restless" {
		tools = append([]string{"n" + strconv.Itoa(n)}, tools...)
	}
	at, _ := strconv.Atoi(r.Params.Cursor)
	if s.role == "expired" && n == 3 {
		return refusal(r.ID, -32602, "unknown cursor")
	}
	var items []string
	for _, t := range tools[at : at+2] {
		items = append(items, fmt.Sprintf(`{"name":%q}`, t))
	}
	next := ""
	if at < 4 {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, at+2)
	}
	out := result(r.ID, `{"tools":[%s]%s}`, strings.Join(items, ","), next)
	if s.role == "noticed" && n <= 9 { // two readings agree, and neither counts
		out = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" + out
	}
	return out
}

// serveLines speaks the script over stdio.
func serveLines(s *script) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r request
		if json.Unmarshal(in.Bytes(), &r) != nil {
			continue
		}
		if out := s.answer(r); out != "" {
			fmt.Println(out)
		}
	}
	if s.role == "stubborn" || s.role == "hang" {
		select {} // the end of its input does not end it
	}
}

// flood sends one message that does not end.
func flood(w http.ResponseWriter, events bool) {
	w.Header().Set("Content-Type", "application/json")
	if events {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: ")
	}
	for part := strings.Repeat("x", 1<<20); ; {
		if _, err := fmt.Fprint(w, part); err != nil {
			return
		}
	}
}

// serveHTTP speaks the script over Streamable HTTP, as JSON or as events.
func serveHTTP(t *testing.T, role string, events bool) *httptest.Server {
	s := &script{role: role}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodPost {
			http.Error(w, "no stream here", http.StatusMethodNotAllowed)
			return
		}
		var r request
		if err := json.NewDecoder(req.Body).Decode(&r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if s.role == "flood" && r.Method == "tools/list" {
			flood(w, events)
			return
		}
		out := s.answer(r)
		if out == "" {
			<-req.Context().Done()
			return
		}
		if !events {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, out)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, ": a remark\r\n\r\n")
		for line := range strings.SplitSeq(out, "\n") {
			var spread bytes.Buffer
			if json.Indent(&spread, []byte(line), "", " ") == nil && len(line) < 10000 {
				line = strings.ReplaceAll(spread.String(), "\n", "\ndata: ")
			}
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}
