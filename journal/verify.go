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
	v := &verification{dir: dir, report: Report{Verdict: VerdictOK, Pinned: -1, Compared: []string{}, KeySameAs: []string{}, Findings: []Finding{}},
		heads: slices.Clone(opt.Heads), missing: map[absent]bool{}, found: newSums()}
	if err := v.trust(opt); err != nil {
		return v.report, err
	}
	if v.key != nil {
		if err := v.takeNotes(opt); err != nil {
			return v.report, err
		}
		v.run(ctx, opt.Since)
	}
	if err := ctx.Err(); err != nil {
		return v.report, fmt.Errorf("verifying the journal: %w", err)
	}
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int { return int(min(max(a.Seq-b.Seq, -1), 1)) })
	return v.report, nil
}

type verification struct {
	dir    string
	key    note.Verifier
	heads  []Head
	db     *sql.DB
	report Report
	end    int64 // the last entry
	mark   int64 // how far the lookups went
	seen   int64 // the last entry that was checked
	tree   subtrees

	rows                    *store
	selectRows, selectTexts *statement

	latest, behind int64 // of the row before
	good           int64 // size of the last checkpoint that held
	broken         bool  // the tree can no longer be compared
	missing        map[absent]bool
	found          sums
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
		v.compareKeys(opt.Others)
		return nil
	}
	if v.key, err = note.NewVerifier(opt.Key); err != nil {
		return fmt.Errorf("trusted verifier key: %w: %v", ErrInvalid, err)
	}
	v.report.Key, v.report.KeyFrom = opt.Key, opt.KeyFrom
	if beside != nil && vkey != opt.Key {
		v.report.add(VerdictTampered, 0, pubFile+" holds another key than the one that is trusted")
	} else if beside != nil {
		v.report.KeySameAs = append(v.report.KeySameAs, pubFile)
	}
	v.compareKeys(opt.Others)
	return nil
}

func (v *verification) compareKeys(others []KnownKey) {
	for _, o := range others {
		if o.Key == v.report.Key {
			v.report.KeySameAs = append(v.report.KeySameAs, o.From)
		} else {
			v.report.add(VerdictTampered, 0, o.From+" knows another key than the one that is trusted")
		}
	}
}

func (v *verification) run(ctx context.Context, since *Note) {
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
	steps := []func(context.Context) error{v.checkEnds, v.start(since), v.checkRows, v.checkRedactions, v.checkHeads, v.checkLookups}
	if since == nil {
		steps = append(steps, v.checkSQLite, v.countUnsettled)
	}
	for _, step := range steps {
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
	case errors.Is(err, ErrTampered), errors.Is(err, ErrWrongKey):
		v.report.add(VerdictTampered, seq, err.Error())
	case errors.Is(err, ErrRolledBack):
		v.report.add(VerdictRolledBack, seq, err.Error())
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

// takeNotes makes heads of the checkpoints that were kept elsewhere.
func (v *verification) takeNotes(opt VerifyOptions) error {
	for _, n := range opt.Against {
		c, err := openNote(n, v.key)
		switch {
		case errors.Is(err, ErrInvalid):
			return err
		case err != nil:
			v.report.add(VerdictTampered, 0, err.Error())
		default:
			v.heads = append(v.heads, Head{c.size, c.root, n.From})
		}
	}
	return nil
}

// openNote reads a checkpoint that was kept elsewhere. ErrInvalid: it is none.
// ErrWrongKey: it is signed by another key than the one that is trusted.
func openNote(n Note, key note.Verifier) (checkpoint, error) {
	c, err := openCheckpoint(n.Text, key)
	if err == nil {
		return c, nil
	}
	var unknown *note.UnverifiedNoteError
	if _, other := note.Open(n.Text, note.VerifierList()); !errors.As(other, &unknown) {
		return checkpoint{}, fmt.Errorf("%s: %w: no signed checkpoint", n.From, ErrInvalid)
	}
	return checkpoint{}, fmt.Errorf("%s: %w: it was not signed by %s", n.From, ErrWrongKey, key.Name())
}

// start begins behind a checkpoint that was verified before, if there is one.
func (v *verification) start(since *Note) func(context.Context) error {
	return func(ctx context.Context) error {
		if since == nil {
			return nil
		}
		c, err := openNote(*since, v.key)
		if err != nil {
			return err
		}
		v.report.Compared = append(v.report.Compared, fmt.Sprintf("%s: %d entries", since.From, c.size))
		if c.size > v.end {
			return fmt.Errorf("%w: %s knows %d entries, the log has %d", ErrRolledBack, since.From, c.size, v.end)
		}
		if v.tree, err = readSubtrees(ctx, v.db, c.size); err != nil {
			return err
		}
		if v.tree.root() != c.root {
			return fmt.Errorf("%w: %s knows other first %d entries", ErrRolledBack, since.From, c.size)
		}
		v.seen, v.good, v.report.Since = c.size, c.size, c.size
		if c.size == 0 {
			return nil
		}
		err = v.db.QueryRowContext(ctx, `SELECT latest, behind FROM entries WHERE seq = ?`, c.size).Scan(&v.latest, &v.behind)
		if err != nil {
			return storeError("reading the start", err)
		}
		return nil
	}
}

func (v *verification) checkSchema(ctx context.Context) error { return checkSchema(ctx, v.db) }

// checkEnds settles how far to go, and looks for texts beyond, in one statement.
func (v *verification) checkEnds(ctx context.Context) error {
	var first int64
	var firstText, lastText sql.NullInt64
	err := v.db.QueryRowContext(ctx, `SELECT (SELECT min(seq) FROM entries), (SELECT max(seq) FROM entries),
  (SELECT min(seq) FROM texts), (SELECT max(seq) FROM texts), `+mark+`
  FROM entries LIMIT 1`).Scan(&first, &v.end, &firstText, &lastText, &v.mark)
	if errors.Is(err, sql.ErrNoRows) {
		return errEmpty
	}
	if err != nil {
		return storeError("reading the ends", err)
	}
	v.report.Size = v.end
	if v.mark > v.end {
		v.report.add(VerdictTampered, 0, "the lookups say that they go beyond the end")
		v.mark = v.end
	}
	if firstText.Valid && firstText.Int64 < 1 || lastText.Int64 > v.end {
		v.report.add(VerdictTampered, 0, "there are texts of no entry")
	}
	return nil
}

// checkHeads judges the pins that the tree did not reach, and the pin's lag.
func (v *verification) checkHeads(ctx context.Context) error {
	for _, h := range v.heads {
		v.report.Compared = append(v.report.Compared, fmt.Sprintf("%s: %d entries", h.From, h.Size))
		if h.Size <= v.report.Since {
			v.checkOldHead(ctx, h)
		}
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

// checkOldHead compares a head with the stored tree, where the entries up to it
// were not read again.
func (v *verification) checkOldHead(ctx context.Context, h Head) {
	if v.report.Since == 0 {
		return
	}
	root, err := rootAt(ctx, v.db, h.Size)
	switch {
	case err != nil:
		v.fail(0, err)
	case root != h.Root:
		v.report.add(VerdictRolledBack, 0, fmt.Sprintf("%s knows other first %d entries", h.From, h.Size))
	}
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
