package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"executor/internal/daemon"
	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalCheckpoint() *cobra.Command {
	return &cobra.Command{
		Use:   "checkpoint",
		Short: "Print the newest signed checkpoint, for keeping elsewhere",
		Long: `Print the size and root of the journal as its newest entry signed them: a C2SP
checkpoint in a signed note. Kept where nobody on this machine can change it, it
is what "journal verify --against" needs to tell a cut or rewritten journal.`,
		Example: `  executor journal checkpoint >/media/usb/$(date +%F).note
  executor journal verify --against /media/usb/2026-11-30.note`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			r, err := a.openReader(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			note, err := r.Checkpoint(cmd.Context())
			if err != nil {
				return err
			}
			_, err = a.Out.Write(note)
			return err
		},
	}
}

func (a *app) journalExport() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:   "export --proof ID",
		Short: "Write one call with the proof that the journal holds it",
		Long: `Write the entries of one call as they are stored, with their texts, inclusion
proofs (RFC 6962, C2SP tlog-proof) and the newest signed checkpoint, as JSON.
"executor journal verify --proof FILE" checks that without the journal.`,
		Example: `  executor journal export --proof 019ad1e0-5c1f >call.proof
  executor journal verify --proof call.proof --key "$(cat journal.pub)"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if id == "" {
				return usagef("--proof ID is due; see: %s --help", cmd.CommandPath())
			}
			return a.exportProof(cmd.Context(), id)
		},
	}
	cmd.Flags().StringVar(&id, "proof", "", "of the call with this SEQ or `ID`")
	return cmd
}

func (a *app) exportProof(ctx context.Context, id string) (err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	x, err := findActivity(ctx, r, id)
	if err != nil {
		return err
	}
	proof, err := r.Export(ctx, x.ActivityID)
	if err != nil {
		return err
	}
	return writeJSON(a.Out, proof)
}

// verifyProof checks an exported record with nothing but a key.
func (a *app) verifyProof(file string, known []journal.KnownKey, out outputFlags) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		if _, err := fmt.Fprintln(a.Out, "verdict  cannot-say\nkey      none is known here: give the line of journal.pub with --key"); err != nil {
			return err
		}
		return &silent{exitCannotSay}
	}
	activity, proven, err := journal.VerifyProof(raw, known[0].Key)
	if errors.Is(err, journal.ErrInvalid) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, struct {
			Verdict  journal.Verdict  `json:"verdict"`
			Proven   journal.Proven   `json:"proven"`
			Key      string           `json:"key"`
			KeyFrom  string           `json:"key_from"`
			Activity journal.Activity `json:"activity"`
		}{journal.VerdictOK, proven, known[0].Key, known[0].From, activity})
	}
	return writeFacts(a.Out, append([]fact{
		{"verdict", string(journal.VerdictOK)},
		{"proved", fmt.Sprintf("entries %s of a journal of %d", strings.Trim(fmt.Sprint(proven.Seqs), "[]"), proven.Size)},
		{"key", known[0].Key},
		{"key from", known[0].From},
	}, activityFacts(activity)...))
}

func (a *app) journalRedact() *cobra.Command {
	var fields []string
	var reason string
	var pass passphraseFlags
	cmd := &cobra.Command{
		Use:   "redact ID --field NAME --reason TEXT",
		Short: "Take a text out of the record of a call or session for good",
		Long: `Take texts out of the record of a call or session: out of the database, its
write-ahead log and its free pages. The tree still verifies, because it holds
salted hashes only, and the redaction is an entry of its own, with your reason.

raw_args takes normalized_args with it, which says the same in other words. The
digests of an action stay unless you name them: they let whoever can guess what
was there check the guess. Backups and copies elsewhere are not reached.`,
		Example: `  executor journal redact 42 --field raw_args --reason "a key was pasted"`,
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.redact(cmd.Context(), &pass, journal.Redaction{ID: args[0], Fields: fields, Reason: reason, By: "operator"})
		},
	}
	cmd.Flags().StringArrayVar(&fields, "field", nil, "the text `NAME` (repeatable): "+strings.Join(journal.Redactable(), ", "))
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record: a `TEXT`")
	pass.register(cmd)
	return cmd
}

func (a *app) redact(ctx context.Context, pass *passphraseFlags, r journal.Redaction) error {
	if len(r.Fields) == 0 || r.Reason == "" {
		return usagef("--field and --reason are due")
	}
	for _, f := range r.Fields {
		if !slices.Contains(journal.Redactable(), f) {
			return usagef("--field %s: %s is due", f, strings.Join(journal.Redactable(), ", "))
		}
	}
	return a.read(ctx, pass, func(h *daemon.Home) error {
		id, err := a.wholeID(ctx, r.ID)
		if err != nil {
			return err
		}
		r.ID = id
		seqs, err := h.Journal.Redact(ctx, r)
		if err != nil {
			return err
		}
		if len(seqs) == 0 {
			_, err = fmt.Fprintln(a.Out, "Redacted already; the write-ahead log was emptied.")
			return err
		}
		_, err = fmt.Fprintf(a.Out, "Redacted in entries %s of the journal. It still verifies: executor journal verify%s\n",
			strings.Trim(fmt.Sprint(seqs), "[]"), a.homeFlag())
		return err
	})
}

// wholeID takes the number of a call, too, as show does.
func (a *app) wholeID(ctx context.Context, id string) (_ string, err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	x, err := findActivity(ctx, r, id)
	if errors.Is(err, journal.ErrNotFound) {
		return id, nil // a session's, or nobody's, which the journal says
	}
	return x.ActivityID, err
}

func (a *app) journalRepin() *cobra.Command {
	var pass passphraseFlags
	cmd := &cobra.Command{
		Use:   "repin",
		Short: "Make a new journal.pin where it was lost or broken",
		Long: `Make a new journal.pin where the old one is missing or cannot be read, without
which nothing is written. The whole journal is verified first, against the key
and the head that the vault remembers; what was cut off after that head can no
longer be told, so the new pin is an entry of its own. A pin that can be read is
left alone: if it contradicts the journal, the journal is not what it was.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.repin(cmd.Context(), &pass) },
	}
	pass.register(cmd)
	return cmd
}

func (a *app) repin(ctx context.Context, p *passphraseFlags) error {
	dir, err := a.homeDir()
	if err != nil {
		return err
	}
	pass, err := a.passphrase(p)
	if err != nil {
		return err
	}
	defer pass.Wipe()
	report, err := daemon.RepinJournal(ctx, dir, pass)
	if errors.Is(err, journal.ErrInvalid) {
		return fmt.Errorf("%w; see what it says with: executor journal verify%s", err, a.homeFlag())
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "journal.pin was made anew: the %d entries verify, and go on from what the vault remembers.\n", report.Size)
	return err
}
