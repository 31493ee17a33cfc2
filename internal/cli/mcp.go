package cli

import (
	"path/filepath"

	"executor/internal/daemon"

	"github.com/spf13/cobra"
)

func (a *app) mcpCommand() *cobra.Command {
	var socket string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Speak MCP on standard input and output; agents run this",
		Long: `Speak the Model Context Protocol on standard input and output, for an agent's
configuration. It joins the agent to the running "executor serve", for which it
waits up to 8 seconds, and holds no secret. "executor init" prints the lines for
each client.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if socket == "" {
				dir, err := a.homeDir()
				if err != nil {
					return err
				}
				socket = filepath.Join(dir, daemon.AgentSocket)
			}
			return daemon.Bridge(cmd.Context(), a.In, a.Out, socket, daemon.BridgeWait)
		},
	}
	cmd.Flags().StringVar(&socket, "socket", "", "the agent socket `PATH` of a serve that was started with --agent-socket")
	return cmd
}
