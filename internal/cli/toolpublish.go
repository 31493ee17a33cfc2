package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"executor/internal/daemon"
	"executor/internal/publish"
	"executor/internal/term"
	"executor/vault"

	"github.com/spf13/cobra"
)

func (a *app) toolPublish() *cobra.Command {
	var pass passphraseFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "publish FILE",
		Short: "Publish a tool, or its next revision",
		Long: `Publish the tool that a contract file describes, or its next revision. What that
changes for agents that hold an earlier one is shown before you are asked: what
the differ finds, the kind of change, whether old calls keep their meaning,
which sessions hold which revision. A file that the rules refuse is not
published; what would make it acceptable is named.

A running serve takes the tool over at once, and tells its agents.
"executor help tool" explains contract files.`,
		Example: `  executor tool test deploy_preview.yaml
  executor tool publish deploy_preview.yaml`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.publish(cmd.Context(), h, args[0], yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; the answer to each question is yes")
	pass.register(cmd)
	return cmd
}

func (a *app) publish(ctx context.Context, h *daemon.Home, path string, yes bool) error {
	r, length, err := judge(h, path)
	if err != nil {
		return err
	}
	if err := a.text(r.Text()); err != nil || r.Already {
		return err
	}
	if !r.Publishable() {
		return &refusedError{fmt.Sprintf("%s revision %d is refused; nothing was changed", r.Tool, r.Revision)}
	}
	if err := a.showHolders(ctx, h, r.Tool); err != nil {
		return err
	}
	for _, q := range r.Questions {
		if err := a.confirm(term.Safe(q), yes); err != nil {
			return err
		}
	}
	if err := a.confirm(fmt.Sprintf("Publish %s revision %d?", r.Tool, r.Revision), yes); err != nil {
		return err
	}
	op := r.Op()
	op.At = time.Now().UTC()
	detail := fmt.Sprintf("tool publish %s revision %d", r.Tool, r.Revision)
	if r.Kind != "" {
		detail += ": " + r.Kind
	}
	err = h.Vault.Update(ctx, detail, func(e *vault.Edit) error { return appendOp(e, r.Tool, length, op) })
	if err != nil {
		return err
	}
	return a.print(fmt.Sprintf("%s revision %d is published", r.Tool, r.Revision))
}

// judge judges a contract file against the vault. length is that of the history.
func judge(h *daemon.Home, path string) (r *publish.Report, length int, err error) {
	f, err := readContract(path)
	if err != nil {
		return nil, 0, err
	}
	all, err := daemon.Histories(h.Vault)
	if err != nil {
		return nil, 0, err
	}
	g, err := daemon.LoadPolicy(h.Vault)
	if err != nil {
		return nil, 0, err
	}
	ops := all[f.Tool]
	r, err = publish.Judge(f, ops, publish.Options{Now: time.Now(), Policy: g})
	return r, len(ops), err
}

// text prints what was made safe to show already.
func (a *app) text(s string) error {
	_, err := fmt.Fprint(a.Out, s)
	return err
}

// showHolders tells which open sessions hold which revision.
func (a *app) showHolders(ctx context.Context, h *daemon.Home, tool string) error {
	text, err := a.holdersText(ctx, h, tool)
	if err != nil {
		return err
	}
	return a.text(text + "\n")
}

// holdersText is safe to show.
func (a *app) holdersText(ctx context.Context, h *daemon.Home, tool string) (string, error) {
	holders, err := a.holders(ctx, h.Dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range holders {
		if held := s.served[tool]; len(held) > 0 {
			line := fmt.Sprintf("  %s  %s  revision %s", s.id[:min(len(s.id), sessionPrefix)], orDash(s.client), joined(held))
			b.WriteString(term.Safe(line) + "\n")
		}
	}
	if b.Len() == 0 {
		return "\nSessions that hold a revision of it: none\n", nil
	}
	return "\nSessions that hold a revision of it\n" + b.String(), nil
}
