package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// pageSize is how many activities one short read fetches.
const pageSize = 200

// Activities yields what f selects, in order of Seq. An error ends it. The
// activities are read in pages as they are consumed; what is appended
// meanwhile may appear when the order is ascending and f.N is 0.
func (r *Reader) Activities(ctx context.Context, f Filter) iter.Seq2[Activity, error] {
	return func(yield func(Activity, error) bool) {
		if f.Grep != nil {
			r.grep(ctx, f, yield)
			return
		}
		for page, err := range r.pages(ctx, f) {
			if err != nil {
				yield(Activity{}, err)
				return
			}
			list, err := activitiesAt(ctx, r.db, page)
			if err != nil {
				yield(Activity{}, err)
				return
			}
			for _, a := range list {
				if !yield(a, nil) {
					return
				}
			}
		}
	}
}

// pages yields the seqs that f selects, page by page and in the order asked for.
func (r *Reader) pages(ctx context.Context, f Filter) iter.Seq2[[]int64, error] {
	return func(yield func([]int64, error) bool) {
		s, err := prepare(ctx, r.db, f)
		if err != nil {
			yield(nil, err)
			return
		}
		if f.N > 0 {
			seqs, err := s.page(ctx, r.db, 1, math.MaxInt64, true, f.N)
			if err != nil {
				yield(nil, err)
				return
			}
			if !f.Reverse {
				slices.Reverse(seqs)
			}
			for page := range slices.Chunk(seqs, pageSize) {
				if !yield(page, nil) {
					return
				}
			}
			return
		}
		lo, hi := int64(1), int64(math.MaxInt64)
		for {
			page, err := s.page(ctx, r.db, lo, hi, f.Reverse, pageSize)
			if err != nil || len(page) == 0 {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if !yield(page, nil) {
				return
			}
			switch last := page[len(page)-1]; {
			case f.Reverse:
				hi = last - 1
			case last == math.MaxInt64:
				return
			default:
				lo = last + 1
			}
		}
	}
}

// activitiesAt reads the activities whose first entries are seqs, in that order.
func activitiesAt(ctx context.Context, q querier, seqs []int64) ([]Activity, error) {
	first, err := load(ctx, q, "e.seq IN (SELECT value FROM json_each(?))", list(seqs))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(first))
	byID := make(map[string]*Activity, len(first))
	bySeq := make(map[int64]*Activity, len(first))
	for i, e := range first {
		a := e.activity()
		ids[i], byID[e.ActivityID], bySeq[e.Seq] = e.ActivityID, &a, &a
	}
	outcomes, err := load(ctx, q, "e.activity_id IN (SELECT value FROM json_each(?)) AND e.kind = 'outcome'", list(ids))
	if err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		a := byID[o.ActivityID]
		if a == nil {
			return nil, fmt.Errorf("%w: entry %d is found as another activity's", ErrTampered, o.Seq)
		}
		o.settle(a)
	}
	out := make([]Activity, 0, len(seqs))
	for _, seq := range seqs {
		if a := bySeq[seq]; a != nil {
			out = append(out, *a)
		}
	}
	return out, nil
}

// Activity returns one activity by its id or a prefix that fits no other.
// Errors to match: ErrNotFound, ErrAmbiguous.
func (r *Reader) Activity(ctx context.Context, id string) (Activity, error) {
	const query = `SELECT min(seq) FROM entries INDEXED BY entries_activity
  WHERE activity_id >= ? AND activity_id < ? || char(1114111) GROUP BY activity_id LIMIT 2`
	seqs, err := readSeqs(ctx, r.db, query, id, id)
	if err != nil {
		return Activity{}, err
	}
	if err := onlyOne("activity", id, len(seqs)); err != nil {
		return Activity{}, err
	}
	found, err := activitiesAt(ctx, r.db, seqs)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("activity %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Activity{}, err
	}
	return found[0], nil
}

func onlyOne(what, id string, n int) error {
	switch {
	case id == "" || n == 0:
		return fmt.Errorf("%s %q: %w", what, id, ErrNotFound)
	case n > 1:
		return fmt.Errorf("%s %q: %w", what, id, ErrAmbiguous)
	}
	return nil
}

// Tail returns the activities that entries after seq began or settled, each
// once and as it stands now, and the seq to go on from: what a follower polls.
// It looks at no more than 1000 entries at a time; when next is not seq, there may be more.
func (r *Reader) Tail(ctx context.Context, seq int64) (touched []Activity, next int64, err error) {
	const query = `SELECT seq, coalesce(of, 0) FROM entries WHERE seq > ? ORDER BY seq LIMIT 1000`
	rows, err := r.db.QueryContext(ctx, query, seq)
	if err != nil {
		return nil, seq, storeError("query", err)
	}
	defer rows.Close()
	next = seq
	var firsts []int64
	for rows.Next() {
		var of int64
		if err := rows.Scan(&next, &of); err != nil {
			return nil, seq, storeError("query", err)
		}
		if of != 0 && !slices.Contains(firsts, of) {
			firsts = append(firsts, of)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, seq, storeError("query", err)
	}
	if touched, err = activitiesAt(ctx, r.db, firsts); err != nil {
		return nil, seq, err
	}
	return touched, next, nil
}
