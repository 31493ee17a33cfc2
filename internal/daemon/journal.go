package daemon

import (
	"context"
	"errors"

	"executor/internal/secret"
	"executor/journal"
	"executor/vault"
)

// KnownOfJournal returns what the vault in dir knows of the journal: the verifier
// key, and the head at the vault's last write or lock. It reads no file of the
// journal.
func KnownOfJournal(dir string, pass *secret.Secret) (key string, head journal.Head, err error) {
	keys, err := vault.OpenIdentity(dir, pass)
	if err != nil {
		return "", journal.Head{}, err
	}
	defer keys.Wipe()
	if key, err = journal.VerifierKey(seed(keys)); err != nil {
		return "", journal.Head{}, err
	}
	head.From = "the vault"
	head.Size, head.Root, err = vault.JournalHead(vaultConfig(dir, 0), keys)
	return key, head, err
}

// RepinJournal makes a new journal.pin where the old one is missing or cannot be
// read, after the whole log was verified against the vault's key and head. No
// serve may run on dir: ErrServing.
func RepinJournal(ctx context.Context, dir string, pass *secret.Secret) (_ journal.Report, err error) {
	if err := vault.CheckModes(dir); err != nil {
		return journal.Report{}, err
	}
	lock, err := lockHome(dir)
	if err != nil {
		return journal.Report{}, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	keys, err := vault.OpenIdentity(dir, pass)
	if err != nil {
		return journal.Report{}, err
	}
	defer keys.Wipe()
	_, head, err := KnownOfJournal(dir, pass)
	if err != nil {
		return journal.Report{}, err
	}
	return journal.Repin(ctx, journalConfig(dir, keys), []journal.Head{head})
}
