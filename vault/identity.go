package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"filippo.io/age"

	"executor/internal/secret"
)

// Create makes the home (0700) if it is not there, and in it identity.age with
// new keys under the passphrase, which is taken as it is: the caller trims the
// line end of a passphrase file. It refuses with ErrExists when there is an
// identity or a vault. The vault itself is made by Init, because the ledger that
// Init needs is signed with these keys. The caller wipes the passphrase.
func Create(ctx context.Context, cfg Config, pass *secret.Secret) (*Keys, error) {
	if pass.Len() == 0 {
		return nil, ErrEmptyPassphrase
	}
	if cfg.Dir == "" {
		return nil, errNoDir
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the home: %w", err)
	}
	if err := checkModes(cfg.Dir, ownFiles); err != nil {
		return nil, err
	}
	lock, err := takeLock(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer lock.release()
	for _, name := range []string{IdentityFile, VaultFile} {
		if err := refuseExisting(cfg.path(name)); err != nil {
			return nil, err
		}
	}
	return createIdentity(cfg, pass)
}

func createIdentity(cfg Config, pass *secret.Secret) (*Keys, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("make an identity: %w", err)
	}
	root := make([]byte, rootSize)
	rand.Read(root)
	keys, err := newKeys([]byte(id.String()), root)
	if err != nil {
		return nil, err
	}
	if err := writeIdentity(cfg, keys, pass); err != nil {
		keys.Wipe()
		return nil, fmt.Errorf("write %s: %w", IdentityFile, err)
	}
	return keys, nil
}

func writeIdentity(cfg Config, keys *Keys, pass *secret.Secret) error {
	factor, err := cfg.workFactor()
	if err != nil {
		return err
	}
	var recipient *age.ScryptRecipient
	err = pass.Use(func(b []byte) error {
		recipient, err = age.NewScryptRecipient(string(b))
		return err
	})
	if err != nil {
		return err
	}
	recipient.SetWorkFactor(factor)
	plain, err := keys.encode()
	if err != nil {
		return err
	}
	defer clear(plain)
	sealed, err := encrypt(plain, recipient)
	if err != nil {
		return err
	}
	return replaceFile(cfg.Dir, IdentityFile, sealed)
}

// OpenIdentity opens identity.age in dir with the passphrase and changes
// nothing. It refuses with ErrWrongPassphrase, ErrEmptyPassphrase, ErrMissing,
// ErrDamaged, or ErrModes. The caller wipes passphrase and Keys.
func OpenIdentity(dir string, pass *secret.Secret) (*Keys, error) {
	if pass.Len() == 0 {
		return nil, ErrEmptyPassphrase
	}
	if dir == "" {
		return nil, errNoDir
	}
	if err := checkModes(dir, ownFiles); err != nil {
		return nil, err
	}
	sealed, err := readFile(dir, IdentityFile)
	if err != nil {
		return nil, err
	}
	plain, err := decryptIdentity(sealed, pass)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", IdentityFile, err)
	}
	defer clear(plain)
	keys, err := decodeKeys(plain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", IdentityFile, err)
	}
	return keys, nil
}

// scryptHeader is how a file under a passphrase begins. age gives the same
// error for a wrong passphrase as for a file that was never under one.
const scryptHeader = "age-encryption.org/v1\n-> scrypt "

func decryptIdentity(sealed []byte, pass *secret.Secret) ([]byte, error) {
	var id *age.ScryptIdentity
	err := pass.Use(func(b []byte) (err error) {
		id, err = age.NewScryptIdentity(string(b))
		return err
	})
	if err != nil {
		return nil, ErrEmptyPassphrase
	}
	id.SetMaxWorkFactor(maxWorkFactor)
	plain, err := decrypt(sealed, id)
	if errors.Is(err, errOtherRecipient) && bytes.HasPrefix(sealed, []byte(scryptHeader)) {
		return nil, ErrWrongPassphrase
	}
	if err != nil {
		return nil, ErrDamaged
	}
	return plain, nil
}
