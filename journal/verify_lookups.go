package journal

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"
)

// sumEvery is how many entries share one sum.
const sumEvery = 1024

// sums compare what lookups and calls hold with what follows from the entries,
// without keeping or sorting either: for each run of entries the sum of the
// hashes of its rows, under a key that is drawn for each verification, so that
// rows cannot be made to cancel out.
type sums struct {
	seed maphash.Seed
	run  map[int64]uint64 // by (seq-1)/sumEvery
}

func newSums() sums { return sums{maphash.MakeSeed(), map[int64]uint64{}} }

// callField stands for the table calls where rows of both are counted. Lookups
// has no such field.
const callField = lookupAction + 1

// callValue is what calls holds of an entry, as one value.
func callValue(session, kind string, status sql.NullString, count sql.NullInt64) []byte {
	b := strconv.AppendQuote(strconv.AppendQuote(nil, session), kind)
	if status.Valid {
		b = strconv.AppendQuote(b, status.String)
	}
	if count.Valid {
		b = strconv.AppendInt(b, count.Int64, 10)
	}
	return b
}

// of hashes one row of lookups, or of calls.
func (s *sums) of(field, seq int64, value []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	var head [16]byte
	binary.LittleEndian.PutUint64(head[:], uint64(field))
	binary.LittleEndian.PutUint64(head[8:], uint64(seq))
	h.Write(head[:])
	h.Write(value)
	return h.Sum64()
}

// ofRow adds up the rows that an entry has in lookups and calls.
func (s *sums) ofRow(r *storedRow) (sum uint64) {
	if r.columns.of.Valid {
		sum += s.of(callField, r.seq, callValue(r.sessionID.String, r.kind, r.status, r.count))
	}
	if r.tool.Valid {
		sum += s.of(lookupTool, r.seq, []byte(r.tool.String))
	}
	if r.revision.Valid {
		sum += s.of(lookupRevision, r.seq, strconv.AppendInt(nil, r.revision.Int64, 10))
	}
	for i, field := range lookups {
		if number, ok := lookupNumber[field]; ok && r.texts.columns[i] != nil {
			sum += s.of(number, r.seq, r.texts.columns[i])
		}
	}
	return sum
}

// lookupNumber is the field of lookups for a column of texts.
var lookupNumber = map[string]int64{fieldTarget: lookupTarget, fieldCredential: lookupCredential, fieldActionDigest: lookupAction}

// add adds to the sum of the run that seq is in.
func (s *sums) add(seq int64, sum uint64) {
	s.run[(seq-1)/sumEvery] += sum
}

