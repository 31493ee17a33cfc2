package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/sshfile"
	"executor/vault"

	"github.com/spf13/cobra"
)

func (a *app) hostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Name the SSH hosts that agents may reach",
		Long: `A host is an SSH destination with an address, a user, the credential that logs
in and the host keys that are expected there. Agents know it by name only, and
can neither add one nor accept a key.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.hostAdd(), a.hostList(), a.hostShow(), a.hostRekey(), a.hostImport(), a.hostRemove())
	return cmd
}

type hostAddOptions struct {
	pass     passphraseFlags
	host     policy.Host
	approval string
	pins     pinFlags
}

func (a *app) hostAdd() *cobra.Command {
	o := &hostAddOptions{}
	cmd := &cobra.Command{
		Use:   "add NAME --addr HOST:PORT --user USER --credential NAME",
		Short: "Name a new host and pin its host keys",
		Long: `Name a new host. Its host keys come from one of --host-key, a --known-hosts file
(hashed, @cert-authority and @revoked lines too), and the host itself with
--scan: then the fingerprints are shown and you are asked.

With --jump the way leads over another host of yours, with that host's own
pinned keys and credential; it may have a jump host itself. A call needs the
strictest approval of all hosts on the way.`,
		Example: `  executor host add web-1 --addr web-1.example.com:22 --user deploy \
      --credential web --known-hosts ~/.ssh/known_hosts
  executor host add db-1 --addr 10.0.0.5 --user deploy --credential db \
      --jump web-1 --host-key 'ssh-ed25519 AAAA...'`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.host.Name = args[0]
			return a.addHost(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.host.Addr, "addr", "", "address as `HOST:PORT`; port 22 may be left out")
	f.StringVar(&o.host.User, "user", "", "`USER` to log in as")
	f.StringVar(&o.host.Credential, "credential", "", "`NAME` of the credential that logs in (type ssh-key or ssh-password)")
	f.StringVar(&o.host.Jump, "jump", "", "reach it by way of the `HOST` of this name")
	f.StringVar(&o.approval, "approval", "none", "least `LEVEL` of approval that a command there needs: none, session, call or presence")
	o.pins.register(cmd)
	o.pass.register(cmd)
	return cmd
}

func (a *app) addHost(ctx context.Context, o *hostAddOptions) (err error) {
	if o.host.Approval, err = parseFloor(o.approval); err != nil {
		return err
	}
	if o.host.HostKeys, err = a.pins(ctx, &o.pins, o.host); err != nil {
		return err
	}
	if err := o.host.Check(); err != nil {
		return usagef("%v", err)
	}
	body, err := json.Marshal(o.host)
	if err != nil {
		return err
	}
	return a.edit(ctx, &o.pass, func(h *daemon.Home) error {
		if err := checkLogin(h.Vault, o.host); err != nil {
			return err
		}
		if err := checkJump(h.Vault, o.host); err != nil {
			return err
		}
		err := h.Vault.Update(ctx, "host add "+o.host.Name, func(e *vault.Edit) error {
			if _, err := e.Item(policy.KindHost, o.host.Name); err == nil {
				return fmt.Errorf("host %q exists; remove it first with: executor host remove %s", o.host.Name, o.host.Name)
			}
			_, err := e.Put(vault.Item{Kind: policy.KindHost, Name: o.host.Name, Body: body})
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "host %s stored: %s@%s%s with credential %s, pinned keys: %d\n",
			o.host.Name, o.host.User, o.host.Addr, byWayOf(o.host.Jump), o.host.Credential, len(o.host.HostKeys))
		return nil
	})
}

// checkLogin refuses a host that its credential cannot log in to.
func checkLogin(v *vault.Vault, h policy.Host) error {
	g, err := daemon.LoadPolicy(v)
	if err != nil {
		return err
	}
	c, ok := g.Credential(h.Credential)
	if !ok {
		return fmt.Errorf("no credential is called %q; add it first with: executor credential add %s --type ssh-key --target ssh://%s", h.Credential, h.Credential, h.Addr)
	}
	if !c.Covers(h.Addr) {
		return fmt.Errorf("credential %q may not be used on ssh://%s, only on %s", c.Name, h.Addr, strings.Join(c.Targets, ", "))
	}
	return nil
}

// hostInfo is what is shown of a host.
type hostInfo struct {
	Name       string   `json:"name"`
	Addr       string   `json:"addr"`
	User       string   `json:"user"`
	Credential string   `json:"credential"`
	Jump       string   `json:"jump,omitempty"`
	Approval   string   `json:"approval"`
	HostKeys   []string `json:"host_keys"`
}

func hostInfos(v *vault.Vault) ([]hostInfo, error) {
	g, err := daemon.LoadPolicy(v)
	if err != nil {
		return nil, err
	}
	out := []hostInfo{}
	for _, h := range g.Hosts() {
		out = append(out, hostInfo{h.Name, h.Addr, h.User, h.Credential, h.Jump, h.Approval.String(), h.HostKeys})
	}
	return out, nil
}

func (a *app) hostList() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List hosts", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				infos, err := hostInfos(h.Vault)
				if err != nil {
					return err
				}
				return writeListing(a.Out, out, infos, []column[hostInfo]{
					{"name", func(h hostInfo) string { return h.Name }},
					{"addr", func(h hostInfo) string { return h.Addr }},
					{"user", func(h hostInfo) string { return h.User }},
					{"credential", func(h hostInfo) string { return h.Credential }},
					{"approval", func(h hostInfo) string { return h.Approval }},
				})
			})
		},
	}
	pass.register(cmd)
	out.register(cmd)
	return cmd
}

func (a *app) hostShow() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show one host and its pinned keys", Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				infos, err := hostInfos(h.Vault)
				if err != nil {
					return err
				}
				for _, one := range infos {
					if one.Name == args[0] {
						return a.showHost(out, one)
					}
				}
				return fmt.Errorf("no host is called %q", args[0])
			})
		},
	}
	pass.register(cmd)
	out.registerOne(cmd)
	return cmd
}

func (a *app) showHost(out outputFlags, h hostInfo) error {
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, h)
	}
	keys := make([]string, len(h.HostKeys))
	for i, k := range h.HostKeys {
		keys[i] = sshfile.Describe(k)
	}
	return writeFacts(a.Out, []fact{
		{"name", h.Name}, {"address", h.Addr}, {"user", h.User}, {"credential", h.Credential},
		{"by way of", h.Jump}, {"approval", h.Approval}, {"host keys", strings.Join(keys, "\n")},
	})
}

func (a *app) hostRemove() *cobra.Command {
	var pass passphraseFlags
	var yes bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a host", Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd.Context(), &pass, func(h *daemon.Home) error {
				if err := checkNoJump(h.Vault, args[0]); err != nil {
					return err
				}
				return a.removeItem(cmd.Context(), h, policy.KindHost, args[0], fmt.Sprintf("Remove host %q?", args[0]), yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	pass.register(cmd)
	return cmd
}
