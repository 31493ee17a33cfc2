package journal

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"executor/internal/secret"
)

// DefaultReserve is the free space, in bytes, below which no intent is taken.
const DefaultReserve = 64 << 20

// Files of a journal, inside its directory. SQLite keeps journal.db-wal and
// journal.db-shm beside the database.
const (
	dbFile  = "journal.db"
	pubFile = "journal.pub"
	pinFile = "journal.pin"
)

// Config says where a journal is and what it needs from outside. All fields
// but Reserve are required: the zero value opens nothing.
type Config struct {
	// Dir is the directory of the files, which must exist.
	Dir string
	// Key is the signing key: an Ed25519 seed of 32 bytes, see GenerateKey.
	// The journal takes a copy and wipes that when it is closed.
	Key *secret.Secret
	// Clock gives the time of an entry.
	Clock func() time.Time
	// Rand gives the salts; use crypto/rand.Reader.
	Rand io.Reader
	// Reserve is the free space in bytes that an intent must leave; 0 means
	// DefaultReserve. Outcomes are written as long as the disk takes them,
	// everything else down to half the reserve.
	Reserve int64
}

func (c Config) check() error {
	switch {
	case c.Dir == "":
		return fmt.Errorf("journal config: %w: no directory", ErrInvalid)
	case c.Key == nil:
		return fmt.Errorf("journal config: %w: no key", ErrInvalid)
	case c.Clock == nil:
		return fmt.Errorf("journal config: %w: no clock", ErrInvalid)
	case c.Rand == nil:
		return fmt.Errorf("journal config: %w: no source of randomness", ErrInvalid)
	case c.Reserve < 0:
		return fmt.Errorf("journal config: %w: negative reserve", ErrInvalid)
	}
	return nil
}

func (c Config) reserve() int64 {
	if c.Reserve == 0 {
		return DefaultReserve
	}
	return c.Reserve
}

func dbPath(dir string) string  { return filepath.Join(dir, dbFile) }
func pubPath(dir string) string { return filepath.Join(dir, pubFile) }
func pinPath(dir string) string { return filepath.Join(dir, pinFile) }
