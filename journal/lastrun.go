package journal

import (
	"context"
	"database/sql"
	"errors"
)

// LastRun returns the status of an action's last run by its digest, "" when it
// never ran. It reads one row, however often the action ran: every call may ask.
func (j *Journal) LastRun(ctx context.Context, actionDigest string) (status string, err error) {
	err = j.reads.QueryRowContext(ctx, `SELECT coalesce(o.status, 'running')
  FROM texts AS t INDEXED BY texts_action
  CROSS JOIN entries AS e ON e.seq = t.seq
  LEFT JOIN entries AS o ON o.activity_id = e.activity_id AND o.kind = 'outcome'
  WHERE t.field = 'action_digest' AND t.value = CAST(? AS BLOB) AND e.kind = 'intent'
  ORDER BY t.seq DESC LIMIT 1`, actionDigest).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", storeError("looking up the last run", err)
	}
	return status, nil
}
