// Package mcpclient calls other MCP servers.
//
// A Careful client is for programs that plan calls and send them later: what was
// planned on one contract is sent with that meaning, repaired where that takes no
// choice, or not at all. The threat is a tool whose contract changed between the
// plan and the call.
//
// It is the only client-side importer of the MCP SDK. What it returns is the
// server's own word: names, texts and schemas are foreign, and whoever shows
// them makes them safe.
package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Client is one session with one server. Whoever started it closes it.
type Client struct {
	session *mcp.ClientSession
}

// Start runs a server's command and speaks MCP with it over stdio. The command
// gets what cmd says and no more; name and version are what this client calls itself.
func Start(ctx context.Context, cmd *exec.Cmd, name, version string) (*Client, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: version}, nil)
	session, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("mcp server %s: %w", cmd.Path, err)
	}
	return &Client{session}, nil
}

// A Tool is what tools/list says of one tool.
type Tool struct {
	Name        string
	Description string
	Revision    int // from _meta["executor/contract"], 0 where there is none
}

// Tools lists all pages of the server's tools.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	var out []Tool
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		one := Tool{Name: t.Name, Description: t.Description}
		if m, ok := t.Meta["executor/contract"].(map[string]any); ok {
			revision, _ := m["revision"].(float64)
			one.Revision = int(revision)
		}
		out = append(out, one)
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
		return Result{}, fmt.Errorf("tools/call %s: %w", tool, err)
	}
	out := Result{IsError: res.IsError}
	if res.StructuredContent != nil {
		if out.Structured, err = json.Marshal(res.StructuredContent); err != nil {
			return Result{}, err
		}
	}
	return out, nil
}

// Close ends the session; a command that Start ran is ended too.
func (c *Client) Close() error { return c.session.Close() }
