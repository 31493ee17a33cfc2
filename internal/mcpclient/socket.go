package mcpclient

import (
	"context"
	"net"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Socket connects to a server that speaks MCP's stdio framing on a Unix socket, as
// executor serve does for agents.
func Socket(ctx context.Context, path string) (mcp.Transport, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return &mcp.IOTransport{Reader: c, Writer: c, MaxLineLength: 32 << 20}, nil
}
