package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"executor/approval"
	"executor/internal/ctl"
	"executor/internal/daemon"
	"executor/internal/secret"
	"executor/vault"

	"github.com/spf13/cobra"
)

// client talks to the serve of the home, without proof.
func (a *app) client() (*ctl.Client, string, error) {
	dir, err := a.homeDir()
	if err != nil {
		return nil, "", err
	}
	c := &ctl.Client{Path: filepath.Join(dir, daemon.OperatorSocket)}
	return c, dir, daemon.CheckSocketPath(c.Path)
}

// proved opens identity.age and talks to the serve of the home with its proof.
func (a *app) proved(ctx context.Context, p *passphraseFlags, fn func(*ctl.Client, *vault.Keys) error) error {
	c, dir, err := a.client()
	if err != nil {
		return err
	}
	if _, err := c.Status(ctx); err != nil {
		return err
	}
	pass, err := a.passphrase(p)
	if err != nil {
		return err
	}
	defer pass.Wipe()
	keys, err := vault.OpenIdentity(dir, pass)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	c.Key = secret.New(keys.ConsoleKey())
	defer c.Key.Wipe()
	return fn(c, keys)
}

type approveOptions struct {
	pass passphraseFlags
	once string
	call callFlags
}

func (a *app) approveCommand() *cobra.Command {
	o := &approveOptions{}
	cmd := &cobra.Command{
		Use:   "approve",
		Short: "Answer approvals at this terminal too",
		Long: `Attach this terminal as a further approval screen. It opens the identity with
your passphrase and proves that to the running serve; the passphrase never
leaves this process. Answers come from a terminal with the whole action shown:
no flag gives one.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.approve(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.once, "once", "", "show the open request `ID`, and end when it is settled")
	o.call.register(cmd)
	o.pass.register(cmd)
	return cmd
}

func (a *app) approve(ctx context.Context, o *approveOptions) error {
	if !a.terminal() {
		return usagef("approvals are answered on a terminal, with the action on the screen; standard input and output must be one")
	}
	notes, err := a.notifier(o.call.command, func(string) {})
	if err != nil {
		return err
	}
	return a.proved(ctx, &o.pass, func(c *ctl.Client, _ *vault.Keys) error {
		seat, err := c.Attach(ctx, approval.Attachment{Name: terminalName(), Only: o.once})
		if err != nil {
			return err
		}
		_, dir, err := a.client()
		if err != nil {
			return err
		}
		return notes.during(ctx, func() error { return a.console(ctx, dir, notes.seat(seat), o.call, o.once != "") })
	})
}

// terminalName is the device of the controlling terminal, such as pts/3.
func terminalName() string {
	name, err := os.Readlink("/proc/self/fd/0")
	if err != nil {
		return "terminal"
	}
	rel, err := filepath.Rel("/dev", name)
	if err != nil {
		return name
	}
	return rel
}

func (a *app) showStatus(out outputFlags, dir string, s ctl.Status) error {
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, s)
	}
	return writeFacts(a.Out, statusFacts(dir, s))
}

func statusFacts(dir string, s ctl.Status) []fact {
	state := "unlocked"
	if s.Locked {
		state = "locked; open it with: executor unlock"
	}
	approvers := strconv.Itoa(s.Approvers)
	if s.Approvers == 0 {
		approvers = "0: calls that need approval are refused; attach a terminal with: executor approve"
	}
	return []fact{
		{"home", dir}, {"serve", "running, version " + orNone(s.Version)}, {"vault", state},
		{"agents", strconv.Itoa(s.Sessions)}, {"requests", strconv.Itoa(s.Requests) + " waiting for approval"}, {"approvers", approvers},
	}
}

func (a *app) lockCommand() *cobra.Command {
	return &cobra.Command{
		Use: "lock", Short: "Wipe the secrets from the running serve until unlock", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			if err := c.Lock(cmd.Context()); err != nil {
				return err
			}
			return a.print("locked")
		},
	}
}

func (a *app) unlockCommand() *cobra.Command {
	var pass passphraseFlags
	cmd := &cobra.Command{
		Use: "unlock", Short: "Open the vault of the running serve again", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.proved(cmd.Context(), &pass, func(c *ctl.Client, keys *vault.Keys) error {
				identity, err := daemon.HandOver(keys)
				if err != nil {
					return err
				}
				defer identity.Wipe()
				if err := c.Unlock(cmd.Context(), identity); err != nil {
					return err
				}
				return a.print("unlocked")
			})
		},
	}
	pass.register(cmd)
	return cmd
}

func (a *app) print(line string) error {
	_, err := io.WriteString(a.Out, line+"\n")
	return err
}

func (a *app) approvalsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "See and end what earlier answers still cover",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.approvalsList(), a.approvalsRevoke())
	return cmd
}

func (a *app) approvalsList() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List what earlier answers still cover", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.proved(cmd.Context(), &pass, func(c *ctl.Client, _ *vault.Keys) error {
				grants, err := c.Grants(cmd.Context())
				if err != nil {
					return err
				}
				return writeListing(a.Out, out, grants, []column[approval.Grant]{
					{"id", func(g approval.Grant) string { return g.ID }},
					{"kind", func(g approval.Grant) string { return g.Kind }},
					{"made", func(g approval.Grant) string { return g.Made.Local().Format("15:04:05") }},
					{"used", func(g approval.Grant) string { return strconv.Itoa(g.Used) }},
					{"ends", func(g approval.Grant) string { return ends(g) }},
					{"covers", func(g approval.Grant) string { return g.Scope }},
				})
			})
		},
	}
	pass.register(cmd)
	out.register(cmd)
	return cmd
}

func ends(g approval.Grant) string {
	if g.Expires.IsZero() {
		return "with its session"
	}
	return g.Expires.Local().Format(time.TimeOnly)
}

func (a *app) approvalsRevoke() *cobra.Command {
	var pass passphraseFlags
	cmd := &cobra.Command{
		Use: "revoke ID", Short: "End a grant, so that the next call is asked about again",
		Args: oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.proved(cmd.Context(), &pass, func(c *ctl.Client, _ *vault.Keys) error {
				err := c.Revoke(cmd.Context(), args[0])
				if errors.Is(err, approval.ErrNoGrant) {
					return fmt.Errorf("no grant has the id %q; see: executor approvals list", args[0])
				}
				if err != nil {
					return err
				}
				return a.print("revoked " + args[0])
			})
		},
	}
	pass.register(cmd)
	return cmd
}
