package cli

import (
	"fmt"

	"executor/internal/daemon"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Say which build this is", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := daemon.Build()
			modified := ""
			if b.VCSModified {
				modified = ", with local changes"
			}
			_, err := fmt.Fprintf(a.Out, "executor %s, commit %s%s\nbinary sha256 %s\n", orNone(b.Version), orNone(b.VCSRevision), modified, b.BinarySHA256)
			return err
		},
	}
}
