package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// A Journal appends to the log. It is safe for concurrent use, by several
// processes too. Whoever opened it closes it.
type Journal struct {
	cfg    Config
	signer *signer
	place  *place
	pin    *pinned
	queue  *queue
	reads  *sql.DB
	closed atomic.Bool
	// unknown remembers whether any run ended as Unknown: every call asks.
	unknown atomic.Int32

	// Everything below belongs to the holder of the queue's turn.
	db      *store
	head    head
	version int64 // PRAGMA data_version when head was the end of the log
	filled  int64 // where lookups ended when this process last looked
	tried   int64 // size of the -wal when it was last to be emptied
	dirty   bool  // a transaction could not be rolled back yet
	// creating lets the first entry stand before any other; only Create sets it.
	creating bool

	begin, end, dataVersion, selectActivity, insertEntry, insertTexts, selectMark, insertLookups,
	insertCalls, selectTexts, updateTexts, forgetLookup, empty *statement
}

// maxReaders bounds the connections for lookups beside the one that writes.
const maxReaders = 4

const (
	insertEntry = `INSERT INTO entries (` + columnNames + `, hashes, note, body) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	insertTexts = `INSERT INTO texts (seq, ` + textColumns + `) VALUES (?,?,?,?,?,?,?)`

	// selectActivity gives the seq of an activity's intent and of its other entry, or 0.
	selectActivity = `SELECT coalesce(max(CASE kind WHEN 'intent' THEN seq END), 0),
  coalesce(max(CASE kind WHEN 'intent' THEN 0 ELSE seq END), 0) FROM entries WHERE activity_id = ?`
)

// Open opens a journal for appending. It checks, at a cost that does not grow
// with the log, that files and schema are what Create made, that the newest
// checkpoint is signed by cfg.Key and matches the tree and the last entry, and
// that the log extends the pin; Verify checks everything.
//
// Errors to match: ErrMissing, ErrExposed, ErrNetworkFS, ErrWrongKey,
// ErrDamaged, ErrTampered, ErrRolledBack, ErrUnavailable, ErrInvalid. On any of
// them the journal stays as it was.
func Open(ctx context.Context, cfg Config) (_ *Journal, err error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if err := checkPlace(cfg.Dir); err != nil {
		return nil, err
	}
	j := newJournal(cfg)
	defer func() {
		if err != nil {
			err = errors.Join(err, j.release())
		}
	}()
	if j.signer, err = newSigner(cfg.Key); err != nil {
		return nil, err
	}
	if err := j.checkKey(); err != nil {
		return nil, err
	}
	if err := j.connect(ctx); err != nil {
		return nil, err
	}
	if err := j.checkHead(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

func newJournal(cfg Config) *Journal {
	return &Journal{cfg: cfg, queue: newQueue()}
}

func (j *Journal) checkKey() error {
	vkey, _, err := readVerifier(j.cfg.Dir)
	if err != nil {
		return err
	}
	if vkey != j.signer.vkey {
		return fmt.Errorf("%w: %s holds %s, the vault's key is %s", ErrWrongKey, pubFile, vkey, j.signer.vkey)
	}
	return nil
}

// connect opens the files and remembers which they are.
func (j *Journal) connect(ctx context.Context) (err error) {
	path := dbPath(j.cfg.Dir)
	pin, err := os.OpenFile(pinPath(j.cfg.Dir), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	j.pin = &pinned{File: pin}
	if j.reads, err = sql.Open("sqlite", readDSN(path)); err != nil {
		return storeError("opening the journal", err)
	}
	j.reads.SetMaxOpenConns(maxReaders)
	before, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	if j.db, err = openStore(writeDSN(path)); err != nil {
		return err
	}
	if _, err := j.db.once(ctx, `SELECT count(*) FROM sqlite_schema`); err != nil { // the first read makes -wal and -shm
		return storeError("opening the journal", err)
	}
	if err := checkSchema(ctx, j.reads); err != nil {
		return err
	}
	if j.place, err = remember(j.cfg.Dir); err != nil {
		return err
	}
	if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
		return fmt.Errorf("%w: %s, while it was opened", ErrReplaced, path)
	}
	return j.prepare()
}

func (j *Journal) prepare() (err error) {
	for query, stmt := range map[string]**statement{
		"BEGIN IMMEDIATE": &j.begin, "COMMIT": &j.end, "PRAGMA data_version": &j.dataVersion, selectActivity: &j.selectActivity,
		insertEntry: &j.insertEntry, insertTexts: &j.insertTexts, "SELECT " + mark: &j.selectMark, insertLookups: &j.insertLookups,
		insertCalls: &j.insertCalls, `SELECT ` + textColumns + ` FROM texts WHERE seq = ?`: &j.selectTexts,
		updateTexts: &j.updateTexts, forgetLookup: &j.forgetLookup,
		"PRAGMA wal_checkpoint(TRUNCATE)": &j.empty,
	} {
		if *stmt, err = j.db.prepare(query); err != nil {
			return err
		}
	}
	return nil
}

// checkHead takes over the head, after checking it against key, tree, last
// entry and pin, and brings a pin forward that a crash left behind.
func (j *Journal) checkHead(ctx context.Context) error {
	pin, err := readPin(j.cfg.Dir)
	if err != nil {
		return err
	}
	tx, err := j.reads.BeginTx(ctx, nil)
	if err != nil {
		return storeError("reading the head", err)
	}
	defer tx.Rollback()
	h, err := scanHead(tx.QueryRowContext(ctx, selectHead))
	if err != nil {
		return err
	}
	if err := h.check(ctx, tx, j.signer.verifier); err != nil {
		return err
	}
	if err := lastLeafHolds(ctx, tx, h.size); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "SELECT "+mark).Scan(&j.filled); err != nil {
		return storeError("reading the lookups", err)
	}
	if err := markHolds(j.filled, h.size); err != nil {
		return err
	}
	if err := extends(ctx, tx, h.checkpoint, pin); err != nil {
		return fmt.Errorf("against %s: %w", pinFile, err)
	}
	j.head = h
	return j.pin.advance(h.checkpoint)
}

// Close waits for a commit under way, syncs the pin, closes the files and wipes
// the journal's copy of the key. Later calls return ErrClosed.
func (j *Journal) Close() error {
	j.queue.turn <- struct{}{}
	defer func() { <-j.queue.turn }()
	if j.closed.Swap(true) {
		return nil
	}
	var err error
	if j.pin != nil {
		err = j.pin.Sync()
	}
	return errors.Join(err, j.release())
}

func (j *Journal) release() error {
	var errs []error
	if j.reads != nil {
		errs = append(errs, j.reads.Close()) // the last to close must be able to write
	}
	if j.db != nil {
		errs = append(errs, j.db.close())
	}
	if j.pin != nil {
		errs = append(errs, j.pin.Close())
	}
	if j.place != nil {
		errs = append(errs, j.place.close())
	}
	if j.signer != nil {
		j.signer.wipe()
	}
	return errors.Join(errs...)
}
