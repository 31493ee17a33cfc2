package cli

import (
	"os"

	"executor/internal/daemon"
	"executor/internal/demo"

	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See the whole of it work on this machine, in a minute",
		Long: `Play the main job in a temporary home: a real serve with its approval screen, an
agent that speaks MCP through "executor mcp", a small HTTP API and an SSH server
of the demo's own on loopback. You answer at this terminal, or --yes answers for
you. Nothing is left behind.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes && !a.terminal() {
				return usagef("the demo asks you at a terminal, and this is none; say --yes to have every request answered with yes")
			}
			binary, err := os.Executable()
			if err != nil {
				return err
			}
			return demo.Run(cmd.Context(), demo.Options{
				Binary: binary, Out: a.Out, Terminal: a.In, Yes: yes, Build: daemon.Build(),
				Environ: []string{"HOME=" + a.Getenv("HOME"), "PATH=" + a.Getenv("PATH")},
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "answer every request with yes (in the demo alone is there such a flag)")
	return cmd
}
