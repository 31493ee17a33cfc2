package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/sshfile"
	"executor/internal/term"
	"executor/vault"

	"github.com/spf13/cobra"
)

func (a *app) hostRekey() *cobra.Command {
	var pass passphraseFlags
	var pins pinFlags
	cmd := &cobra.Command{
		Use:   "rekey NAME...",
		Short: "Pin new host keys, after a host was set up anew",
		Long: `Replace the pinned keys of hosts that you named before, after they were set up
anew. The new keys come from one of --host-key, --known-hosts and --scan, as
with "host add". Old and new fingerprints are shown and you are asked. Revoked
keys stay revoked. Nothing else of the host changes, and what was approved for a
session there is asked about again.`,
		Example: `  executor host rekey web-1 --scan
  executor host rekey web-1 web-2 --known-hosts ~/.ssh/known_hosts`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("at least one NAME is due")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && len(pins.hostKeys) > 0 {
				return usagef("--host-key is for one host: give several from --known-hosts or --scan")
			}
			return a.edit(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.rekey(cmd.Context(), h, args, &pins)
			})
		},
	}
	pins.register(cmd)
	pass.register(cmd)
	return cmd
}

// rekey changes all of the hosts or none.
func (a *app) rekey(ctx context.Context, h *daemon.Home, names []string, o *pinFlags) error {
	g, err := daemon.LoadPolicy(h.Vault)
	if err != nil {
		return err
	}
	var changed []policy.Host
	for _, name := range names {
		old, ok := g.Host(name)
		if !ok {
			return fmt.Errorf("no host is called %q", name)
		}
		next := *old
		show := *o
		show.yes = true // asked once below, for all of them
		if next.HostKeys, err = a.pins(ctx, &show, next); err != nil {
			return fmt.Errorf("host %s: %w", name, err)
		}
		if next.HostKeys, err = keepRevoked(old.HostKeys, next.HostKeys); err != nil {
			return fmt.Errorf("host %s: %w", name, err)
		}
		a.showRekey(old, &next)
		changed = append(changed, next)
	}
	if err := a.confirm("Pin the new keys?", o.yes); err != nil {
		return err
	}
	if err := putHosts(ctx, h, "host rekey "+strings.Join(names, " "), changed); err != nil {
		return err
	}
	for _, c := range changed {
		fmt.Fprintf(a.Out, "host %s: pinned keys: %d\n", c.Name, len(c.HostKeys))
	}
	return nil
}

// keepRevoked adds the revocations of before, and refuses a key that is among them.
func keepRevoked(old, pins []string) ([]string, error) {
	for _, p := range old {
		key, revoked := strings.CutPrefix(p, sshfile.Revoked+" ")
		if !revoked {
			continue
		}
		if slices.Contains(pins, key) {
			return nil, fmt.Errorf("the key %s is revoked", sshfile.Describe(key))
		}
		pins = append(pins, p)
	}
	slices.Sort(pins)
	return slices.Compact(pins), nil
}

func (a *app) showRekey(old, next *policy.Host) {
	fmt.Fprintf(a.Err, "host %s (%s):\n", next.Name, term.Safe(next.Addr))
	for _, p := range old.HostKeys {
		if !slices.Contains(next.HostKeys, p) {
			fmt.Fprintln(a.Err, "  no longer  "+term.Safe(sshfile.Describe(p)))
		}
	}
	for _, p := range next.HostKeys {
		label := "  new        "
		if slices.Contains(old.HostKeys, p) {
			label = "  as before  "
		}
		fmt.Fprintln(a.Err, label+term.Safe(sshfile.Describe(p)))
	}
}

// putHosts stores further versions of hosts in one generation.
func putHosts(ctx context.Context, h *daemon.Home, detail string, hosts []policy.Host) error {
	return h.Vault.Update(ctx, detail, func(e *vault.Edit) error {
		for _, host := range hosts {
			body, err := json.Marshal(host)
			if err != nil {
				return err
			}
			if _, err := e.Put(vault.Item{Kind: policy.KindHost, Name: host.Name, Body: body}); err != nil {
				return err
			}
		}
		return nil
	})
}
