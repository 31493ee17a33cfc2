package journal

import (
	"context"
	"math"
	"time"
)

// maxRuns is as far as RanBefore counts.
const maxRuns = 1000

// Runs says how often an action ran before.
type Runs struct {
	Count      int       // at most 1000
	LastTime   time.Time // of the last intent; zero when there was none
	LastStatus string
	// Unknown counts the runs that a crash left without an outcome.
	Unknown int
}

// RanBefore looks up the earlier runs of an action by its digest. Refused
// calls did not run and are not counted.
func (j *Journal) RanBefore(ctx context.Context, actionDigest string) (Runs, error) {
	rows, err := j.reads.QueryContext(ctx, `SELECT e.time, coalesce(o.status, 'running')
  FROM (`+lookupSeqs(lookupAction, "texts", fieldActionDigest)+` ORDER BY seq DESC LIMIT -1) AS t
  CROSS JOIN entries AS e ON e.seq = t.seq
  LEFT JOIN entries AS o ON o.activity_id = e.activity_id AND o.kind = 'outcome'
  WHERE e.kind = 'intent' ORDER BY t.seq DESC LIMIT ?4`, actionDigest, 1, math.MaxInt64, maxRuns)
	if err != nil {
		return Runs{}, storeError("looking up earlier runs", err)
	}
	defer rows.Close()
	var runs Runs
	for rows.Next() {
		var micros int64
		var status string
		if err := rows.Scan(&micros, &status); err != nil {
			return Runs{}, storeError("looking up earlier runs", err)
		}
		if runs.Count == 0 {
			runs.LastTime, runs.LastStatus = time.UnixMicro(micros).UTC(), status
		}
		runs.Count++
		if status == Unknown {
			runs.Unknown++
		}
	}
	if err := rows.Err(); err != nil {
		return Runs{}, storeError("looking up earlier runs", err)
	}
	return runs, nil
}
