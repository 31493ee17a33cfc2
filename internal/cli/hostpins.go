package cli

import (
	"context"
	"fmt"
	"os"

	"executor/executor/sshrun"
	"executor/internal/policy"
	"executor/internal/sshfile"
	"executor/internal/term"

	"github.com/spf13/cobra"
)

// pinFlags say where the pinned keys of a host come from.
type pinFlags struct {
	hostKeys   []string
	knownHosts string
	scan       bool
	yes        bool
}

func (o *pinFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.hostKeys, "host-key", nil, "pinned `KEY` as 'TYPE BASE64' (repeatable)")
	f.StringVar(&o.knownHosts, "known-hosts", "", "take the pinned keys from the known_hosts file `FILE`")
	f.BoolVar(&o.scan, "scan", false, "ask the host for its keys, show them, and pin them after a yes")
	f.BoolVar(&o.yes, "yes", false, "pin without asking")
}

// pins are the host keys that the operator vouches for.
func (a *app) pins(ctx context.Context, o *pinFlags, h policy.Host) ([]string, error) {
	switch {
	case len(o.hostKeys) > 0 && o.knownHosts != "", o.scan && (len(o.hostKeys) > 0 || o.knownHosts != ""):
		return nil, usagef("--host-key, --known-hosts and --scan exclude each other")
	case o.knownHosts != "":
		data, err := os.ReadFile(o.knownHosts)
		if err != nil {
			return nil, err
		}
		pins, warnings, err := sshfile.ParseKnownHosts(data, o.knownHosts, h.Addr)
		for _, w := range warnings {
			fmt.Fprintln(a.Err, "warning: "+term.Safe(w))
		}
		return pins, err
	case o.scan && h.Jump != "":
		return nil, usagef("--scan does not go by way of a jump host; on %s run: ssh-keyscan -p PORT HOST, compare, and give the result with --known-hosts", h.Jump)
	case o.scan:
		return a.scan(ctx, o, h)
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

func (a *app) scan(ctx context.Context, o *pinFlags, h policy.Host) ([]string, error) {
	pins, err := sshrun.ScanHostKeys(ctx, h.Addr, nil)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Err, "%s offers these host keys; compare them with what its console or provider shows:\n", term.Safe(h.Addr))
	for _, p := range pins {
		fmt.Fprintln(a.Err, "  "+term.Safe(sshfile.Describe(p)))
	}
	return pins, a.confirm("Pin these keys?", o.yes)
}
