package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"executor/executor/sshrun"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/sshfile"
	"executor/internal/term"
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
	cmd.AddCommand(a.hostAdd(), a.hostList(), a.hostShow(), a.hostRemove())
	return cmd
}

type hostAddOptions struct {
	pass       passphraseFlags
	host       policy.Host
	approval   string
	hostKeys   []string
	knownHosts string
	scan       bool
	yes        bool
}

func (a *app) hostAdd() *cobra.Command {
	o := &hostAddOptions{}
	cmd := &cobra.Command{
		Use:   "add NAME --addr HOST:PORT --user USER --credential NAME",
		Short: "Name a new host and pin its host keys",
		Long: `Name a new host. Its host keys come from one of --host-key, a --known-hosts file
(hashed, @cert-authority and @revoked lines too), and the host itself with
--scan: then the fingerprints are shown and you are asked.`,
		Example: `  executor host add web-1 --addr web-1.example.com:22 --user deploy \
      --credential web --known-hosts ~/.ssh/known_hosts`,
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
	f.StringVar(&o.approval, "approval", "none", "least `LEVEL` of approval that a command there needs: none, session, call or presence")
	f.StringArrayVar(&o.hostKeys, "host-key", nil, "pinned `KEY` as 'TYPE BASE64' (repeatable)")
	f.StringVar(&o.knownHosts, "known-hosts", "", "take the pinned keys from the known_hosts file `FILE`")
	f.BoolVar(&o.scan, "scan", false, "ask the host for its keys, show them, and pin them after a yes")
	f.BoolVar(&o.yes, "yes", false, "pin what --scan found without asking")
	o.pass.register(cmd)
	return cmd
}

func (a *app) addHost(ctx context.Context, o *hostAddOptions) (err error) {
	if o.host.Approval, err = parseFloor(o.approval); err != nil {
		return err
	}
	if o.host.HostKeys, err = a.pins(ctx, o); err != nil {
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
		fmt.Fprintf(a.Out, "host %s stored: %s@%s with credential %s, pinned keys: %d\n",
			o.host.Name, o.host.User, o.host.Addr, o.host.Credential, len(o.host.HostKeys))
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

// pins are the host keys that the operator vouches for.
func (a *app) pins(ctx context.Context, o *hostAddOptions) ([]string, error) {
	switch {
	case len(o.hostKeys) > 0 && o.knownHosts != "", o.scan && (len(o.hostKeys) > 0 || o.knownHosts != ""):
		return nil, usagef("--host-key, --known-hosts and --scan exclude each other")
	case o.knownHosts != "":
		data, err := os.ReadFile(o.knownHosts)
		if err != nil {
			return nil, err
		}
		pins, warnings, err := sshfile.ParseKnownHosts(data, o.knownHosts, o.host.Addr)
		for _, w := range warnings {
			fmt.Fprintln(a.Err, "warning: "+term.Safe(w))
		}
		return pins, err
	case o.scan:
		return a.scan(ctx, o)
	case len(o.hostKeys) == 0:
		return nil, usagef("no host key: one of --host-key, --known-hosts and --scan is due")
	}
	var pins []string
	for _, k := range o.hostKeys {
		pin, err := sshfile.ParseHostKey(k)
		if err != nil {
			return nil, usagef("--host-key: %v", err)
		}
		pins = append(pins, pin)
	}
	return pins, nil
}

func (a *app) scan(ctx context.Context, o *hostAddOptions) ([]string, error) {
	pins, err := sshrun.ScanHostKeys(ctx, o.host.Addr, nil)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Err, "%s offers these host keys; compare them with what its console or provider shows:\n", term.Safe(o.host.Addr))
	for _, p := range pins {
		fmt.Fprintln(a.Err, "  "+term.Safe(sshfile.Describe(p)))
	}
	return pins, a.confirm("Pin these keys?", o.yes)
}

// hostInfo is what is shown of a host.
type hostInfo struct {
	Name       string   `json:"name"`
	Addr       string   `json:"addr"`
	User       string   `json:"user"`
	Credential string   `json:"credential"`
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
		out = append(out, hostInfo{h.Name, h.Addr, h.User, h.Credential, h.Approval.String(), h.HostKeys})
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
	out.register(cmd)
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
		{"approval", h.Approval}, {"host keys", strings.Join(keys, "\n")},
	})
}

func (a *app) hostRemove() *cobra.Command {
	var pass passphraseFlags
	var yes bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a host", Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.confirm(fmt.Sprintf("Remove host %q?", args[0]), yes); err != nil {
				return err
			}
			return a.edit(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.removeItem(cmd.Context(), h, policy.KindHost, args[0])
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	pass.register(cmd)
	return cmd
}
