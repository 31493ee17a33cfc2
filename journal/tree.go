package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A querier is a connection, a transaction or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// An entry's row stores the hashes that it completes, as tlog orders them: its
// leaf, then each subtree whose last leaf it is. So the hash of subtree n at a
// level is in the row of its last entry, at that level.

// storedAt says where a stored hash is.
func storedAt(id int64) (seq int64, level int) {
	level, n := tlog.SplitStoredHashIndex(id)
	return (n + 1) << level, level
}

// joinHashes is the form in which a row stores its hashes.
func joinHashes(hashes []tlog.Hash) []byte {
	b := make([]byte, 0, len(hashes)*tlog.HashSize)
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	return b
}

// readHashes reads stored hashes in the order of ids.
func readHashes(ctx context.Context, q querier, ids []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(ids))
	for i, id := range ids {
		seq, level := storedAt(id)
		var raw []byte
		err := q.QueryRowContext(ctx, `SELECT substr(hashes, ?, ?) FROM entries WHERE seq = ?`,
			level*tlog.HashSize+1, tlog.HashSize, seq).Scan(&raw)
		if err != nil {
			return nil, storeError("reading the tree", err)
		}
		if len(raw) != tlog.HashSize {
			return nil, fmt.Errorf("%w: entry %d lacks a hash of the tree", ErrTampered, seq)
		}
		out[i] = tlog.Hash(raw)
	}
	return out, nil
}

// rootAt computes the root of the first size entries from the stored hashes.
func rootAt(ctx context.Context, q querier, size int64) (tlog.Hash, error) {
	return tlog.TreeHash(size, tlog.HashReaderFunc(func(ids []int64) ([]tlog.Hash, error) { return readHashes(ctx, q, ids) }))
}

// rootHolds checks a checkpoint against the stored hashes.
func rootHolds(ctx context.Context, q querier, c checkpoint) error {
	root, err := rootAt(ctx, q, c.size)
	if err != nil {
		return err
	}
	if root != c.root {
		return fmt.Errorf("%w: the first %d entries have another root than was signed or pinned", ErrTampered, c.size)
	}
	return nil
}

// extends checks that the log, whose head is now, goes on from what it was.
func extends(ctx context.Context, q querier, now, was checkpoint) error {
	if now.size < was.size {
		return fmt.Errorf("%w: it has %d entries and had %d", ErrRolledBack, now.size, was.size)
	}
	return rootHolds(ctx, q, was)
}

// readSubtrees reads the right edge of a tree of the given size.
func readSubtrees(ctx context.Context, q querier, size int64) (subtrees, error) {
	var ids []int64
	for level, start := 62, int64(0); level >= 0; level-- {
		if size&(1<<level) != 0 {
			ids = append(ids, tlog.StoredHashIndex(level, start>>level))
			start += 1 << level
		}
	}
	hashes, err := readHashes(ctx, q, ids)
	return subtrees{size, hashes}, err
}

// selectHead reads the last row, which ends a commit and so carries its checkpoint.
const selectHead = `SELECT seq, latest, behind, coalesce(note, '') FROM entries ORDER BY seq DESC LIMIT 1`

// errEmpty: not even the entry that Create writes is there.
var errEmpty = fmt.Errorf("%w: it has no entry", ErrTampered)

// scanHead reads what selectHead gives, unverified.
func scanHead(row *sql.Row) (head, error) {
	var h head
	err := row.Scan(&h.size, &h.latest, &h.behind, &h.note)
	if errors.Is(err, sql.ErrNoRows) {
		return h, errEmpty
	}
	if err != nil {
		return h, storeError("reading the head", err)
	}
	return h, nil
}

// check verifies the head's signature and compares it with the stored tree.
func (h *head) check(ctx context.Context, q querier, v note.Verifier) error {
	c, err := openCheckpoint([]byte(h.note), v)
	if err != nil {
		return err
	}
	if c.size != h.size {
		return fmt.Errorf("%w: the last entry is %d, the newest checkpoint is for %d", ErrTampered, h.size, c.size)
	}
	h.checkpoint = c
	if h.edge, err = readSubtrees(ctx, q, h.size); err != nil {
		return err
	}
	if h.edge.root() != h.root {
		return fmt.Errorf("%w: the %d entries have another root than was signed", ErrTampered, h.size)
	}
	return nil
}
