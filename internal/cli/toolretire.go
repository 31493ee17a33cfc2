package cli

import (
	"context"
	"fmt"
	"time"

	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/publish"
	"executor/vault"

	"github.com/spf13/cobra"
)

func (a *app) toolRetire() *cobra.Command {
	var pass passphraseFlags
	var replacement string
	var yes bool
	cmd := &cobra.Command{
		Use:   "retire NAME",
		Short: "Take a tool away; its name answers with what replaces it",
		Long: `Take a tool out of the list that agents see. Its name stays known: a call of it
is refused, and says which tool replaces it or that nothing does. Publishing a
next revision brings it back.`,
		Example: `  executor tool retire deploy_preview --replacement deploy`,
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.retire(cmd.Context(), h, args[0], replacement, yes)
			})
		},
	}
	cmd.Flags().StringVar(&replacement, "replacement", "", "`TOOL` that calls are pointed to")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	pass.register(cmd)
	return cmd
}

func (a *app) retire(ctx context.Context, h *daemon.Home, name, replacement string, yes bool) error {
	t, ops, err := history(h.Vault, name)
	if err != nil {
		return err
	}
	if t.Current == nil && t.Replacement == replacement {
		return a.print(fmt.Sprintf("%s is retired already; nothing changes", name))
	}
	if err := replaceable(h.Vault, name, replacement); err != nil {
		return err
	}
	if err := a.showHolders(ctx, h, name); err != nil {
		return err
	}
	if err := a.confirm(fmt.Sprintf("Retire %s?", name), yes); err != nil {
		return err
	}
	op := contract.Op{Op: contract.OpRetire, At: time.Now().UTC(), Replacement: replacement}
	err = h.Vault.Update(ctx, "tool retire "+name, func(e *vault.Edit) error { return appendOp(e, name, len(ops), op) })
	if err != nil {
		return err
	}
	return a.print(fmt.Sprintf("%s is retired", name))
}

// replaceable wants a replacement to be a tool that is served.
func replaceable(v *vault.Vault, name, replacement string) error {
	if replacement == "" {
		return nil
	}
	s, err := daemon.Contracts(v)
	if err != nil {
		return err
	}
	other, ok := s.Tool(replacement)
	if !ok || other.Current == nil || replacement == name {
		return fmt.Errorf("%q cannot replace %s: no other tool of this name is served; publish it first", replacement, name)
	}
	return nil
}

func (a *app) toolPrune() *cobra.Command {
	var pass passphraseFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "prune NAME",
		Short: "Remove the adapters whose window is over",
		Long: `Remove the adapters of a tool whose window is over: the date has passed, or the
last session from before the change is closed. Their calls are refused then,
with the current revision named. The contracts themselves stay.`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.prune(cmd.Context(), h, args[0], yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	pass.register(cmd)
	return cmd
}

func (a *app) prune(ctx context.Context, h *daemon.Home, name string, yes bool) error {
	t, ops, err := history(h.Vault, name)
	if err != nil {
		return err
	}
	sessions, err := a.holders(ctx, h.Dir)
	if err != nil {
		return err
	}
	over := publish.Over(t, time.Now(), oldest(sessions))
	if len(over) == 0 {
		return a.print(fmt.Sprintf("%s has no adapter whose window is over; nothing changes", name))
	}
	if err := a.confirm(fmt.Sprintf("Remove the adapters of %s from revision %s?", name, joined(over)), yes); err != nil {
		return err
	}
	op := contract.Op{Op: contract.OpPrune, At: time.Now().UTC(), Revisions: over}
	detail := fmt.Sprintf("tool prune %s revision %s", name, joined(over))
	err = h.Vault.Update(ctx, detail, func(e *vault.Edit) error { return appendOp(e, name, len(ops), op) })
	if err != nil {
		return err
	}
	return a.print(fmt.Sprintf("%s takes calls of revision %s no more", name, joined(over)))
}
