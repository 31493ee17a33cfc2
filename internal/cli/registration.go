package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"executor/internal/action"
)

// clientTimeout is the time limit that is suggested to clients, in seconds: a
// request may wait ten minutes for the operator, and the action takes its own time.
const clientTimeout = 1200

// registration tells how MCP clients are told of this server. Paths are absolute:
// clients start servers without a shell.
func registration(binary string, args []string) string {
	words := append([]string{binary}, args...)
	shell, err := action.QuotePOSIX(words)
	if err != nil {
		shell = strings.Join(words, " ")
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = jsonString(a)
	}
	list := strings.Join(quoted, ", ")
	return fmt.Sprintf(`Register it with your agents. A person answers some of the calls, so give the
client a time limit of %[1]d s or so where it has one.

Claude Code:
  MCP_TOOL_TIMEOUT=%[2]d claude mcp add executor -- %[3]s
  (set MCP_TOOL_TIMEOUT, in ms, in the environment that claude runs in)

Codex, in ~/.codex/config.toml:
  [mcp_servers.executor]
  command = %[4]s
  args = [%[5]s]
  tool_timeout_sec = %[1]d

Cursor, in ~/.cursor/mcp.json, and any other client with "mcpServers":
  {"mcpServers": {"executor": {
    "command": %[4]s,
    "args": [%[5]s],
    "timeout": %[2]d
  }}}

Any other client: run this command and speak MCP on its stdin and stdout:
  %[3]s
`, clientTimeout, clientTimeout*1000, shell, jsonString(binary), list)
}

// jsonString quotes s for JSON; such a string is one of TOML too.
func jsonString(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
