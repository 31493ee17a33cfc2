package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/vault"

	"github.com/spf13/cobra"
)

func (a *app) credentialCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "credential",
		Short: "Keep the secrets that are used for agents",
		Long: `A credential is a secret with a type, the targets it may be used on, and, if you
wish, the least approval that its use needs. Agents learn its name and where it
applies; nothing ever shows the secret again, to you or to them.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.credentialAdd(), a.credentialList(), a.credentialShow(),
		a.credentialTest(), a.credentialRotate(), a.credentialRollback(), a.credentialRemove())
	return cmd
}

type credentialAddOptions struct {
	pass     passphraseFlags
	meta     policy.Credential
	approval string
	fromFile string
	files    credentialFiles
	// certificate is the file of an SSH user certificate.
	certificate string
}

func (a *app) credentialAdd() *cobra.Command {
	o := &credentialAddOptions{}
	cmd := &cobra.Command{
		Use:   "add NAME --type TYPE --target PATTERN...",
		Short: "Store a new credential",
		Long: `Store a new credential. The secret is read from --from-file, else from standard
input when that is not a terminal, else from a hidden prompt; never from the
command line or the environment.

A target is https://host[:port]/path-prefix (http only for this machine) or, for
the ssh types, ssh://host:port. Repeat --target for several.

"executor help credentials" says what each type sends and which flags it takes.`,
		Example: `  executor credential add ci --type bearer --target https://ci.example.com/v1/
  executor credential add web --type ssh-key --approval presence \
      --target ssh://web-1.example.com:22 --from-file ~/.ssh/deploy_key`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.meta.Name = args[0]
			return a.addCredential(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.meta.Type, "type", "", "`TYPE`: bearer, basic, header, query, cookie, aws-sigv4, oauth2-client, mtls, ssh-key or ssh-password")
	f.StringArrayVar(&o.meta.Targets, "target", nil, "`PATTERN` of where it may be used (repeatable)")
	f.StringVar(&o.approval, "approval", "none", "least `LEVEL` of approval that its use needs: none, session, call or presence")
	f.StringVar(&o.fromFile, "from-file", "", "read the secret from `FILE`")
	f.StringVar(&o.meta.Username, "username", "", "user `NAME` (type basic)")
	f.StringVar(&o.meta.Header, "header", "", "`NAME` of the header that carries it (type header)")
	f.StringVar(&o.meta.Format, "format", "", "`FORM` of the header's value, such as 'Token {secret}' (type header)")
	o.registerTypes(f)
	f.StringVar(&o.certificate, "certificate", "", "`FILE` with the user certificate of the key, such as id_ed25519-cert.pub (type ssh-key)")
	o.pass.register(cmd)
	return cmd
}

func (a *app) addCredential(ctx context.Context, o *credentialAddOptions) (err error) {
	if err := o.files.read(&o.meta); err != nil {
		return err
	}
	if o.meta.Approval, err = parseFloor(o.approval); err != nil {
		return err
	}
	if o.meta.Certificate, err = a.readCertificate(o.certificate); err != nil {
		return err
	}
	if err := o.given(); err != nil {
		return err
	}
	o.meta.Created = time.Now().UTC().Truncate(time.Second)
	if err := o.meta.Check(); err != nil {
		return usagef("%v", err)
	}
	if err := a.checkSources(o.meta.Type, &o.pass, o.fromFile); err != nil {
		return err
	}
	body, err := json.Marshal(o.meta)
	if err != nil {
		return err
	}
	return a.edit(ctx, &o.pass, func(h *daemon.Home) error {
		if _, err := h.Vault.Item(policy.KindCredential, o.meta.Name); err == nil {
			return credentialExists(o.meta.Name)
		}
		s, err := a.readSecret(&o.meta, o.fromFile)
		if err != nil {
			return err
		}
		defer s.Wipe()
		if err := checkCertificate(o.meta.Certificate, s); err != nil {
			return err
		}
		var version int
		err = h.Vault.Update(ctx, "credential add "+o.meta.Name, func(e *vault.Edit) error {
			if _, err := e.Item(policy.KindCredential, o.meta.Name); err == nil {
				return credentialExists(o.meta.Name)
			}
			version, err = e.Put(vault.Item{Kind: policy.KindCredential, Name: o.meta.Name, Body: body, Secret: s.Clone()})
			return err
		})
		if err != nil {
			return err
		}
		a.warnUnverified(&o.meta)
		fmt.Fprintf(a.Out, "credential %s version %d stored (%s), for %s\n", o.meta.Name, version, o.meta.Type, strings.Join(o.meta.Targets, ", "))
		return nil
	})
}

// given names the flags without which there is no credential.
func (o *credentialAddOptions) given() error {
	switch {
	case o.meta.Type == "":
		return usagef("no type: say with --type which, of %s", strings.Join(policy.Types(), ", "))
	case o.meta.Type == policy.HeaderType && o.meta.Header == "":
		return usagef("no header: name the one that carries the secret with --header NAME")
	}
	return nil
}

func credentialExists(name string) error {
	return fmt.Errorf("credential %q exists; to change its secret: executor credential rotate %s", name, name)
}

// parseFloor reads an approval level that the operator may set as a floor.
func parseFloor(name string) (action.Level, error) {
	l, err := action.ParseLevel(name)
	if err != nil || l == action.Deny {
		return action.Deny, usagef("--approval %s: none, session, call or presence is due", name)
	}
	return l, nil
}
