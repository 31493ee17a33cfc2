package journal

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// storeError makes one of our errors of what SQLite says.
func storeError(doing string, err error) error {
	for _, known := range []error{ErrUnavailable, ErrTampered, ErrRolledBack, ErrDamaged, ErrInvalid} {
		if errors.Is(err, known) {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	var se *sqlite.Error
	if errors.As(err, &se) {
		switch se.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%s: %w: %v", doing, ErrBusy, err)
		case sqlite3.SQLITE_FULL:
			return fmt.Errorf("%s: %w: %v", doing, ErrLowDisk, err)
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%s: %w: %w: %v", doing, ErrUnavailable, ErrDamaged, err)
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w: %w: rows are missing", doing, ErrUnavailable, ErrTampered)
	}
	return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
}

// noTransaction reports whether a ROLLBACK found nothing to roll back.
func noTransaction(err error) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && se.Code() == sqlite3.SQLITE_ERROR
}

// isBusy reports whether somebody else's lock was in the way.
func isBusy(err error) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && (se.Code()&0xff == sqlite3.SQLITE_BUSY || se.Code()&0xff == sqlite3.SQLITE_LOCKED)
}
