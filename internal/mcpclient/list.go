package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Listing is everything that a server declared at one time, as it spelled it.
type Listing struct {
	Tools        []json.RawMessage // in the server's order
	Capabilities json.RawMessage   // nil where it has none
	Instructions json.RawMessage   // a string, nil where it has none
	Server       json.RawMessage   // name and version, as it calls itself
	Protocol     string            // the revision spoken
}

// JSON is the listing as one object; see the package's doc.
func (l Listing) JSON() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, m := range []struct {
		name  string
		value json.RawMessage
	}{{"capabilities", l.Capabilities}, {"instructions", l.Instructions}, {"server", l.Server}} {
		if m.value != nil {
			fmt.Fprintf(&b, "%q:%s,", m.name, m.value)
		}
	}
	b.WriteString(`"tools":[`)
	for i, t := range l.Tools {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(t)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// List reads all pages of the server's tools, from the first. A list of several
// pages is read until two readings agree, or ErrUnstable. Other errors match
// ErrTooLarge, ErrEnded, ErrProtocol, or those of the context.
func (c *Client) List(ctx context.Context) (Listing, error) {
	c.listing.Lock()
	defer c.listing.Unlock()
	stop := context.AfterFunc(ctx, c.link.kill)
	defer stop()
	out := c.declared()
	var last []json.RawMessage
	have := false
	for range c.limits.Tries {
		before := c.tap.changed()
		tools, pages, err := c.read(ctx)
		if errors.Is(err, errCursor) {
			have = false
			continue
		}
		if err != nil {
			return Listing{}, fmt.Errorf("tools/list: %w", err)
		}
		steady := c.tap.changed() == before
		if pages < 2 || have && steady && same(last, tools) {
			out.Tools = tools
			return out, nil
		}
		last, have = tools, steady
	}
	return Listing{}, fmt.Errorf("tools/list: %w, %d times", ErrUnstable, c.limits.Tries)
}

func same(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// errCursor: the server does not know a cursor that it gave.
var errCursor = errors.New("the server refuses its own cursor")

// read goes through the pages once.
func (c *Client) read(ctx context.Context) (tools []json.RawMessage, pages int, err error) {
	size, seen := 0, map[string]bool{}
	for cursor := ""; ; {
		page, err := c.page(ctx, cursor)
		if err != nil {
			return nil, pages, err
		}
		pages++
		for _, t := range page.Tools {
			size += len(t)
		}
		tools = append(tools, page.Tools...)
		switch {
		case size > c.limits.List:
			return nil, pages, fmt.Errorf("%w: a list of more than %d bytes", ErrTooLarge, c.limits.List)
		case page.Next == "":
			return tools, pages, nil
		case pages >= c.limits.Pages:
			return nil, pages, fmt.Errorf("%w: a list of more than %d pages", ErrTooLarge, c.limits.Pages)
		case seen[page.Next]:
			return nil, pages, fmt.Errorf("%w: its pages go in a circle", ErrProtocol)
		}
		cursor = page.Next
		seen[cursor] = true
	}
}

// A page is one answer to tools/list (MCP, Tools, Listing Tools).
type page struct {
	Tools []json.RawMessage `json:"tools"`
	Next  string            `json:"nextCursor"`
}

func (c *Client) page(ctx context.Context, cursor string) (page, error) {
	_, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	if err != nil {
		var wire *jsonrpc.Error
		switch {
		case ctx.Err() != nil:
			return page{}, ctx.Err()
		case errors.As(err, &wire) && cursor != "":
			return page{}, fmt.Errorf("%w: %w", errCursor, err)
		case errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound && !c.hasTools():
			return page{}, nil
		}
		return page{}, c.explain(err)
	}
	raw := c.tap.result(methodListTools)
	var p page
	if err := json.Unmarshal(raw, &p); err != nil {
		return page{}, fmt.Errorf("%w: its list is none: %w", ErrProtocol, err)
	}
	if p.Tools == nil {
		return page{}, fmt.Errorf("%w: its answer has no tools", ErrProtocol)
	}
	return p, nil
}

func (c *Client) hasTools() bool {
	caps := c.session.InitializeResult().Capabilities
	return caps != nil && caps.Tools != nil
}

// declared is what the server said when it was greeted.
func (c *Client) declared() Listing {
	out := Listing{Protocol: c.Protocol()}
	raw := c.tap.result(methodInitialize)
	if raw == nil {
		raw = c.tap.result(methodDiscover)
	}
	var greeting struct {
		Capabilities json.RawMessage `json:"capabilities"`
		Instructions json.RawMessage `json:"instructions"`
		Server       json.RawMessage `json:"serverInfo"`
		Meta         struct {
			Server json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(raw, &greeting) // the SDK decoded it before
	out.Capabilities, out.Instructions, out.Server = greeting.Capabilities, greeting.Instructions, greeting.Server
	if out.Server == nil {
		out.Server = greeting.Meta.Server
	}
	return out
}
