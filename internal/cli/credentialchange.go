package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/strictjson"
	"executor/vault"

	"github.com/spf13/cobra"
)

type credentialChange struct {
	pass     passphraseFlags
	fromFile string
	files    credentialFiles
	// certificate is the file of an SSH user certificate.
	certificate string
	to          int
	yes         bool
}

func (a *app) credentialRotate() *cobra.Command {
	o := &credentialChange{}
	cmd := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Give a credential a new secret; the old one is kept for rollback",
		Long: `Give a credential a new secret. It is read as by "credential add", and used from
the next call on. The old one is kept: "credential rollback" brings it back.
Type mtls takes a new certificate beside its key.

With --certificate and without --from-file an SSH key stays, and gets another
certificate; with a new key the old certificate goes.`,
		Example: `  executor credential rotate ci
  executor credential rotate web --from-file ~/.ssh/deploy_key_2027`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.certificate != "" && o.fromFile == "" {
				return a.renewCertificate(cmd.Context(), args[0], o)
			}
			return a.rotateCredential(cmd.Context(), args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.fromFile, "from-file", "", "read the new secret from `FILE`")
	o.files.register(cmd.Flags())
	cmd.Flags().StringVar(&o.certificate, "certificate", "", "`FILE` with the user certificate of the key (type ssh-key)")
	o.pass.register(cmd)
	return cmd
}

func (a *app) rotateCredential(ctx context.Context, name string, o *credentialChange) error {
	if err := a.checkSources("", &o.pass, o.fromFile); err != nil {
		return err
	}
	return a.edit(ctx, &o.pass, func(h *daemon.Home) error {
		meta, err := credentialMeta(h.Vault, name)
		if err != nil {
			return err
		}
		if err := o.files.read(&meta); err != nil {
			return err
		}
		if err := meta.Check(); err != nil {
			return usagef("%v", err)
		}
		s, err := a.readSecret(&meta, o.fromFile)
		if err != nil {
			return err
		}
		defer s.Wipe()
		if meta.Certificate, err = a.readCertificate(o.certificate); err != nil {
			return err
		}
		if err := checkCertificate(meta.Certificate, s); err != nil {
			return err
		}
		return a.putVersion(ctx, h, "credential rotate "+name, meta, 0, func(*vault.Edit) (vault.Item, error) {
			return vault.Item{Secret: s.Clone()}, nil
		})
	})
}

func (a *app) credentialRollback() *cobra.Command {
	o := &credentialChange{}
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Bring back an earlier secret, as a new version",
		Example: `  executor credential rollback ci
  executor credential rollback ci --to 2`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.rollbackCredential(cmd.Context(), args[0], o)
		},
	}
	cmd.Flags().IntVar(&o.to, "to", 0, "`VERSION` to bring back (default: the one before the current)")
	o.pass.register(cmd)
	return cmd
}

func (a *app) rollbackCredential(ctx context.Context, name string, o *credentialChange) error {
	return a.edit(ctx, &o.pass, func(h *daemon.Home) error {
		meta, err := credentialMeta(h.Vault, name)
		if err != nil {
			return err
		}
		from, err := rollbackTarget(h.Vault, name, o.to)
		if err != nil {
			return err
		}
		if err := certificatesOf(&meta, h.Vault, from); err != nil {
			return err
		}
		return a.putVersion(ctx, h, fmt.Sprintf("credential rollback %s to version %d", name, from), meta, from, func(e *vault.Edit) (vault.Item, error) {
			s, err := e.Lease(policy.KindCredential, name, from)
			return vault.Item{Secret: s}, err
		})
	})
}

// certificatesOf gives a credential the certificates that a version of it had.
func certificatesOf(meta *policy.Credential, v *vault.Vault, version int) error {
	for _, it := range v.Versions(policy.KindCredential, meta.Name) {
		if it.Version != version {
			continue
		}
		var old policy.Credential
		if err := strictjson.Decode(it.Body, &old); err != nil {
			return fmt.Errorf("credential %q version %d: %w", meta.Name, version, err)
		}
		meta.Cert, meta.Certificate = old.Cert, old.Certificate
	}
	return nil
}

