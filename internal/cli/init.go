package cli

import (
	"context"
	"fmt"
	"os"

	"executor/internal/daemon"
	"executor/internal/term"

	"github.com/spf13/cobra"
)

type initOptions struct {
	pass       passphraseFlags
	workFactor int
}

func (a *app) initCommand() *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the vault, the journal and their keys",
		Long: `Make the home directory with an empty vault, the identity that opens it under
your passphrase, and the journal with its key; then print how to register the
server with your agents. What exists is never overwritten.`,
		Example: `  executor init
  executor init --home /srv/executor --passphrase-file /run/secrets/executor`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.init(cmd.Context(), o) },
	}
	cmd.Flags().IntVar(&o.workFactor, "scrypt-work-factor", 0, "cost of trying a passphrase, as the exponent `N` of 2 (default 18, about a second)")
	o.pass.register(cmd)
	return cmd
}

func (a *app) init(ctx context.Context, o *initOptions) error {
	dir, err := a.homeDir()
	if err != nil {
		return err
	}
	if err := daemon.CheckNewHome(dir); err != nil {
		return err
	}
	pass, err := a.newPassphrase(&o.pass)
	if err != nil {
		return err
	}
	defer pass.Wipe()
	if err := daemon.CreateHome(ctx, dir, pass, o.workFactor); err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, `Made in %s:
an empty vault, its identity under your passphrase, and a journal.
There is no way back into the vault without the passphrase.

Next:
  executor credential add%[2]s --help
  executor serve%[2]s        # in a terminal of your own: it is the approval screen

%[3]s`, term.Safe(dir), a.homeFlag(), registration(binary, a.mcpArgs(dir)))
	return nil
}

// mcpArgs are the arguments of the command that agents run. The home is named
// where it is not the default, since clients pass hardly any environment on.
func (a *app) mcpArgs(dir string) []string {
	if a.home == "" && a.Getenv("EXECUTOR_HOME") == "" {
		return []string{"mcp"}
	}
	return []string{"mcp", "--home", dir}
}
