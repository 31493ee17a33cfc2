package cli

import (
	"context"

	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Read and verify what was done",
		Long: `The journal holds every call and every session of every agent, and every change
that you made. Reading and verifying need no passphrase.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.journalQuery(), a.journalShow(), a.journalTail(), a.journalStats(), a.journalSQL(),
		a.journalVerify(), a.journalCheckpoint(), a.journalExport(), a.journalRedact(), a.journalRepin())
	return cmd
}

func validStatus(s string) bool {
	switch s {
	case journal.Running, journal.OK, journal.Error, journal.Refused, journal.Cancelled, journal.Timeout, journal.Unknown:
		return true
	}
	return false
}

func (a *app) openReader(ctx context.Context) (*journal.Reader, error) {
	dir, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return journal.OpenReader(ctx, dir)
}