// rollbackTarget is the version whose secret comes back.
func rollbackTarget(v *vault.Vault, name string, to int) (int, error) {
	versions := v.Versions(policy.KindCredential, name)
	if to == 0 && len(versions) > 1 {
		return versions[len(versions)-2].Version, nil
	}
	for _, it := range versions[:len(versions)-1] {
		if it.Version == to {
			return to, nil
		}
	}
	return 0, fmt.Errorf("credential %q has no earlier version%s to go back to", name, map[bool]string{true: " " + strconv.Itoa(to)}[to != 0])
}

// putVersion stores a further version of a credential with the metadata of its
// current one.
func (a *app) putVersion(ctx context.Context, h *daemon.Home, detail string, meta policy.Credential, from int, secretOf func(*vault.Edit) (vault.Item, error)) error {
	meta.Created, meta.RestoredFrom = time.Now().UTC().Truncate(time.Second), from
	body, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	var version int
	err = h.Vault.Update(ctx, detail, func(e *vault.Edit) error {
		it, err := secretOf(e)
		if err != nil {
			return err
		}
		it.Kind, it.Name, it.Body = policy.KindCredential, meta.Name, body
		version, err = e.Put(it)
		return err
	})
	if err != nil {
		return err
	}
	text := fmt.Sprintf("credential %s is now version %d", meta.Name, version)
	if from > 0 {
		text += fmt.Sprintf(", with the secret of version %d", from)
	}
	fmt.Fprintln(a.Out, text)
	return nil
}

func credentialMeta(v *vault.Vault, name string) (policy.Credential, error) {
	it, err := v.Item(policy.KindCredential, name)
	if errors.Is(err, vault.ErrNoSuchItem) {
		return policy.Credential{}, fmt.Errorf("no credential is called %q", name)
	}
	if err != nil {
		return policy.Credential{}, err
	}
	var meta policy.Credential
	if err := strictjson.Decode(it.Body, &meta); err != nil {
		return policy.Credential{}, fmt.Errorf("credential %q: %w", name, err)
	}
	meta.Name = name
	return meta, nil
}

func (a *app) credentialRemove() *cobra.Command {
	o := &credentialChange{}
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a credential with all its versions",
		Args:  oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.removeCredential(cmd.Context(), args[0], o)
		},
	}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	o.pass.register(cmd)
	return cmd
}

func (a *app) removeCredential(ctx context.Context, name string, o *credentialChange) error {
	return a.edit(ctx, &o.pass, func(h *daemon.Home) error {
		infos, err := credentialInfos(h.Vault)
		if err != nil {
			return err
		}
		for _, c := range infos {
			if c.Name == name && len(c.Hosts) > 0 {
				return fmt.Errorf("credential %q logs in at %s; remove that first with: executor host remove %s", name, strings.Join(c.Hosts, ", "), c.Hosts[0])
			}
		}
		return a.removeItem(ctx, h, policy.KindCredential, name, fmt.Sprintf("Remove credential %q and all its versions?", name), o.yes)
	})
}

// removeItem asks the question once it knows that the item is there.
func (a *app) removeItem(ctx context.Context, h *daemon.Home, kind, name, question string, yes bool) error {
	if _, err := h.Vault.Item(kind, name); errors.Is(err, vault.ErrNoSuchItem) {
		return fmt.Errorf("no %s is called %q", kind, name)
	}
	if err := a.confirm(question, yes); err != nil {
		return err
	}
	err := h.Vault.Update(ctx, kind+" remove "+name, func(e *vault.Edit) error { return e.Remove(kind, name) })
	if errors.Is(err, vault.ErrNoSuchItem) {
		return fmt.Errorf("no %s is called %q", kind, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s %s removed\n", kind, name)
	return nil
}
