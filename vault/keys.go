package vault

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"

	"filippo.io/age"

	"executor/internal/secret"
)

// rootSize is the number of random bytes that all keys but the age identity
// are derived from.
const rootSize = 32

// The info strings of HKDF-SHA256 (RFC 5869) over the root, one for each use.
const (
	infoMAC     = "executor vault generation MAC v1"
	infoConsole = "executor console proof v1"
	infoJournal = "executor journal ed25519 seed v1"
)

// Keys is what identity.age holds, opened. It has two halves: the opener (the
// age identity and the root), which reads and writes the vault and ends with
// Vault.Lock, and the keys of the journal and of the consoles, which last until
// Wipe, so that a locked daemon still signs its refusals and still knows its
// operator. It is safe for concurrent use. Whoever got the Keys wipes them.
type Keys struct {
	identity *secret.Secret // AGE-SECRET-KEY-1…
	root     *secret.Secret
	journal  *secret.Secret // Ed25519 seed
	console  *secret.Secret
}

// newKeys takes ownership of both.
func newKeys(identity, root []byte) (*Keys, error) {
	k := &Keys{identity: secret.New(identity), root: secret.New(root)}
	var err error
	if k.journal, err = k.derive(infoJournal, ed25519.SeedSize); err == nil {
		k.console, err = k.derive(infoConsole, sha256.Size)
	}
	if err != nil {
		k.Wipe()
		return nil, err
	}
	return k, nil
}

// JournalKey returns a copy of the key that signs the journal's checkpoints;
// nil after Wipe. The caller clears it when done.
func (k *Keys) JournalKey() ed25519.PrivateKey {
	var key ed25519.PrivateKey
	k.journal.Use(func(seed []byte) error { key = ed25519.NewKeyFromSeed(seed); return nil })
	return key
}

// ConsoleKey returns a copy of the 32 bytes with which serve and a console
// prove to each other that both opened this identity; nil after Wipe. The
// caller clears it when done.
func (k *Keys) ConsoleKey() []byte {
	var key []byte
	k.console.Use(func(b []byte) error { key = append(key, b...); return nil })
	return key
}

// Opens says if these keys can still open a vault: false after Lock and Wipe.
func (k *Keys) Opens() bool { return k.root.Len() > 0 && k.identity.Len() > 0 }

// Wipe overwrites all of it. It may be called twice.
func (k *Keys) Wipe() {
	k.wipeOpener()
	k.journal.Wipe()
	k.console.Wipe()
}

func (k *Keys) wipeOpener() {
	k.identity.Wipe()
	k.root.Wipe()
}

// Format writes the type's name whatever the verb. Package fmt follows a pointer
// in an unexported field when the verb does not fit it, past any method of what
// it points to.
func (Keys) Format(f fmt.State, _ rune) { io.WriteString(f, "vault.Keys") }

func (k *Keys) derive(info string, size int) (*secret.Secret, error) {
	var derived *secret.Secret
	err := k.root.Use(func(root []byte) error {
		b, err := hkdf.Key(sha256.New, root, nil, info, size)
		derived = secret.New(b)
		return err
	})
	if err != nil {
		return nil, ErrLocked
	}
	return derived, nil
}

// ageIdentity parses the identity anew for each use, so that no copy of it
// outlives Lock in a struct that we hold.
func (k *Keys) ageIdentity() (id *age.X25519Identity, err error) {
	used := k.identity.Use(func(b []byte) error {
		id, err = age.ParseX25519Identity(string(b))
		return nil
	})
	if used != nil {
		return nil, ErrLocked
	}
	if err != nil { // age's error may quote what it was given
		return nil, fmt.Errorf("age identity: %w", ErrDamaged)
	}
	return id, nil
}
