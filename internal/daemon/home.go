package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"executor/internal/policy"
	"executor/internal/secret"
	"executor/journal"
	"executor/vault"
)

// Files of a home that are this package's own.
const (
	AgentSocket    = "agent.sock"
	OperatorSocket = "operator.sock"
	lockFile       = "serve.lock"
)

// A Home is the operator's directory, opened with the passphrase: the keys, the
// journal for appending, and the vault. Whoever opened it closes it.
type Home struct {
	Dir     string
	Keys    *vault.Keys
	Journal *journal.Journal
	Vault   *vault.Vault
}

func vaultConfig(dir string, workFactor int) vault.Config {
	return vault.Config{Dir: dir, Kinds: policy.Kinds(), WorkFactor: workFactor}
}

func journalConfig(dir string, keys *vault.Keys) journal.Config {
	return journal.Config{Dir: dir, Key: seed(keys), Clock: time.Now, Rand: rand.Reader}
}

func seed(keys *vault.Keys) *secret.Secret {
	key := keys.JournalKey()
	defer clear(key)
	if key == nil {
		return nil
	}
	return secret.New(key.Seed())
}

// CreateHome makes dir (mode 0700) with an identity under the passphrase, an
// empty vault and a journal. A directory that holds a vault is refused and left as
// it was; one that an interrupted CreateHome left is finished, with the passphrase
// that it was begun with. workFactor is scrypt's, 0 for age's default.
func CreateHome(ctx context.Context, dir string, pass *secret.Secret, workFactor int) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := CheckNewHome(dir); err != nil {
		return err
	}
	keys, err := vault.Create(ctx, vaultConfig(dir, workFactor), pass)
	if errors.Is(err, vault.ErrExists) {
		keys, err = vault.OpenIdentity(dir, pass)
	}
	if err != nil {
		return err
	}
	defer keys.Wipe()
	if err := journal.Create(ctx, journalConfig(dir, keys)); err != nil && !errors.Is(err, journal.ErrExists) {
		return err
	}
	j, err := journal.Open(ctx, journalConfig(dir, keys))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	return vault.Init(ctx, vaultConfig(dir, workFactor), keys, j)
}

// CheckNewHome refuses a directory that holds a vault, or a journal without the
// identity that it belongs to, or whose path is too long for its sockets.
func CheckNewHome(dir string) error {
	if err := CheckSocketPath(filepath.Join(dir, OperatorSocket)); err != nil {
		return err
	}
	if exists(dir, vault.VaultFile) {
		return fmt.Errorf("%s: %w; nothing was changed", filepath.Join(dir, vault.VaultFile), vault.ErrExists)
	}
	if exists(dir, "journal.db") && !exists(dir, vault.IdentityFile) {
		return fmt.Errorf("%s: %w without the identity that it belongs to; nothing was changed", filepath.Join(dir, "journal.db"), vault.ErrExists)
	}
	return nil
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// OpenHome opens dir with the passphrase. On an error nothing was changed.
func OpenHome(ctx context.Context, dir string, pass *secret.Secret) (*Home, error) {
	if err := vault.CheckModes(dir); err != nil {
		return nil, err
	}
	keys, err := vault.OpenIdentity(dir, pass)
	if err != nil {
		return nil, err
	}
	h, err := openWith(ctx, dir, keys)
	if err != nil {
		keys.Wipe()
		return nil, err
	}
	return h, nil
}

func openWith(ctx context.Context, dir string, keys *vault.Keys) (*Home, error) {
	j, err := journal.Open(ctx, journalConfig(dir, keys))
	if err != nil {
		return nil, err
	}
	v, err := vault.Open(ctx, vaultConfig(dir, 0), keys, j)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return &Home{Dir: dir, Keys: keys, Journal: j, Vault: v}, nil
}

// Close wipes what the home held and closes the journal.
func (h *Home) Close() error {
	h.Vault.Close()
	h.Keys.Wipe()
	return h.Journal.Close()
}
