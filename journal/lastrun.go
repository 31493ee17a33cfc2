package journal

import (
	"context"
	"database/sql"
	"errors"
	"math"
)

// LastRun returns the status of an action's last run by its digest, "" when it
// never ran. It reads the newest, however often the action ran: every call may ask.
func (j *Journal) LastRun(ctx context.Context, actionDigest string) (status string, err error) {
	err = j.reads.QueryRowContext(ctx, `SELECT coalesce(o.status, 'running')
  FROM (`+lookupSeqs(lookupAction, "texts", fieldActionDigest)+` ORDER BY seq DESC) AS t
  CROSS JOIN entries AS e ON e.seq = t.seq
  LEFT JOIN entries AS o ON o.activity_id = e.activity_id AND o.kind = 'outcome'
  WHERE e.kind = 'intent' ORDER BY t.seq DESC LIMIT 1`, actionDigest, 1, math.MaxInt64).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", storeError("looking up the last run", err)
	}
	return status, nil
}
