package journal

import (
	"context"
	"database/sql"
	"errors"
)

// A Reader answers queries, while others write and without a key. It proves
// nothing: that is Verify's task. It holds no transaction between two pages of
// an answer, so it never keeps a writer from its checkpoint for long. It is
// safe for concurrent use; whoever opened it closes it.
type Reader struct {
	dir string
	db  *sql.DB
}

// OpenReader opens the journal in dir for reading. Errors to match:
// ErrMissing, ErrExposed, ErrNetworkFS, ErrDamaged, ErrTampered (the schema is
// not the known one), ErrUnavailable.
func OpenReader(ctx context.Context, dir string) (_ *Reader, err error) {
	if err := checkPlace(dir); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", readDSN(dbPath(dir)))
	if err != nil {
		return nil, storeError("opening the journal", err)
	}
	if err := checkSchema(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Reader{dir, db}, nil
}

// Close closes the database.
func (r *Reader) Close() error { return r.db.Close() }
