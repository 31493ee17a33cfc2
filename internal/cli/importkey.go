package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/internal/sshconfig"
	"executor/internal/sshfile"
	"executor/internal/term"
	"executor/vault"
)

// An importKey is a private key that becomes a credential, or is one already.
type importKey struct {
	name        string
	pem         *secret.Secret
	certificate string
	known       *policy.Credential // the stored credential with this key, if there is one
	targets     []string           // to be added
}

func (k *importKey) target(t string) {
	if k.known != nil && slices.Contains(k.known.Targets, t) || slices.Contains(k.targets, t) {
		return
	}
	k.targets = append(k.targets, t)
}

// put stores the key, or the known credential with the further targets.
func (k *importKey) put(e *vault.Edit, now time.Time) error {
	meta := policy.Credential{Name: k.name, Type: policy.SSHKey, Targets: k.targets, Approval: action.None, Certificate: k.certificate, Created: now}
	if k.known != nil {
		if len(k.targets) == 0 {
			return nil
		}
		meta = *k.known
		meta.Targets, meta.Created = append(slices.Clone(k.known.Targets), k.targets...), now
	}
	if err := meta.Check(); err != nil {
		return err
	}
	body, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	_, err = e.Put(vault.Item{Kind: policy.KindCredential, Name: k.name, Body: body, Secret: k.pem.Clone()})
	return err
}

// key is the credential for a host: the first of its key files that is there, or
// the one standard file if it names none.
func (im *hostImporter) key(e sshconfig.Entry) (*importKey, error) {
	paths := e.Keys
	if len(paths) == 0 {
		paths = im.standardKeys()
		if len(paths) > 1 {
			return nil, fmt.Errorf("it names no IdentityFile, and there are several: %s", strings.Join(paths, ", "))
		}
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			im.leave("%s: %v", e.Alias, err)
			continue
		}
		return im.keyFile(p, e.Certificates)
	}
	return nil, errors.New("no private key file; add it with: executor credential add, executor host add")
}

func (im *hostImporter) standardKeys() []string {
	var found []string
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		p := filepath.Join(im.sshDir, name)
		if _, err := os.Stat(p); err == nil {
			found = append(found, p)
		}
	}
	return found
}

func (im *hostImporter) keyFile(path string, certificates []string) (*importKey, error) {
	if k, ok := im.files[path]; ok {
		return k, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	fmt.Fprintln(im.app.Err, term.Safe(path)+":")
	s, err := im.app.privateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k := &importKey{pem: s}
	im.files[path] = k
	if k.certificate, err = im.certificate(path, certificates, s); err != nil {
		im.leave("%v", err)
	}
	if err := im.name(k, path); err != nil {
		return nil, err
	}
	im.keys = append(im.keys, k)
	return k, nil
}

// certificate finds the key's certificate: named, or in the file beside it.
func (im *hostImporter) certificate(path string, named []string, s *secret.Secret) (string, error) {
	for _, file := range append(slices.Clone(named), path+"-cert.pub") {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			continue
		}
		line, err := im.app.readCertificate(file)
		if err == nil {
			err = checkCertificate(line, s)
		}
		if err == nil || !errors.Is(err, sshfile.ErrOtherKey) {
			return line, err
		}
	}
	return "", nil
}

// name gives the key the name of the credential that holds it, or a new one from its file.
func (im *hostImporter) name(k *importKey, path string) error {
	for _, c := range im.known.Credentials() {
		if c.Type == policy.SSHKey && im.holds(c, k) {
			k.name, k.known = c.Name, c
			return nil
		}
	}
	base := strings.ToLower(filepath.Base(path))
	if policy.CheckName(base) != nil {
		base = "ssh-key"
	}
	for n := 1; n < 100; n++ {
		k.name = base
		if n > 1 {
			k.name = fmt.Sprintf("%s-%d", base, n)
		}
		_, taken := im.known.Credential(k.name)
		if !taken && !slices.ContainsFunc(im.keys, func(o *importKey) bool { return o.name == k.name }) {
			return nil
		}
	}
	return fmt.Errorf("no free name for a credential like %s", base)
}

// holds reports whether a credential is this key. Two copies of a key differ in
// bytes that mean nothing, so the public halves are compared.
func (im *hostImporter) holds(c *policy.Credential, k *importKey) bool {
	s, err := im.home.Vault.Lease(policy.KindCredential, c.Name, c.Version)
	if err != nil {
		return false
	}
	defer s.Wipe()
	stored, read := publicKey(s), publicKey(k.pem)
	return stored != "" && stored == read
}

func publicKey(s *secret.Secret) (line string) {
	_ = s.Use(func(b []byte) error {
		key, err := sshfile.ParsePrivateKey(b, nil)
		if err != nil {
			return err
		}
		key.PEM.Wipe()
		line = key.PublicKey
		return nil
	})
	return line
}
