package vault

import "errors"

// What Create, OpenIdentity, Open, Reload and Update refuse. Each is matched
// with errors.Is; the error around it names the file and the reason, and never
// shows a secret. After any of them the files are as they were.
var (
	// ErrMissing: identity.age or vault.age is not there.
	ErrMissing = errors.New("missing")
	// ErrExists: there is an identity or a vault already.
	ErrExists = errors.New("already exists")
	// ErrEmptyPassphrase: a passphrase of no bytes protects nothing.
	ErrEmptyPassphrase = errors.New("empty passphrase refused")
	// ErrWrongPassphrase: the passphrase does not open identity.age. A file
	// whose wrapped key was altered looks the same, and cannot be told apart.
	ErrWrongPassphrase = errors.New("wrong passphrase")
	// ErrDamaged: a file was cut or altered, or is none of ours.
	ErrDamaged = errors.New("damaged or altered")
	// ErrForged: the vault decrypts, but the holder of the MAC key did not
	// write it, or another vault than the recorded one bears its generation.
	ErrForged = errors.New("forged")
	// ErrRolledBack: the vault is older than the ledger knows.
	ErrRolledBack = errors.New("rolled back to an older generation")
	// ErrJournalRolledBack: the ledger lacks what the vault saw in it.
	ErrJournalRolledBack = errors.New("journal is older than the vault knows")
	// ErrUnknownKind: an item's kind is none of Config.Kinds.
	ErrUnknownKind = errors.New("unknown kind of item")
	// ErrBusy: another process held the lock for all of Config.LockWait.
	ErrBusy = errors.New("vault is in use, try again")
	// ErrLocked: the secrets or the keys were wiped by Lock, Close or Wipe.
	ErrLocked = errors.New("vault is locked")
	// ErrNoSuchItem: nothing is stored under that kind, name and version.
	ErrNoSuchItem = errors.New("no such item")
	// ErrNotRecorded: the new vault is in place but the ledger could not be
	// told. The next Open, Reload or Update records it.
	ErrNotRecorded = errors.New("stored, but not recorded in the journal")
	// ErrModes: the home or a file in it is open to others. See ModeError.
	ErrModes = errors.New("open to other users")
	// ErrHandover: a box of Seal is damaged or was sealed under another key.
	ErrHandover = errors.New("sealed keys do not open")
)
