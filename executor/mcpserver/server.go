// Package mcpserver speaks the Model Context Protocol with agents.
//
// It is the only server-side importer of the MCP SDK. One connection has one
// server object and one session: a peer that does not read starves nobody else,
// and what a session was served is known. The package decides nothing: every
// tools/call goes to executor.Executor as it came, byte for byte, and its reply
// goes back. The session begins with initialize, or with the first request that
// needs one; a connection that is closed before leaves no record.
//
// The transport is this package's own (see Transport): a line that is not a
// message gets a JSON-RPC error and the session lives on, and the end of input
// drains the calls in flight.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"executor/executor"
	"executor/internal/contract"
	"executor/journal"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// instructions are what a client may tell its model about this server.
const instructions = "executor runs HTTP requests, SSH commands and file operations over SSH with the operator's credentials, which you never see. " +
	"Call list_targets first. Sensitive calls wait for the operator's approval; a refusal says what was wrong and what may be done. Never send a credential yourself."

// A Server serves MCP connections from one executor. It is safe for concurrent use.
type Server struct {
	Executor *executor.Executor
	// Version is this program's own.
	Version   string
	Transport TransportOptions
	// Report is told of panics in handlers, for the operator's log.
	Report func(method string, value any, stack []byte)

	mu     sync.Mutex
	agents map[*agent]bool
}

// Refresh gives every connection the executor's current contracts. The new list
// answers before list_changed is sent, and one connection waits for no other.
func (s *Server) Refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for a := range s.agents {
		errs = append(errs, a.adopt(s.Executor.Contracts()))
	}
	return errors.Join(errs...)
}

func (s *Server) add(a *agent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agents == nil {
		s.agents = map[*agent]bool{}
	}
	s.agents[a] = true
	return a.adopt(s.Executor.Contracts())
}

func (s *Server) remove(a *agent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.agents, a)
}

// Serve speaks MCP over rwc, which it closes, until the client ends it, stop is
// closed (then calls in flight are still answered), or ctx ends. info is what is
// known of the peer; the client's own words are added to it.
func (s *Server) Serve(ctx context.Context, rwc io.ReadWriteCloser, info executor.SessionInfo, stop <-chan struct{}) error {
	a := &agent{server: s, info: info, snapshot: &contract.Snapshot{}}
	a.mcp = a.newServer()
	defer s.remove(a)
	if err := s.add(a); err != nil {
		rwc.Close()
		return err
	}
	t := NewTransport(rwc, s.Transport)
	live, err := a.mcp.Connect(ctx, t, nil)
	if err != nil {
		rwc.Close()
		return fmt.Errorf("mcp connection: %w", err)
	}
	ended := make(chan struct{})
	reason := make(chan string, 1)
	go func() {
		select {
		case <-stop:
			t.Drain()
			reason <- "executor shut down"
		case <-ctx.Done():
			t.Close()
			reason <- "executor stopped"
		case <-ended:
			reason <- "closed by the client"
		}
	}()
	err = live.Wait()
	close(ended)
	return a.end(context.WithoutCancel(ctx), <-reason, err)
}

// An agent is one connection and its session.
type agent struct {
	server *Server
	info   executor.SessionInfo
	mcp    *mcp.Server

	// list guards what tools/list answers: a list goes out with its own record.
	list     sync.RWMutex
	snapshot *contract.Snapshot

	mu      sync.Mutex
	session *executor.Session
}

func (a *agent) newServer() *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "executor", Title: "executor", Version: a.server.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	m.AddReceivingMiddleware(Recover(a.server.Report), a.middleware)
	return m
}

// adopt makes next what tools/list answers. Replacing a tool makes the new list
// visible at once; the SDK sends list_changed after it.
func (a *agent) adopt(next *contract.Snapshot) error {
	a.list.Lock()
	defer a.list.Unlock()
	var gone []string
	for _, c := range a.snapshot.Served() {
		if t, ok := next.Tool(c.Tool); !ok || t.Current == nil {
			gone = append(gone, c.Tool)
		}
	}
	for _, c := range next.Served() {
		t, _ := next.Tool(c.Tool)
		old, ok := a.snapshot.Tool(c.Tool)
		if ok && old.Current != nil && old.Current.Digest() == c.Digest() && slices.Equal(old.Accepted(), t.Accepted()) {
			continue
		}
		described, err := describe(t)
		if err != nil {
			return fmt.Errorf("tool %s: %w", c.Tool, err)
		}
		a.mcp.AddTool(described, a.call)
	}
	if len(gone) > 0 {
		a.mcp.RemoveTools(gone...)
	}
	a.snapshot = next
	return nil
}

// middleware begins the session, records what it was served, and takes calls of
// tools that the SDK does not know.
func (a *agent) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "initialize":
			res, err := next(ctx, method, req)
			if err == nil {
				err = a.initialized(ctx, req, res)
			}
			return res, err
		case "tools/list":
			a.list.RLock()
			defer a.list.RUnlock()
			res, err := next(ctx, method, req)
			if err == nil {
				err = a.served(ctx, req, res)
			}
			return res, err
		case "tools/call":
			if r, ok := req.(*mcp.CallToolRequest); ok {
				return a.called(ctx, r)
			}
		}
		return next(ctx, method, req)
	}
}

func (a *agent) initialized(ctx context.Context, req mcp.Request, res mcp.Result) error {
	p, ok := req.GetParams().(*mcp.InitializeParams)
	r, ok2 := res.(*mcp.InitializeResult)
	if !ok || !ok2 {
		return fmt.Errorf("initialize: unexpected %T and %T", req.GetParams(), res)
	}
	client := journal.Client{Protocol: r.ProtocolVersion}
	if p.ClientInfo != nil {
		client.Name, client.Version = p.ClientInfo.Name, p.ClientInfo.Version
	}
	_, err := a.begin(ctx, client)
	return err
}

// begin starts the session, once.
func (a *agent) begin(ctx context.Context, client journal.Client) (*executor.Session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != nil {
		return a.session, nil
	}
	a.info.Client = client
	s, err := a.server.Executor.Begin(ctx, a.info)
	a.session = s
	return s, err
}

// served writes down which list went out, and marks the list with it.
func (a *agent) served(ctx context.Context, req mcp.Request, res mcp.Result) error {
	s, err := a.begin(ctx, claimedClient(req))
	if err != nil {
		return err
	}
	if err := a.server.Executor.Served(ctx, s, a.snapshot); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the journal is unavailable: a list that cannot be written down is not served"}
	}
	if list, ok := res.(*mcp.ListToolsResult); ok {
		list.Meta = mcp.Meta{contract.MetaKey: map[string]any{"digest": a.snapshot.Digest()}}
	}
	return nil
}

// called takes a call, whatever list the SDK knows: a tool that is gone still
// answers. A name that no tool ever had is recorded, and is a protocol error (MCP,
// "Tools", Error Handling).
func (a *agent) called(ctx context.Context, r *mcp.CallToolRequest) (mcp.Result, error) {
	res, err := a.call(ctx, r)
	if err != nil {
		return nil, err
	}
	if _, known := a.server.Executor.Contracts().Tool(r.Params.Name); known {
		return res, nil
	}
	message := "unknown tool"
	if text, ok := res.Content[0].(*mcp.TextContent); ok {
		message = text.Text
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

func (a *agent) end(ctx context.Context, reason string, cause error) error {
	a.mu.Lock()
	s := a.session
	a.mu.Unlock()
	if s == nil {
		return cause
	}
	if err := a.server.Executor.End(ctx, s, reason); err != nil {
		return fmt.Errorf("session %s: %w", s.ID(), err)
	}
	return cause
}
