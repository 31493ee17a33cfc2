package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// What nearly every call has (a session, a tool, a revision, a target, a
// credential, an action) is not indexed call by call: each index would put one
// more page into every commit. The tables lookups and calls hold it, and take what
// the last entries have in one go, once lookupEvery of them stand behind their
// mark. Until then they are found by walking them.
const lookupEvery = 256

// Fields of the table lookups. A row of lookupMark, with no value, says that
// everything up to its seq is there.
const (
	lookupMark = iota
	lookupTool
	lookupRevision
	lookupTarget
	lookupCredential
	lookupAction
)

// mark is the seq up to which lookups is whole, as an SQL expression.
const mark = `(SELECT coalesce(max(seq), 0) FROM lookups WHERE field = 0 AND value = x'')`

// insertLookups takes the entries after ?1 up to ?2. Sorting them first costs more
// than it saves.
const insertLookups = `INSERT INTO lookups (field, value, seq) ` + selectLookups

// selectLookups gives what lookups must hold of the entries after ?1 up to ?2. A
// number is looked up by its digits, so that all values are of one type.
const selectLookups = `SELECT 0, x'', ?2 UNION ALL
  SELECT 1, CAST(tool AS BLOB), seq FROM entries WHERE seq > ?1 AND seq <= ?2 AND tool IS NOT NULL UNION ALL
  SELECT 2, CAST(revision AS BLOB), seq FROM entries WHERE seq > ?1 AND seq <= ?2 AND revision IS NOT NULL UNION ALL
  SELECT 3, downstream_target, seq FROM texts WHERE seq > ?1 AND seq <= ?2 AND downstream_target IS NOT NULL UNION ALL
  SELECT 4, credential, seq FROM texts WHERE seq > ?1 AND seq <= ?2 AND credential IS NOT NULL UNION ALL
  SELECT 5, action_digest, seq FROM texts WHERE seq > ?1 AND seq <= ?2 AND action_digest IS NOT NULL`

// markHolds refuses a mark beyond the end: what comes up to it would be in no lookup.
func markHolds(mark, end int64) error {
	if mark > end {
		return fmt.Errorf("%w: the lookups say that they go to %d, the log has %d entries", ErrTampered, mark, end)
	}
	return nil
}

// insertCalls takes the calls after ?1 up to ?2: the entries of a session that
// are not about the session itself, with what they are counted by.
const insertCalls = `INSERT INTO calls (session_id, seq, kind, status, count) ` + selectCalls

const selectCalls = `SELECT session_id, seq, kind, status, count FROM entries
  WHERE seq > ?1 AND seq <= ?2 AND of IS NOT NULL`

// allCalls are the calls of every session: those in the table, and those that
// stand behind its mark.
const allCalls = `(SELECT session_id, seq, kind, status, count FROM main.calls UNION ALL
  SELECT session_id, seq, kind, status, count FROM main.entries WHERE seq > ` + mark + ` AND of IS NOT NULL)`

// fillLookups brings lookups and calls up to last, when that is due.
func (j *Journal) fillLookups(ctx context.Context, last int64) error {
	if last-j.filled < lookupEvery {
		return nil
	}
	var upTo int64 // another process may have been here
	if err := j.selectMark.ints(ctx, nil, &upTo); err != nil {
		return err
	}
	if err := markHolds(upTo, last); err != nil {
		return err
	}
	if last-upTo >= lookupEvery {
		for _, insert := range []*statement{j.insertLookups, j.insertCalls} {
			if err := insert.run(ctx, driver.Value(upTo), driver.Value(last)); err != nil {
				return err
			}
		}
		upTo = last
	}
	j.filled = upTo
	return nil
}
