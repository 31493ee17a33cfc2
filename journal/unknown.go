package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// What is known of runs without an outcome. Only Recover makes one, in the
// process that asks about them.
const (
	unasked int32 = iota
	noneUnknown
	someUnknown
)

// lastRun gives the status of the newest run among rows that have a seq.
const lastRun = `SELECT coalesce(o.status, 'running') FROM %s AS t
  CROSS JOIN entries AS e ON e.seq = t.seq
  LEFT JOIN entries AS o ON o.activity_id = e.activity_id AND o.kind = 'outcome'
  WHERE %s AND e.kind = 'intent' ORDER BY t.seq DESC LIMIT 1`

// EndedUnknown reports whether a crash left the last run of an action, by its
// digest, without an outcome. While no run of any action was left so, it asks nothing.
func (j *Journal) EndedUnknown(ctx context.Context, actionDigest string) (bool, error) {
	if j.unknown.Load() == unasked {
		var some bool
		err := j.reads.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM entries INDEXED BY entries_status
  WHERE status = 'unknown' AND status <> 'ok')`).Scan(&some)
		if err != nil {
			return false, storeError("looking for runs without an outcome", err)
		}
		found := noneUnknown
		if some {
			found = someUnknown
		}
		j.unknown.CompareAndSwap(unasked, found)
	}
	if j.unknown.Load() == noneUnknown {
		return false, nil
	}
	return j.lastRunUnknown(ctx, actionDigest)
}

// lastRunUnknown looks where lookups do not reach yet, then into lookups.
func (j *Journal) lastRunUnknown(ctx context.Context, actionDigest string) (bool, error) {
	for _, query := range []string{
		fmt.Sprintf(lastRun, "texts", "t.seq > "+mark+" AND t."+fieldActionDigest+" = CAST(?1 AS BLOB)"),
		fmt.Sprintf(lastRun, "lookups", fmt.Sprintf("t.field = %d AND t.value = CAST(?1 AS BLOB)", lookupAction)),
	} {
		var status string
		err := j.reads.QueryRowContext(ctx, query, actionDigest).Scan(&status)
		if err == nil {
			return status == Unknown, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return false, storeError("looking up the last run", err)
		}
	}
	return false, nil
}
