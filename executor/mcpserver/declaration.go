package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"executor/internal/contract"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Declaration is what a server with these contracts says of itself: capabilities,
// instructions, name and tools, in one JSON object. It needs no connection. A client
// that lists the tools of a Server reads the same, but for the list's own _meta.
func Declaration(s *contract.Snapshot, version string) (json.RawMessage, error) {
	tools := []*mcp.Tool{}
	for _, c := range s.Served() {
		t, _ := s.Tool(c.Tool)
		described, err := describe(t)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", c.Tool, err)
		}
		tools = append(tools, described)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(map[string]any{
		"capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
		"instructions": instructions,
		"server":       map[string]any{"name": "executor", "title": "executor", "version": version},
		"tools":        tools,
	})
	return b.Bytes(), err
}
