package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/publish"

	"github.com/spf13/cobra"
)

func (a *app) toolTest() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	var against []string
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Say what publishing a file would do, and change nothing",
		Long: `Judge a contract file as "tool publish" does, and change nothing. It is compared
with what the vault holds of the tool; with --against it is compared with other
files, and no vault is needed.

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
			r, held, err := a.testTool(cmd.Context(), &pass, args[0], against)
			if err != nil {
				return err
			}
			return a.showReport(out, r, held)
		},
	}
	cmd.Flags().StringArrayVar(&against, "against", nil, "compare with the contract `FILE` instead of the vault (repeatable, for\nmore than one earlier revision)")
	pass.register(cmd)
	out.registerOne(cmd)
	return cmd
}

// testTool judges a file against the vault or against other files. held tells which
// sessions hold which revision, where there is a vault.
func (a *app) testTool(ctx context.Context, pass *passphraseFlags, path string, against []string) (r *publish.Report, held string, err error) {
	if len(against) > 0 {
		f, err := readContract(path)
		if err != nil {
			return nil, "", err
		}
		r, err = judgeFiles(f, path, against, time.Now())
		return r, "", err
	}
	err = a.read(ctx, pass, func(h *daemon.Home) (err error) {
		if r, _, err = judge(h, path); err != nil {
			return err
		}
		held, err = a.holdersText(ctx, h, r.Tool)
		return err
	})
	return r, held, err
}

// judgeFiles judges f against the contract files of earlier revisions.
func judgeFiles(f *contract.File, path string, against []string, now time.Time) (*publish.Report, error) {
	var old []*contract.File
	for _, name := range against {
		o, err := readContract(name)
		if err != nil {
			return nil, err
		}
		if o.Tool != f.Tool {
			return nil, usagef("%s describes the tool %q and %s the tool %q: one tool at two revisions is due", path, f.Tool, name, o.Tool)
		}
		old = append(old, o)
	}
	slices.SortStableFunc(old, func(a, b *contract.File) int { return cmp.Compare(a.Revision, b.Revision) })
	var ops []contract.Op
	for _, o := range old {
		r, err := publish.Judge(since(o, old[0].Revision), ops, publish.Options{Now: now})
		if err != nil {
			return nil, err
		}
		ops = append(ops, r.Op())
	}
	r, err := publish.Judge(since(f, old[0].Revision), ops, publish.Options{Now: now})
	if err == nil && len(since(f, old[0].Revision).Accepts) < len(f.Accepts) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("what the file says of revisions before %d is not judged: name them with --against, too", old[0].Revision))
	}
	return r, err
}

// since is f with what it says of revisions from first on, which are at hand. A file
// that is first itself keeps what it says.
func since(f *contract.File, first int) *contract.File {
	if f.Revision == first {
		first = 0
	}
	out := *f
	out.Accepts = slices.DeleteFunc(slices.Clone(f.Accepts), func(a contract.Accept) bool { return a.Revision < first })
	return &out
}

// showReport writes a report and ends with the code of its verdict.
func (a *app) showReport(out outputFlags, r *publish.Report, held string) error {
	var err error
	if out.format != "table" || out.jq != "" {
		err = writeOne(a.Out, out, r)
	} else {
		err = a.text(r.Text() + held + r.AnswersText())
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
