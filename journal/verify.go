package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"golang.org/x/mod/sumdb/note"
)

// Verify recomputes the whole journal in dir from the stored bytes: leaf and
// tree hashes, columns against bodies, texts against salted hashes, signatures,
// the schema, SQLite's own structures, the pin. It needs no private key, reads
// in short pages, and may run while others write: it judges the log up to the
// checkpoint that was the newest when it began. What is wrong is in the Report;
// the error is only for a ctx that ended or an unusable opt.Key (ErrInvalid).
func Verify(ctx context.Context, dir string, opt VerifyOptions) (Report, error) {
	v := &verification{dir: dir, report: Report{Verdict: VerdictOK, Pinned: -1, Findings: []Finding{}}, heads: slices.Clone(opt.Heads)}
	if err := v.trust(opt); err != nil {
		return v.report, err
	}
	if v.key != nil {
		v.run(ctx)
	}
	if err := ctx.Err(); err != nil {
		return v.report, fmt.Errorf("verifying the journal: %w", err)
	}
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int { return int(min(max(a.Seq-b.Seq, -1), 1)) })
	return v.report, nil
}

type verification struct {
	dir   string
	key   note.Verifier
	heads []Head
	db    *sql.DB

	rows                    *store
	selectRows, selectTexts *statement

	report Report
	end    int64 // the last entry
	seen   int64 // the last entry that was checked
	tree   subtrees

	latest, behind int64 // of the row before
	good           int64 // size of the last checkpoint that held
	broken         bool  // the tree can no longer be compared
}

// trust settles which key to believe.
func (v *verification) trust(opt VerifyOptions) error {
	vkey, beside, err := readVerifier(v.dir)
	if opt.Key == "" {
		if err != nil {
			v.report.add(VerdictCannotSay, 0, "no verifier key: "+err.Error())
			return nil
		}
		v.key, v.report.Key, v.report.KeyFrom = beside, vkey, pubPath(v.dir)
		return nil
	}
	if v.key, err = note.NewVerifier(opt.Key); err != nil {
		return fmt.Errorf("trusted verifier key: %w: %v", ErrInvalid, err)
	}
	v.report.Key, v.report.KeyFrom = opt.Key, opt.KeyFrom
	if beside != nil && vkey != opt.Key {
		v.report.add(VerdictTampered, 0, pubFile+" holds another key than the one that is trusted")
	}
	return nil
}

func (v *verification) run(ctx context.Context) {
	if _, err := os.Stat(dbPath(v.dir)); err != nil {
		v.report.add(VerdictCannotSay, 0, "no database: "+err.Error())
		return
	}
	v.readPin()
	var err error
	if v.db, err = sql.Open("sqlite", readDSN(dbPath(v.dir))); err != nil {
		v.fail(0, err)
		return
	}
	defer v.db.Close() // nothing was written
	if err := v.openRows(ctx); err != nil {
		v.fail(0, err)
		return
	}
	defer v.rows.close()
	for _, step := range []func(context.Context) error{v.checkEnds, v.checkRows, v.checkHeads, v.checkSQLite, v.countUnsettled} {
		if err := step(ctx); err != nil {
			v.fail(0, err)
			return
		}
	}
}

// openRows opens the connection for the two long reads. Statements that do not
// fit the schema are the schema's fault, which checkSchema names.
func (v *verification) openRows(ctx context.Context) (err error) {
	if err := v.checkSchema(ctx); err != nil {
		return err
	}
	if v.rows, err = openStore(readDSN(dbPath(v.dir))); err != nil {
		return err
	}
	if v.selectRows, err = v.rows.prepare(selectRows); err == nil {
		v.selectTexts, err = v.rows.prepare(selectTexts)
	}
	if err != nil {
		err = errors.Join(err, v.rows.close())
	}
	return err
}

// fail records an error that ended the run as what it says about the journal.
func (v *verification) fail(seq int64, err error) {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	case errors.Is(err, ErrTampered):
		v.report.add(VerdictTampered, seq, err.Error())
	case errors.Is(err, ErrDamaged):
		v.report.add(VerdictDamaged, seq, err.Error())
	case errors.Is(err, fs.ErrPermission), errors.Is(err, ErrBusy):
		v.report.add(VerdictCannotSay, seq, err.Error())
	default:
		v.report.add(VerdictDamaged, seq, err.Error())
	}
}

func (v *verification) readPin() {
	pin, err := readPin(v.dir)
	if err != nil {
		v.report.add(VerdictCannotSay, 0, "without the pin a cut tail or an older copy cannot be told: "+err.Error())
		return
	}
	v.report.Pinned = pin.size
	v.heads = append(v.heads, Head{pin.size, pin.root, pinFile})
}

func (v *verification) checkSchema(ctx context.Context) error { return checkSchema(ctx, v.db) }

// checkEnds settles how far to go, and looks for texts beyond, in one statement.
func (v *verification) checkEnds(ctx context.Context) error {
	var first int64
	var firstText, lastText sql.NullInt64
	err := v.db.QueryRowContext(ctx, `SELECT (SELECT min(seq) FROM entries), (SELECT max(seq) FROM entries),
  (SELECT min(seq) FROM texts), (SELECT max(seq) FROM texts)
  FROM entries LIMIT 1`).Scan(&first, &v.end, &firstText, &lastText)
	if errors.Is(err, sql.ErrNoRows) {
		return errEmpty
	}
	if err != nil {
		return storeError("reading the ends", err)
	}
	v.report.Size = v.end
	if firstText.Valid && firstText.Int64 < 1 || lastText.Int64 > v.end {
		v.report.add(VerdictTampered, 0, "there are texts of no entry")
	}
	return nil
}

// checkHeads judges the pins that the tree did not reach, and the pin's lag.
func (v *verification) checkHeads(context.Context) error {
	for _, h := range v.heads {
		if h.Size > v.end {
			v.report.add(VerdictRolledBack, 0, fmt.Sprintf("%s knows %d entries, the log has %d", h.From, h.Size, v.end))
		}
	}
	if v.report.Pinned < 0 || v.report.Pinned >= v.end {
		return nil
	}
	// A writer may have been between its commit and its pin.
	if again, err := readPin(v.dir); err != nil || again.size < v.end {
		v.report.add(VerdictCrashTail, 0, fmt.Sprintf("the last %d entries are not pinned yet", v.end-v.report.Pinned))
	}
	return nil
}

// checkSQLite lets SQLite compare its pages and indexes, so that no entry is
// hidden from a filter.
func (v *verification) checkSQLite(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, "PRAGMA integrity_check(20)")
	if err != nil {
		return storeError("integrity check", err)
	}
	defer rows.Close()
	for rows.Next() {
		var what string
		if err := rows.Scan(&what); err != nil {
			return storeError("integrity check", err)
		}
		if what != "ok" {
			v.report.add(VerdictDamaged, 0, "SQLite: "+what)
		}
	}
	if err := rows.Err(); err != nil {
		return storeError("integrity check", err)
	}
	return nil
}

func (v *verification) countUnsettled(ctx context.Context) error {
	err := v.db.QueryRowContext(ctx, `SELECT count(*) FROM (`+unsettled+`)`).Scan(&v.report.Unsettled)
	if err != nil {
		return storeError("counting intents", err)
	}
	return nil
}

// startSeq is below every row, so that a row before the first is seen too.
const startSeq = math.MinInt64
