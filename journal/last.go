package journal

import "context"

// Last returns the seq of the newest entry, 0 in an empty log: where a follower
// begins that wants only what comes.
func (r *Reader) Last(ctx context.Context) (seq int64, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM entries`).Scan(&seq)
	if err != nil {
		return 0, storeError("query", err)
	}
	return seq, nil
}
