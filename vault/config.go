package vault

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// Names of the files in Config.Dir.
const (
	VaultFile    = "vault.age"
	IdentityFile = "identity.age"
	LockFile     = "vault.lock"
)

const (
	defaultWorkFactor = 18 // age's own: about 0.7 s and 256 MiB
	maxWorkFactor     = 20 // about 3 s and 1 GiB; a planted identity.age may not ask for more
	defaultLockWait   = 10 * time.Second
)

// errNoDir: the zero Config must not mean the working directory.
var errNoDir = errors.New("no directory is given for the vault")

// A Config says where the vault lies and what it may hold. The zero Config
// opens nothing: it has no directory, and no kind of item is known to it.
type Config struct {
	// Dir is the home; it must be the caller's, with mode 0700.
	Dir string
	// Kinds are the kinds of items that this program understands. A vault with
	// an item of any other kind is refused whole, because the unknown item
	// might be the one that narrows what another allows.
	Kinds []string
	// WorkFactor is the scrypt cost of identity.age as a power of two, used
	// when it is created; 0 means 18, more than 20 is refused.
	WorkFactor int
	// LockWait bounds the wait for another writer; 0 means 10 s.
	LockWait time.Duration
}

func (c Config) path(name string) string { return filepath.Join(c.Dir, name) }

func (c Config) knows(kind string) bool { return slices.Contains(c.Kinds, kind) }

func (c Config) lockWait() time.Duration {
	if c.LockWait == 0 {
		return defaultLockWait
	}
	return c.LockWait
}

func (c Config) workFactor() (int, error) {
	switch {
	case c.WorkFactor == 0:
		return defaultWorkFactor, nil
	case c.WorkFactor < 1 || c.WorkFactor > maxWorkFactor:
		return 0, fmt.Errorf("scrypt work factor %d is not within 1 and %d", c.WorkFactor, maxWorkFactor)
	}
	return c.WorkFactor, nil
}
