package journal

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Head returns the size of the log and the root of its tree (RFC 6962) as the
// newest signed checkpoint gives them. It is what to pin elsewhere.
func (j *Journal) Head(ctx context.Context) (size int64, root [32]byte, err error) {
	c, _, err := j.signedHead(ctx)
	return c.size, c.root, err
}

// Checkpoint returns the newest checkpoint as a C2SP signed note, for keeping elsewhere.
func (j *Journal) Checkpoint(ctx context.Context) ([]byte, error) {
	_, note, err := j.signedHead(ctx)
	return []byte(note), err
}

// Key returns the verifier key of the log, which is public.
func (j *Journal) Key() string { return j.signer.vkey }

// Checkpoint returns the newest checkpoint as a C2SP signed note, for keeping
// elsewhere, after checking it against journal.pub and the stored tree. Errors to
// match: ErrTampered, ErrDamaged, ErrUnavailable.
func (r *Reader) Checkpoint(ctx context.Context) ([]byte, error) {
	_, key, err := readVerifier(r.dir)
	if err != nil {
		return nil, err
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, storeError("reading the head", err)
	}
	defer tx.Rollback()
	h, err := scanHead(tx.QueryRowContext(ctx, selectHead))
	if err != nil {
		return nil, err
	}
	return []byte(h.note), h.check(ctx, tx, key)
}

func (j *Journal) signedHead(ctx context.Context) (checkpoint, string, error) {
	h, err := scanHead(j.reads.QueryRowContext(ctx, selectHead))
	if err != nil {
		return checkpoint{}, "", err
	}
	c, err := openCheckpoint([]byte(h.note), j.signer.verifier)
	return c, h.note, err
}

// Extends checks that the log goes on from a head that was pinned before.
// ErrRolledBack: it is shorter, or had another root at that size.
func (j *Journal) Extends(ctx context.Context, size int64, root [32]byte) error {
	now, _, err := j.signedHead(ctx)
	if err != nil {
		return err
	}
	if size < 0 || now.size < size {
		return fmt.Errorf("%w: it has %d entries and had %d", ErrRolledBack, now.size, size)
	}
	at, err := rootAt(ctx, j.reads, size)
	if err != nil {
		return err
	}
	if at != tlog.Hash(root) {
		return fmt.Errorf("%w: its first %d entries are not those that were pinned", ErrRolledBack, size)
	}
	return nil
}
