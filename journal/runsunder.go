package journal

import (
	"context"
	"time"
)

// RanUnder counts the calls that ran since a time under a rule: those whose
// basis begins with title and ": ", or is a grant whose scope begins so. Calls
// that were asked about are not among them. A basis that was redacted is not counted.
func (j *Journal) RanUnder(ctx context.Context, title string, since time.Time) (int, error) {
	first, err := firstLater(ctx, j.reads, since.UnixMicro())
	if err != nil {
		return 0, err
	}
	var n int
	err = j.reads.QueryRowContext(ctx, `WITH runs AS (
  SELECT CAST(t.value AS TEXT) AS basis FROM entries AS e
  JOIN texts AS t ON t.seq = e.seq AND t.field = 'basis'
  WHERE e.seq >= ?1 AND e.kind = 'intent')
SELECT count(*) FROM runs
  WHERE substr(basis, 1, length(?2)) = ?2
     OR substr(basis, 1, 6) = 'grant ' AND substr(basis, instr(basis, ': ') + 2, length(?2)) = ?2`,
		first, title+": ").Scan(&n)
	if err != nil {
		return 0, storeError("counting the calls of a rule", err)
	}
	return n, nil
}
