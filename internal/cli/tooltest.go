package cli

import (
	"context"
	"time"

	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/publish"

	"github.com/spf13/cobra"
)

func (a *app) toolTest() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	var against string
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Say what publishing a file would do, and change nothing",
		Long: `Judge a contract file as "tool publish" does, and change nothing. It is compared
with what the vault holds of the tool; with --against it is compared with one
other file, and no vault is needed.

The five questions of a release are answered by name: old-arguments,
old-meaning, refusal-before-effect, list-before-notice, repair.

Exit codes: 0 acceptable; 10 refused, or it breaks calls of a served revision
without saying so; 11 a person has to decide (wording, a fence, calls that will
be refused).`,
		Example: `  executor tool test deploy_preview.yaml
  executor tool test deploy_preview.yaml --against published/deploy_preview.yaml`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			r, err := a.testTool(cmd.Context(), &pass, args[0], against)
			if err != nil {
				return err
			}
			return a.showReport(out, r)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "compare with the contract `FILE` instead of the vault")
	pass.register(cmd)
	out.register(cmd)
	return cmd
}

func (a *app) testTool(ctx context.Context, pass *passphraseFlags, path, against string) (r *publish.Report, err error) {
	if against == "" {
		err = a.read(ctx, pass, func(h *daemon.Home) (err error) {
			r, _, err = judge(h, path)
			return err
		})
		return r, err
	}
	old, err := readContract(against)
	if err != nil {
		return nil, err
	}
	f, err := readContract(path)
	if err != nil {
		return nil, err
	}
	if f.Tool != old.Tool {
		return nil, usagef("%s describes the tool %q and %s the tool %q: one tool at two revisions is due", path, f.Tool, against, old.Tool)
	}
	// What the old file says of revisions before it is not known here, and no part of the question.
	published := contract.Op{Op: contract.OpPublish, File: old}
	return publish.Judge(f, []contract.Op{published}, publish.Options{Now: time.Now()})
}

// showReport writes a report and ends with the code of its verdict.
func (a *app) showReport(out outputFlags, r *publish.Report) error {
	var err error
	if out.format != "table" || out.jq != "" {
		err = writeOne(a.Out, out, r)
	} else {
		err = a.text(r.Text() + r.AnswersText())
	}
	if err != nil {
		return err
	}
	switch r.Verdict() {
	case publish.Acceptable:
		return nil
	case publish.NeedsPerson:
		return &silent{exitNeedsPerson}
	}
	return &silent{exitNotAcceptable}
}
