package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalVerify() *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Recompute the whole journal and say whether it was touched",
		Long: `Recompute every entry, hash, signature and column from the stored bytes, and
compare the log with its pin. Exit code 0: intact. 10: tampered with, rolled
back or damaged. 11: cannot say.

The public key comes from journal.pub beside the log, unless --key names one
that you kept elsewhere. Somebody who can replace all files of the home at once
can be caught only with a key or a pin kept elsewhere.`,
		Example: `  executor journal verify
  executor journal verify --key "$(cat /media/usb/journal.pub)"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			key, err := cmd.Flags().GetString("key")
			if err != nil {
				return err
			}
			return a.verify(cmd.Context(), key, out)
		},
	}
	cmd.Flags().String("key", "", "trust the verifier key `KEY` (the line of journal.pub, kept elsewhere)")
	out.register(cmd)
	return cmd
}

func (a *app) verify(ctx context.Context, key string, out outputFlags) error {
	dir, err := a.homeDir()
	if err != nil {
		return err
	}
	opt := journal.VerifyOptions{}
	if key != "" {
		opt.Key, opt.KeyFrom = strings.TrimSpace(key), "the command line"
	}
	report, err := journal.Verify(ctx, dir, opt)
	if key != "" && errors.Is(err, journal.ErrInvalid) {
		return usagef("--key: %v", err)
	}
	if err != nil {
		return err
	}
	if out.format != "table" || out.jq != "" {
		err = writeOne(a.Out, out, report)
	} else {
		err = writeFacts(a.Out, reportFacts(report))
	}
	if err != nil {
		return err
	}
	switch report.Verdict {
	case journal.VerdictOK, journal.VerdictCrashTail:
		return nil
	case journal.VerdictCannotSay:
		return &silent{exitCannotSay}
	}
	return &silent{exitTampered}
}

func pinnedText(size int64) string {
	if size < 0 {
		return "journal.pin cannot be read"
	}
	return fmt.Sprintf("at %d entries", size)
}

func reportFacts(r journal.Report) []fact {
	f := []fact{
		{"verdict", string(r.Verdict)},
		{"entries", fmt.Sprint(r.Size)},
		{"root", r.Root},
		{"checkpoints", fmt.Sprintf("%d signatures checked", r.Checkpoints)},
		{"unsettled", fmt.Sprintf("%d intents without an outcome", r.Unsettled)},
		{"pinned", pinnedText(r.Pinned)},
		{"key", r.Key},
		{"key from", r.KeyFrom},
	}
	if bad := r.FirstBad(); bad > 0 {
		f = append(f, fact{"first bad", fmt.Sprintf("entry %d", bad)})
	}
	for _, x := range r.Findings {
		where := ""
		if x.Seq > 0 {
			where = fmt.Sprintf("entry %d: ", x.Seq)
		}
		f = append(f, fact{string(x.Verdict), where + x.What})
	}
	return f
}
