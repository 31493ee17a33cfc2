package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"strings"

	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/sshconfig"
	"executor/internal/term"

	"github.com/spf13/cobra"
)

type hostImportOptions struct {
	pass      passphraseFlags
	sshConfig string
	match     string
	approval  string
	yes       bool
}

func (a *app) hostImport() *cobra.Command {
	o := &hostImportOptions{}
	cmd := &cobra.Command{
		Use:   "import --ssh-config FILE",
		Short: "Bring in hosts, keys and host keys from an SSH configuration",
		Long: `Bring in the hosts of an OpenSSH configuration in one go: HostName, Port, User,
the private key of IdentityFile as a credential (its passphrase is removed, a
certificate beside it is taken along), ProxyJump as jump hosts, and the keys
that its known_hosts files pin. A host whose key is not pinned there is left
out.

What will be stored is shown, with all that is left out and why, and you are
asked. Match blocks, ProxyCommand and keys that live in an agent or a token are
not brought in. Nothing of the files is changed.`,
		Example: `  executor host import --ssh-config ~/.ssh/config --match 'web-*'`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.sshConfig == "" {
				return usagef("--ssh-config FILE is due, such as ~/.ssh/config")
			}
			level, err := parseFloor(o.approval)
			if err != nil {
				return err
			}
			return a.edit(cmd.Context(), &o.pass, func(h *daemon.Home) error {
				return a.importHosts(cmd.Context(), h, o, level)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sshConfig, "ssh-config", "", "read the OpenSSH configuration `FILE`")
	f.StringVar(&o.match, "match", "*", "only hosts whose alias matches `PATTERN`, with * and ?; and their jump hosts")
	f.StringVar(&o.approval, "approval", "none", "least `LEVEL` of approval that a command there needs: none, session, call or presence")
	f.BoolVar(&o.yes, "yes", false, "store without asking")
	o.pass.register(cmd)
	return cmd
}

func (a *app) importHosts(ctx context.Context, h *daemon.Home, o *hostImportOptions, floor action.Level) error {
	im, err := a.newImport(h, o.sshConfig, floor)
	if err != nil {
		return err
	}
	defer im.wipe()
	for _, alias := range im.config.Aliases() {
		ok, err := sshconfig.Match(o.match, alias)
		if err != nil {
			return usagef("--match: %v", err)
		}
		if !ok {
			continue
		}
		if _, err := im.host(sshconfig.Jump{Host: alias}, ""); err != nil {
			im.leave("%s: %v", alias, err)
		}
	}
	im.show()
	if len(im.hosts) == 0 {
		return errors.New("nothing can be brought in")
	}
	if err := a.confirm("Store this?", o.yes); err != nil {
		return err
	}
	if err := im.store(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "hosts stored: %d\n", len(im.hosts))
	return err
}

func (a *app) newImport(h *daemon.Home, file string, floor action.Level) (*hostImporter, error) {
	home := a.Getenv("HOME")
	if home == "" {
		return nil, usagef("no home directory: HOME is not set")
	}
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("who you are, for hosts without User: %w", err)
	}
	config, err := sshconfig.Read(file, home, me.Username)
	if err != nil {
		return nil, err
	}
	g, err := daemon.LoadPolicy(h.Vault)
	if err != nil {
		return nil, err
	}
	return &hostImporter{
		app: a, home: h, known: g, config: config, sshDir: filepath.Join(home, ".ssh"), floor: floor,
		files: map[string]*importKey{}, left: config.LeftOut,
	}, nil
}

// show prints what will be stored and what not.
func (im *hostImporter) show() {
	for _, k := range im.keys {
		if len(k.targets) == 0 {
			continue
		}
		state := "new"
		if k.known != nil {
			state = "known, with more targets"
		}
		fmt.Fprintf(im.app.Out, "credential  %s (%s), for %s\n", term.Safe(k.name), state, term.Safe(strings.Join(k.targets, ", ")))
	}
	for _, h := range im.hosts {
		fmt.Fprintf(im.app.Out, "host        %s\n", term.Safe(fmt.Sprintf("%s: %s@%s%s with credential %s, pinned keys: %d",
			h.Name, h.User, h.Addr, byWayOf(h.Jump), h.Credential, len(h.HostKeys))))
	}
	for _, l := range im.left {
		fmt.Fprintf(im.app.Out, "left out    %s\n", term.Safe(l))
	}
}