// checkLookups compares lookups, up to the mark at the beginning, with the
// entries, so that no filter misses one and none shows another. What is not in
// it yet is walked by every query.
func (v *verification) checkLookups(ctx context.Context) error {
	stored := sums{v.found.seed, map[int64]uint64{}}
	var last int64
	count := func(field, seq int64, value []byte) {
		if seq > v.report.Since && seq <= v.mark {
			stored.add(seq, stored.of(field, seq, value))
		}
		last = max(last, seq)
	}
	err := v.eachLookup(ctx, func(field, seq int64, value []byte) {
		if seq < 1 || field < lookupTool || field > lookupAction {
			v.report.add(VerdictTampered, max(seq, 0), fmt.Sprintf("the lookups have a row of no field, %d", field))
			return
		}
		count(field, seq, value)
	})
	if err == nil {
		err = v.eachCall(ctx, func(seq int64, value []byte) {
			if seq < 1 {
				v.report.add(VerdictTampered, 0, fmt.Sprintf("the calls have a row of no entry: %d", seq))
				return
			}
			count(callField, seq, value)
		})
	}
	if err != nil {
		return err
	}
	var upTo int64 // a writer may have gone on
	if err := v.db.QueryRowContext(ctx, `SELECT `+mark).Scan(&upTo); err != nil {
		return storeError("reading the lookups", err)
	}
	if last > upTo {
		v.report.add(VerdictTampered, last, "the lookups know it before their mark does")
	}
	all := maps.Clone(stored.run)
	maps.Copy(all, v.found.run)
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if stored.run[n] != v.found.run[n] {
			if err := v.nameLookup(ctx, n*sumEvery+1, (n+1)*sumEvery); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookupPage is how many rows one short read fetches.
const lookupPage = 20000

// eachCall gives fn every row of calls, in short reads.
func (v *verification) eachCall(ctx context.Context, fn func(seq int64, value []byte)) error {
	page, err := v.rows.prepare(`SELECT session_id, seq, kind, status, count FROM calls WHERE (session_id, seq) > (?, ?) ORDER BY session_id, seq LIMIT ?`)
	if err != nil {
		return err
	}
	session, seq := "", int64(math.MinInt64)
	for {
		n := 0
		err = page.each(ctx, []driver.Value{session, seq, int64(lookupPage)}, func(row []driver.Value) error {
			n++
			session, _ = row[0].(string)
			seq, _ = row[1].(int64)
			fn(seq, storedCall(row))
			return nil
		})
		if err != nil {
			return storeError("reading the calls", err)
		}
		if n < lookupPage {
			return nil
		}
	}
}

// storedCall is callValue of a row that selectCalls gives.
func storedCall(row []driver.Value) []byte {
	session, _ := row[0].(string)
	kind, _ := row[2].(string)
	return callValue(session, kind, asString(row[3]), asInt(row[4]))
}

// eachLookup gives fn every row of lookups but the marks, in short reads.
func (v *verification) eachLookup(ctx context.Context, fn func(field, seq int64, value []byte)) error {
	page, err := v.rows.prepare(`SELECT field, value, seq FROM lookups WHERE (field, value, seq) > (?, ?, ?) ORDER BY field, value, seq LIMIT ?`)
	if err != nil {
		return err
	}
	field, value, seq := int64(math.MinInt64), []byte{}, int64(math.MinInt64)
	for {
		n := 0
		err = page.each(ctx, []driver.Value{field, value, seq, int64(lookupPage)}, func(row []driver.Value) error {
			field, _ = row[0].(int64)
			value, _ = row[1].([]byte)
			seq, _ = row[2].(int64)
			if n++; field != lookupMark || len(value) > 0 {
				fn(field, seq, value)
			}
			return nil
		})
		if err != nil {
			return storeError("reading the lookups", err)
		}
		if n < lookupPage {
			return nil
		}
		value = slices.Concat([]byte{}, value) // never NULL
	}
}

// nameLookup finds the first entry from lo to hi for which lookups and entries
// differ. A redaction that came meanwhile accounts for what it took out.
func (v *verification) nameLookup(ctx context.Context, lo, hi int64) error {
	lo, hi = max(lo, v.report.Since+1), min(hi, v.mark)
	if _, err := v.rows.once(ctx, "BEGIN"); err != nil { // one state of the log for all reads
		return storeError("reading the lookups", err)
	}
	defer v.rows.once(context.WithoutCancel(ctx), "ROLLBACK") // nothing was written
	type row struct {
		field int64
		value string
	}
	differs := map[int64]map[row]int{}
	count := func(field, seq int64, value []byte, n int) {
		if seq < lo || seq > hi || field == lookupMark {
			return
		}
		if differs[seq] == nil {
			differs[seq] = map[row]int{}
		}
		differs[seq][row{field, string(value)}] += n
	}
	err := v.eachLookup(ctx, func(field, seq int64, value []byte) {
		if field <= lookupAction { // others were reported
			count(field, seq, value, 1)
		}
	})
	if err == nil {
		err = v.eachCall(ctx, func(seq int64, value []byte) { count(callField, seq, value, 1) })
	}
	if err != nil {
		return err
	}
	err = v.eachDue(ctx, selectLookups, lo-1, hi, func(r []driver.Value) {
		field, _ := r[0].(int64)
		value, _ := r[1].([]byte)
		seq, _ := r[2].(int64)
		count(field, seq, value, -1)
	})
	if err == nil {
		err = v.eachDue(ctx, selectCalls, lo-1, hi, func(r []driver.Value) {
			seq, _ := r[1].(int64)
			count(callField, seq, storedCall(r), -1)
		})
	}
	if err != nil {
		return err
	}
	for _, seq := range slices.Sorted(maps.Keys(differs)) {
		for _, n := range differs[seq] {
			switch {
			case n < 0:
				v.report.add(VerdictTampered, seq, "the lookups lack it: a filter would hide it")
				return nil
			case n > 0:
				v.report.add(VerdictTampered, seq, "the lookups give it a value that it has not: a filter would show it wrongly")
				return nil
			}
		}
	}
	return nil // a redaction came between
}

// eachDue gives fn what a table must hold of the entries after lo up to hi.
func (v *verification) eachDue(ctx context.Context, query string, lo, hi int64, fn func(row []driver.Value)) error {
	due, err := v.rows.prepare(query)
	if err != nil {
		return err
	}
	err = due.each(ctx, []driver.Value{lo, hi}, func(row []driver.Value) error { fn(row); return nil })
	if err != nil {
		return storeError("reading the entries", err)
	}
	return nil
}
