package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"executor/internal/ctl"
	"executor/internal/daemon"
	"executor/journal"

	"github.com/spf13/cobra"
)

// verifyFlags are those of journal verify.
type verifyFlags struct {
	key, since, proof string
	against           []string
	pass              passphraseFlags
	out               outputFlags
}

func (a *app) journalVerify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Recompute the whole journal and say whether it was touched",
		Long: `Recompute every entry, hash, signature, column and index from the stored bytes,
and compare the log with its pin. Exit code 0: intact. 10: tampered with,
rolled back or damaged. 11: cannot say.

Only the public key is needed. Which one is trusted is said: that of --key;
else the vault's, where the passphrase is given with --passphrase-file or
--passphrase-fd, and with it the head that the vault remembers; else that of a
running serve; else journal.pub beside the log. They are compared with each
other. What a cut tail, an older copy or a rewrite by the key's holder leaves is
sound in itself: only the pin, the vault or a checkpoint kept elsewhere tells.`,
		Example: `  executor journal verify
  executor journal verify --against /media/usb/2026-11-30.note
  executor journal verify --key "$(cat /media/usb/journal.pub)" -o json
  executor journal verify --proof call.proof`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.out.check(); err != nil {
				return err
			}
			return a.verify(cmd.Context(), &f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.key, "key", "", "trust the verifier key `KEY` (the line of journal.pub, kept elsewhere)")
	fl.StringArrayVar(&f.against, "against", nil, "the log must go on from the signed checkpoint in `FILE`, - for standard input (repeatable)")
	fl.StringVar(&f.since, "since", "", "read only what came after the signed checkpoint in `FILE`, up to which the log was verified then")
	fl.StringVar(&f.proof, "proof", "", "check the exported call in `FILE`, without the journal")
	f.pass.register(cmd)
	f.out.registerOne(cmd)
	return cmd
}

func (a *app) verify(ctx context.Context, f *verifyFlags) error {
	dir, err := a.homeDir()
	if err != nil {
		return err
	}
	var opt journal.VerifyOptions
	known, err := a.knownKeys(ctx, dir, f, &opt)
	if err != nil {
		return err
	}
	if f.proof != "" {
		if len(f.against) > 0 || f.since != "" {
			return usagef("--proof checks one file: without --against and --since")
		}
		return a.verifyProof(f.proof, beside(dir, known), f.out)
	}
	if len(known) > 0 {
		opt.Key, opt.KeyFrom, opt.Others = known[0].Key, known[0].From, known[1:]
	}
	if err := a.notes(f, &opt); err != nil {
		return err
	}
	report, err := journal.Verify(ctx, dir, opt)
	if errors.Is(err, journal.ErrInvalid) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	return a.report(report, f.out)
}

// knownKeys lists the journal's key as it is known elsewhere, the best first. It
// takes the vault's head into opt.
func (a *app) knownKeys(ctx context.Context, dir string, f *verifyFlags, opt *journal.VerifyOptions) (known []journal.KnownKey, err error) {
	if f.key != "" {
		known = append(known, journal.KnownKey{Key: strings.TrimSpace(f.key), From: "the command line"})
	}
	if f.pass.given() {
		pass, err := f.pass.read()
		if err != nil {
			return nil, err
		}
		defer pass.Wipe()
		key, head, err := daemon.KnownOfJournal(dir, pass)
		if err != nil {
			return nil, err
		}
		known = append(known, journal.KnownKey{Key: key, From: "the vault"})
		opt.Heads = append(opt.Heads, head)
	}
	c := &ctl.Client{Path: filepath.Join(dir, daemon.OperatorSocket)}
	if daemon.CheckSocketPath(c.Path) != nil {
		return known, nil // no serve can listen there
	}
	ctx, stop := context.WithTimeout(ctx, 3*time.Second)
	defer stop()
	if status, err := c.Status(ctx); err == nil && status.JournalKey != "" {
		known = append(known, journal.KnownKey{Key: status.JournalKey, From: "the running serve"})
	}
	return known, nil
}

// beside is what is known, and at last what lies beside the log.
func beside(dir string, known []journal.KnownKey) []journal.KnownKey {
	path := filepath.Join(dir, "journal.pub")
	if b, err := os.ReadFile(path); err == nil {
		known = append(known, journal.KnownKey{Key: strings.TrimSpace(string(b)), From: path})
	}
	return known
}

// notes reads the checkpoints that were kept elsewhere.
func (a *app) notes(f *verifyFlags, opt *journal.VerifyOptions) error {
	for _, file := range f.against {
		n, err := a.note(file)
		if err != nil {
			return err
		}
		opt.Against = append(opt.Against, n)
	}
	if f.since == "" {
		return nil
	}
	n, err := a.note(f.since)
	opt.Since = &n
	return err
}

// maxNote bounds what is read as a checkpoint.
const maxNote = 64 << 10

func (a *app) note(file string) (journal.Note, error) {
	in, name := a.In, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return journal.Note{}, err
		}
		defer f.Close()
		in, name = f, file
	}
	b, err := io.ReadAll(io.LimitReader(in, maxNote))
	return journal.Note{Text: b, From: name}, err
}

// report shows what came of a verification and ends with its exit code.
func (a *app) report(report journal.Report, out outputFlags) (err error) {
	if out.format != "table" || out.jq != "" {
		err = writeOne(a.Out, out, report)
	} else {
		err = writeFacts(a.Out, reportFacts(report))
	}
	if err != nil {
		return err
	}
	if report.Pinned < 0 && report.Size > 0 {
		fmt.Fprintln(a.Err, "hint: if journal.pin was lost or broken by a fault, make a new one with: executor journal repin"+a.homeFlag())
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

func sinceText(size int64) string {
	if size == 0 {
		return ""
	}
	return fmt.Sprintf("the first %d entries were taken as verified before", size)
}

func reportFacts(r journal.Report) []fact {
	f := []fact{
		{"verdict", string(r.Verdict)},
		{"entries", fmt.Sprint(r.Size)},
		{"root", r.Root},
		{"since", sinceText(r.Since)},
		{"checkpoints", fmt.Sprintf("%d signatures checked", r.Checkpoints)},
		{"unsettled", fmt.Sprintf("%d intents without an outcome", r.Unsettled)},
		{"pinned", pinnedText(r.Pinned)},
		{"key", r.Key},
		{"key from", r.KeyFrom},
		{"key is also", strings.Join(r.KeySameAs, ", ")},
		{"goes on from", strings.Join(r.Compared, "\n")},
	}
	if r.Redacted > 0 {
		f = append(f, fact{"redacted", fmt.Sprintf("%d texts, each by an entry", r.Redacted)})
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
