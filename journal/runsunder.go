package journal

import (
	"context"
	"fmt"
	"strings"
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
	rows, err := j.reads.QueryContext(ctx, `SELECT t.rest FROM entries AS e JOIN texts AS t ON t.seq = e.seq
  WHERE e.seq >= ? AND e.kind = 'intent' AND instr(t.rest, CAST(? AS BLOB))`, first, title+": ")
	if err != nil {
		return 0, storeError("counting the calls of a rule", err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var rest []byte
		if err := rows.Scan(&rest); err != nil {
			return 0, storeError("counting the calls of a rule", err)
		}
		list, err := parseRest(rest)
		if err != nil {
			return 0, fmt.Errorf("counting the calls of a rule: %w: %w: %v", ErrUnavailable, ErrTampered, err)
		}
		for _, x := range list {
			if x.field == fieldBasis && under(string(x.value), title) {
				n++
			}
		}
	}
	if err := rows.Err(); err != nil {
		return 0, storeError("counting the calls of a rule", err)
	}
	return n, nil
}

// under reports whether a basis is a rule, or a grant whose scope begins with it.
func under(basis, title string) bool {
	if strings.HasPrefix(basis, "grant ") {
		_, basis, _ = strings.Cut(basis, ": ")
	}
	return strings.HasPrefix(basis, title+": ")
}
