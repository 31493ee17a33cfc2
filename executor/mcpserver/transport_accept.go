package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// accept judges one line. It returns nil and nil for one that is dealt with.
func (c *lineConn) accept(ctx context.Context, f frame) (jsonrpc.Message, error) {
	if f.tooLong {
		text := fmt.Sprintf("the line exceeds the limit of %d bytes", c.opt.MaxLine)
		return nil, c.refuse(ctx, &fault{code: CodeInvalidRequest, text: text})
	}
	e, wrong := parseEnvelope(f.line)
	if wrong != nil {
		if e.kind == kindNotification {
			return nil, nil
		}
		return nil, c.refuse(ctx, wrong)
	}
	switch {
	case e.kind == kindResponse:
		return response(e), nil
	case e.method == methodCancelled && e.kind == kindNotification:
		return c.cancelled(e), nil
	case e.kind == kindNotification:
		return &jsonrpc.Request{Method: e.method, Params: e.params}, nil
	case e.method == methodPing && !stateless(e):
		return nil, c.pong(ctx, e)
	}
	admitted, wrong := c.calls.admit(e, len(f.line))
	if wrong != nil {
		return nil, c.refuse(ctx, wrong)
	}
	return &jsonrpc.Request{ID: admitted.id, Method: e.method, Params: e.params}, nil
}

// stateless reports whether a request names its protocol version itself (MCP
// 2026-07-28, which has no ping).
func stateless(e envelope) bool {
	if e.params == nil {
		return false
	}
	params, err := readMembers(e.params)
	if err != nil {
		return false
	}
	raw, _ := params.get("_meta")
	meta, err := readMembers(raw)
	if err != nil {
		return false
	}
	_, ok := meta.get(mcp.MetaKeyProtocolVersion)
	return ok
}

// pong answers a ping on the spot, also before initialize: it is never in flight,
// so its id may be used again by the next line.
func (c *lineConn) pong(ctx context.Context, e envelope) error {
	if c.calls.inUse(e.id) {
		return c.refuse(ctx, inUse(e))
	}
	line, err := encodeReply(e.id, json.RawMessage("{}"), nil)
	if err != nil {
		return err
	}
	return c.out.write(ctx, line)
}

func (c *lineConn) refuse(ctx context.Context, f *fault) error {
	line, err := encodeFault(f)
	if err != nil {
		return err
	}
	return c.out.write(ctx, line)
}

// cancelled puts the SDK's id in the place of the client's.
func (c *lineConn) cancelled(e envelope) jsonrpc.Message {
	if e.params == nil {
		return nil
	}
	params, err := readMembers(e.params)
	if err != nil {
		return nil
	}
	raw, _ := params.get("requestId")
	w, ok := parseID(raw)
	if !ok {
		return nil
	}
	id, ok := c.calls.cancel(w)
	if !ok {
		return nil
	}
	reason, _ := params.text("reason")
	rewritten, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": reason})
	if err != nil {
		return nil
	}
	return &jsonrpc.Request{Method: e.method, Params: rewritten}
}

// response passes on an answer of the client, or nil for one that answers
// nothing that the SDK can have asked.
func response(e envelope) jsonrpc.Message {
	id, ok := exactID(e.id)
	if !ok {
		return nil
	}
	r := &jsonrpc.Response{ID: id, Result: e.result}
	if e.err != nil {
		problem := &jsonrpc.Error{}
		if json.Unmarshal(e.err, problem) != nil {
			problem = &jsonrpc.Error{Code: CodeInternal, Message: "malformed error object"}
		}
		r.Error = problem
	}
	return r
}
