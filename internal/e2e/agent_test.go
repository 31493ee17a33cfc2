package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// An agent is a subprocess "executor mcp" and what was said on its pipes.
type agent struct {
	*process
	in         io.WriteCloser
	transcript *capture
	stderr     *capture

	mu       sync.Mutex
	next     int
	messages []message
	ended    bool // end of its stdout
}

// A message is one line that the agent read.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	at time.Time
}

// bare is the environment that MCP clients start servers with.
func (w *world) bare() []string {
	env := []string{"HOME=" + w.dir, "LOGNAME=agent", "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "TERM=xterm", "USER=agent"}
	return append(env, w.race()...)
}

// mcp starts "executor mcp" and says nothing yet.
func (w *world) mcp() *agent {
	w.Helper()
	return w.startMCP(func(*exec.Cmd) {})
}

func (w *world) startMCP(with func(*exec.Cmd)) *agent {
	w.Helper()
	a, out := w.mcpUnread(with)
	go a.read(out)
	return a
}

// mcpUnread leaves its stdout unread.
func (w *world) mcpUnread(with func(*exec.Cmd)) (*agent, io.Reader) {
	w.Helper()
	cmd := exec.Command(binary, "mcp", "--home", w.home)
	cmd.Env, cmd.Dir = w.bare(), w.dir
	with(cmd)
	a := &agent{transcript: w.capture("what an agent read"), stderr: w.capture("stderr of mcp")}
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it before everything was read.
	out, write, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, a.stderr
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	write.Close()
	a.in = in
	w.Cleanup(func() { out.Close() })
	a.process = w.follow("mcp", cmd, func(p *process) { in.Close() })
	return a, out
}

// read takes lines. Whatever is no JSON-RPC object on a line of its own fails the test.
func (a *agent) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		a.transcript.Write(line)
		if len(line) > 0 {
			a.take(line)
		}
		if err != nil {
			a.mu.Lock()
			a.ended = true
			a.mu.Unlock()
			return
		}
	}
}

func (a *agent) take(line []byte) {
	var m message
	var envelope struct{ JSONRPC string }
	if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &m) != nil || json.Unmarshal(line, &envelope) != nil || envelope.JSONRPC != "2.0" {
		a.w.Errorf("stdout of mcp carries what is no JSON-RPC line: %.300q", line)
		return
	}
	m.at = time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.messages = append(a.messages, m)
}

// line sends one raw line.
func (a *agent) line(text string) {
	a.w.Helper()
	if _, err := io.WriteString(a.in, text+"\n"); err != nil {
		a.w.Errorf("writing to mcp: %v", err)
	}
}

// send sends a request and returns its id.
func (a *agent) send(method string, params any) string {
	a.w.Helper()
	a.mu.Lock()
	a.next++
	id := fmt.Sprint(a.next)
	a.mu.Unlock()
	body, err := json.Marshal(params)
	if err != nil {
		a.w.Fatal(err)
	}
	if params == nil {
		body = []byte("{}")
	}
	a.line(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + string(body) + `}`)
	return id
}

func (a *agent) notify(method, params string) {
	a.line(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
}

func (a *agent) cancel(id string) {
	a.notify("notifications/cancelled", `{"requestId":`+id+`,"reason":"user"}`)
}

// all returns the messages that ok selects.
func (a *agent) all(ok func(message) bool) (out []message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.messages {
		if ok(m) {
			out = append(out, m)
		}
	}
	return out
}

func (a *agent) replies(id string) []message {
	return a.all(func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// reply waits for the reply to the raw id.
func (a *agent) reply(id string) message {
	a.w.Helper()
	poll(a.w, "a reply to "+id+" (stderr: "+a.stderr.String()+")", func() bool { return len(a.replies(id)) > 0 })
	return a.replies(id)[0]
}

// request sends and waits.
func (a *agent) request(method string, params any) message {
	a.w.Helper()
	return a.reply(a.send(method, params))
}

// agent starts an initialized agent.
func (w *world) agent() *agent {
	w.Helper()
	a := w.mcp()
	m := a.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "e2e", "version": "1"},
	})
	if m.Error != nil {
		w.Fatalf("initialize: %+v", m.Error)
	}
	a.notify("notifications/initialized", "{}")
	return a
}

// A pending call was sent and not answered yet.
type pending struct {
	a  *agent
	id string
}

// args are the arguments of a call.
type args = map[string]any

// begin sends a call.
func (a *agent) begin(tool string, arguments any) pending {
	a.w.Helper()
	return pending{a, a.send("tools/call", args{"name": tool, "arguments": arguments})}
}

// A result is a tool's answer.
type result struct {
	Text string
	// Fields is its structuredContent.
	Fields  map[string]any
	IsError bool
	at      time.Time
}

// wait waits for the answer of a call.
func (p pending) wait() result {
	p.a.w.Helper()
	m := p.a.reply(p.id)
	if m.Error != nil {
		p.a.w.Fatalf("call %s: protocol error %+v", p.id, m.Error)
	}
	var r struct {
		Content           []struct{ Text string }
		StructuredContent map[string]any
		IsError           bool
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Content) == 0 {
		p.a.w.Fatalf("call %s: %v in %s", p.id, err, m.Result)
	}
	return result{r.Content[0].Text, r.StructuredContent, r.IsError, m.at}
}

// open says that the call is not answered yet.
func (p pending) open() bool { return len(p.a.replies(p.id)) == 0 }

func (a *agent) get(url string) pending {
	a.w.Helper()
	return a.begin("http_request", args{"method": "GET", "url": url})
}

func (a *agent) ssh(host, command string) pending {
	a.w.Helper()
	return a.begin("ssh_exec", args{"host": host, "command": command})
}

// succeeds fails the test unless the call was carried out.
func (p pending) succeeds() result {
	p.a.w.Helper()
	r := p.wait()
	if r.IsError {
		p.a.w.Fatalf("call %s: %s", p.id, r.Text)
	}
	return r
}

// refused fails the test unless the call ended with the code, with all of the
// words in its text.
func (p pending) refused(code string, words ...string) result {
	p.a.w.Helper()
	r := p.wait()
	if !r.IsError || r.Fields["error_code"] != code {
		p.a.w.Fatalf("call %s: error %v, want %s: %s", p.id, r.Fields["error_code"], code, r.Text)
	}
	for _, word := range words {
		if !strings.Contains(r.Text, word) {
			p.a.w.Errorf("call %s: the text lacks %q: %s", p.id, word, r.Text)
		}
	}
	return r
}
