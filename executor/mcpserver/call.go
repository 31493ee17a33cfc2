package mcpserver

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"executor/executor"
	"executor/internal/contract"
	"executor/journal"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call hands one tools/call to the executor and gives its reply back.
func (a *agent) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s, err := a.begin(ctx, claimedClient(req))
	if err != nil {
		return nil, err
	}
	claim, err := claimOf(req.Params.Meta)
	if err != nil {
		return nil, err
	}
	_, stateless := req.Params.Meta[mcp.MetaKeyProtocolVersion]
	reply := a.server.Executor.Call(ctx, s, executor.Call{
		Tool: req.Params.Name, Arguments: req.Params.Arguments, Claim: claim,
		Stateless: stateless, Progress: progress(ctx, req),
	})
	res := &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: reply.Text}},
		StructuredContent: reply.Structured,
		IsError:           reply.IsError,
	}
	if reply.Revision > 0 {
		res.Meta = mcp.Meta{contract.MetaKey: contract.Claim{Revision: reply.Revision, Digest: reply.Digest}}
	}
	return res, nil
}

func claimOf(meta mcp.Meta) (json.RawMessage, error) {
	v, ok := meta[contract.MetaKey]
	if !ok {
		return nil, nil
	}
	return json.Marshal(v)
}

// progress notifies a client that asked for it (MCP, "Progress"). A notification
// that cannot be sent is dropped: the reply tells.
func progress(ctx context.Context, req *mcp.CallToolRequest) func(string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var n atomic.Int64
	return func(message string) {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(n.Add(1)), Message: message,
		})
	}
}

// claimedClient is what a request says of its client, for one that did not initialize.
func claimedClient(req mcp.Request) journal.Client {
	var c journal.Client
	p := req.GetParams()
	if p == nil {
		return c
	}
	meta := p.GetMeta()
	c.Protocol, _ = meta[mcp.MetaKeyProtocolVersion].(string)
	if info, ok := meta[mcp.MetaKeyClientInfo].(map[string]any); ok {
		c.Name, _ = info["name"].(string)
		c.Version, _ = info["version"].(string)
	}
	return c
}

// describe is a tool as tools/list shows it.
func describe(t *contract.Tool) (*mcp.Tool, error) {
	c := t.Current
	input, err := c.ServedInput()
	if err != nil {
		return nil, err
	}
	destructive, openWorld := c.Annotations.Destructive, c.Annotations.OpenWorld
	return &mcp.Tool{
		Meta: mcp.Meta{contract.MetaKey: contract.Claim{
			Revision: c.Revision, Digest: c.Digest(), Accepts: t.Accepted(),
		}},
		Name: c.Tool, Title: c.Title, Description: c.Description,
		InputSchema: input, OutputSchema: c.Output,
		Annotations: &mcp.ToolAnnotations{
			Title: c.Title, ReadOnlyHint: c.Annotations.ReadOnly, IdempotentHint: c.Annotations.Idempotent,
			DestructiveHint: &destructive, OpenWorldHint: &openWorld,
		},
	}, nil
}
