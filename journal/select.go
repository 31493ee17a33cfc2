package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
)

// probeLimit bounds the look at how many rows a value has.
const probeLimit = 200

// maxSessions is how many sessions of a client are looked up one by one.
const maxSessions = 100

// A selection is a Filter made ready: seqs of activities in (after, before),
// found from sources, kept where all conditions hold.
type selection struct {
	sources    []source // nil: walk the entries themselves
	conditions []condition
	lo, hi     int64 // seqs, both inclusive
}

// prepare chooses the clause with the fewest rows to start from; the others
// become conditions.
func prepare(ctx context.Context, q querier, f Filter) (*selection, error) {
	if f.After == math.MaxInt64 {
		return &selection{lo: 1, hi: 0}, nil
	}
	s := &selection{lo: f.After + 1, hi: math.MaxInt64}
	if err := s.boundTime(ctx, q, f); err != nil {
		return nil, err
	}
	clauses := f.Match.clauses()
	sessions, err := clientSessions(ctx, q, f.Client)
	if err != nil {
		return nil, err
	}
	if sessions != nil {
		clauses = append(clauses, newClause(bySession, sessions))
	}
	best, fewest := -1, math.MaxInt
	for i, c := range clauses {
		if len(f.Client) > 0 && len(c.sources) == 0 && sessions != nil && c.holds.sql == bySession.holds {
			return &selection{lo: 1, hi: 0}, nil // a client without a session
		}
		n, err := c.probe(ctx, q)
		if err != nil {
			return nil, err
		}
		if n < fewest {
			best, fewest = i, n
		}
	}
	for i, c := range clauses {
		if i == best {
			s.sources = c.sources
		} else {
			s.conditions = append(s.conditions, c.holds)
		}
	}
	for _, c := range f.Exclude.clauses() {
		// A field that is NULL matches nothing, so it excludes nothing.
		s.conditions = append(s.conditions, condition{"NOT coalesce(" + c.holds.sql + ", 0)", c.holds.args})
	}
	return s, nil
}

// probe counts the rows of a clause, as far as probeLimit.
func (c clause) probe(ctx context.Context, q querier) (int, error) {
	if len(c.sources) == 0 {
		return math.MaxInt, nil
	}
	n := 0
	for _, s := range c.sources {
		var rows int
		query := fmt.Sprintf(`SELECT count(*) FROM (%s LIMIT %d)`, s.found, probeLimit)
		if err := q.QueryRowContext(ctx, query, s.value, 1, int64(math.MaxInt64)).Scan(&rows); err != nil {
			return 0, storeError("query", err)
		}
		n += rows
	}
	return n, nil
}

// clientSessions lists the sessions of clients with these names, or nil where
// there are too many to look each of them up.
func clientSessions(ctx context.Context, q querier, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	rows, err := q.QueryContext(ctx, `SELECT e.session_id FROM json_each(?) AS n
  CROSS JOIN texts AS t INDEXED BY texts_client ON t.client_name = CAST(n.value AS BLOB)
  JOIN entries AS e ON e.seq = t.seq LIMIT ?`, list(names), maxSessions+1)
	if err != nil {
		return nil, storeError("query", err)
	}
	defer rows.Close()
	ids := []string{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, storeError("query", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, storeError("query", err)
	}
	if len(ids) > maxSessions {
		return nil, nil
	}
	return ids, nil
}

// page returns up to limit seqs in [lo, hi], from the given end.
func (s *selection) page(ctx context.Context, q querier, lo, hi int64, newest bool, limit int) ([]int64, error) {
	lo, hi = max(lo, s.lo), min(hi, s.hi)
	order := "ASC"
	if newest {
		order = "DESC"
	}
	sources := s.sources
	if sources == nil {
		sources = []source{walk}
	}
	var seqs []int64
	for _, from := range sources {
		query, args := s.query(from, lo, hi, order, limit)
		found, err := readSeqs(ctx, q, query, args...)
		if err != nil {
			return nil, err
		}
		seqs = append(seqs, found...)
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	if newest {
		slices.Reverse(seqs)
	}
	return seqs[:min(limit, len(seqs))], nil
}

// query finds the seqs of a page that start from one source.
func (s *selection) query(from source, lo, hi int64, order string, limit int) (string, []any) {
	cond, more := where(append([]condition{{"e.kind IN ('intent','refused')", nil}}, s.conditions...))
	// The limit keeps SQLite from dropping the order of what it goes through first.
	query := "SELECT d.seq FROM (" + from.found + " ORDER BY seq " + order + " LIMIT -1) AS d CROSS JOIN entries AS e ON e.seq = d.seq" +
		" WHERE " + cond + " LIMIT ?"
	return query, append(append([]any{from.value, lo, hi}, more...), limit)
}

// walk goes through the entries themselves.
var walk = source{field{found: "SELECT d.seq AS seq FROM entries AS d WHERE ?1 AND d.seq BETWEEN ?2 AND ?3"}, 1}

func readSeqs(ctx context.Context, q querier, query string, args ...any) ([]int64, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, storeError("query", err)
	}
	defer rows.Close()
	var seqs []int64
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			return nil, storeError("query", err)
		}
		seqs = append(seqs, seq)
	}
	if err := rows.Err(); err != nil {
		return nil, storeError("query", err)
	}
	return seqs, nil
}

// boundTime turns Since and Until into bounds on seq, and keeps both as
// conditions: the bounds are exact only where no clock was set back.
func (s *selection) boundTime(ctx context.Context, q querier, f Filter) error {
	if !f.Since.IsZero() {
		since := f.Since.UnixMicro()
		lo, err := firstLater(ctx, q, since)
		if err != nil {
			return err
		}
		s.lo = max(s.lo, lo)
		s.conditions = append(s.conditions, condition{"e.time >= ?", []any{since}})
	}
	if !f.Until.IsZero() {
		until := f.Until.UnixMicro()
		var behind sql.NullInt64
		if err := q.QueryRowContext(ctx, `SELECT behind FROM entries ORDER BY seq DESC LIMIT 1`).Scan(&behind); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return storeError("query", err)
		}
		hi, err := firstLater(ctx, q, until+behind.Int64+1)
		if err != nil {
			return err
		}
		s.hi = hi - 1
		s.conditions = append(s.conditions, condition{"e.time <= ?", []any{until}})
	}
	return nil
}

// firstLater finds the first seq whose latest is t or later, by bisection.
func firstLater(ctx context.Context, q querier, t int64) (int64, error) {
	lo, hi := int64(1), int64(0)
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) + 1 FROM entries`).Scan(&hi); err != nil {
		return 0, storeError("query", err)
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		var latest int64
		if err := q.QueryRowContext(ctx, `SELECT latest FROM entries WHERE seq = ?`, mid).Scan(&latest); err != nil {
			return 0, storeError("query", err)
		}
		if latest >= t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, nil
}
