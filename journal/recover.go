package journal

import (
	"context"
	"errors"
)

// recovered is the source of an outcome that nobody saw, and the reason for which
// a session was closed whose end nobody saw.
const recovered = "recovered after a crash"

// Recover settles every intent without an outcome as Unknown, and returns how
// many there were; and it closes every session that is open. Only the process
// that runs activities may call it, at its start and under the lock that keeps it
// the only one on this home: it cannot tell an activity or a session of another
// process from one that died.
func (j *Journal) Recover(ctx context.Context) (int, error) {
	n, err := j.settleAll(ctx)
	if err != nil {
		return n, err
	}
	return n, j.closeAll(ctx)
}

func (j *Journal) settleAll(ctx context.Context) (int, error) {
	type intent struct{ activity, session string }
	var open []intent
	rows, err := j.reads.QueryContext(ctx, unsettled)
	if err != nil {
		return 0, storeError("looking for unsettled intents", err)
	}
	defer rows.Close()
	for rows.Next() {
		var i intent
		var seq int64
		if err := rows.Scan(&seq, &i.activity, &i.session); err != nil {
			return 0, storeError("looking for unsettled intents", err)
		}
		open = append(open, i)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, storeError("looking for unsettled intents", err)
	}
	for n, i := range open {
		// Whether something left the machine is not known, so say that it may have.
		o := Outcome{Status: Unknown, SideEffectStarted: true}
		if _, err := j.settle(ctx, i.activity, i.session, o, nil, recovered); err != nil {
			return n, err
		}
		j.unknown.Store(someUnknown)
	}
	return len(open), nil
}

func (j *Journal) closeAll(ctx context.Context) error {
	var open []string
	rows, err := j.reads.QueryContext(ctx, unclosed)
	if err != nil {
		return storeError("looking for open sessions", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return storeError("looking for open sessions", err)
		}
		open = append(open, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return storeError("looking for open sessions", err)
	}
	for _, id := range open {
		if err := j.CloseSession(ctx, id, recovered); err != nil {
			return err
		}
	}
	return nil
}

// unclosed finds sessions without a close by walking one index.
const unclosed = `SELECT session_id FROM entries INDEXED BY entries_session
  WHERE of IS NULL AND session_id IS NOT NULL GROUP BY session_id HAVING sum(kind = 'session.close') = 0`

// unsettled finds intents without an outcome by walking one index, which holds
// the two entries of an activity side by side.
const unsettled = `SELECT e.seq, e.activity_id, e.session_id FROM (
    SELECT activity_id AS id FROM entries INDEXED BY entries_activity WHERE activity_id IS NOT NULL
    GROUP BY activity_id HAVING count(*) = 1 AND max(kind) = 'intent'
  ) AS u CROSS JOIN entries AS e ON e.activity_id = u.id ORDER BY e.seq`
