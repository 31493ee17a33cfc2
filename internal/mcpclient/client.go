package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Client is one session with one server. It is safe for concurrent use. Whoever
// started it closes it.
type Client struct {
	session *mcp.ClientSession
	link    link
	tap     *tap
	limits  Limits
	listing sync.Mutex // one list at a time: the tap keeps one answer
}

// Start runs a server's command and speaks MCP with it over stdio. The command
// gets what cmd says and no more; name and version are what this client calls itself.
func Start(ctx context.Context, cmd *exec.Cmd, name, version string) (*Client, error) {
	return run(ctx, cmd, Options{Name: name, Version: version}, "")
}

// A Tool is what tools/list says of one tool.
type Tool struct {
	Name        string
	Description string
	Revision    int // from _meta["executor/contract"], 0 where there is none
}

// Tools lists all pages of the server's tools.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	list, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Tool, len(list.Tools))
	for i, raw := range list.Tools {
		var t struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Meta        struct {
				Contract struct {
					Revision int `json:"revision"`
				} `json:"executor/contract"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("tools/list: tool %d: %w", i, err)
		}
		out[i] = Tool{t.Name, t.Description, t.Meta.Contract.Revision}
	}
	return out, nil
}

// A Result is what a tool answered.
type Result struct {
	// Structured is the structured content as JSON, nil where there was none.
	Structured json.RawMessage
	IsError    bool
}

// Call calls a tool with arguments that are sent as they are.
func (c *Client) Call(ctx context.Context, tool string, args json.RawMessage) (Result, error) {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return Result{}, fmt.Errorf("tools/call %s: %w", tool, c.explain(err))
	}
	out := Result{IsError: res.IsError}
	if res.StructuredContent != nil {
		if out.Structured, err = json.Marshal(res.StructuredContent); err != nil {
			return Result{}, err
		}
	}
	return out, nil
}

// Protocol is the revision of MCP that both sides speak, a date.
func (c *Client) Protocol() string { return c.session.InitializeResult().ProtocolVersion }

// Wait returns when the session ended, by the server or by Close.
func (c *Client) Wait() { _ = c.session.Wait() }

// Close ends the session; a command that runs is ended too, by force where it does
// not end itself within a few seconds.
func (c *Client) Close() error { return hangUp(c.session, c.link) }

// explain puts what the transport saw before what the SDK made of it.
func (c *Client) explain(err error) error { return explain(err, c.tap, c.link) }

func explain(err error, t *tap, l link) error {
	if seen := t.failure(); seen != nil {
		return seen
	}
	var web *url.Error
	if errors.As(err, &web) {
		return web
	}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return err // it lives, and answered
	}
	if ended := l.ended(); ended != nil {
		return ended
	}
	return err
}
