package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// A head is the end of the log: the newest checkpoint and what the next row
// builds on.
type head struct {
	checkpoint
	note           string
	edge           subtrees
	latest, behind int64
}

// write commits a batch: its rows, the tree, a signed checkpoint, then the pin.
// An entry that cannot be one gets its own error; any other error is for all.
// The caller holds the turn.
func (j *Journal) write(ctx context.Context, batch []*pending) error {
	if j.closed.Load() {
		return ErrClosed
	}
	if j.dirty {
		if err := j.rollback(ctx); err != nil {
			return err
		}
	}
	if batch = j.admitted(batch); len(batch) == 0 {
		return nil
	}
	if err := j.begin.run(ctx); err != nil {
		return storeError("locking the journal", err)
	}
	next, err := j.writeRows(ctx, batch)
	if err == nil {
		err = j.end.run(ctx)
	}
	if err != nil {
		return errors.Join(storeError("writing the journal", err), j.rollback(ctx))
	}
	j.head = next
	return errors.Join(j.pin.advance(next.checkpoint), j.boundWAL(ctx))
}

// admitted drops the entries for which there is no room and gives them the
// reason. The place is looked at once for all.
func (j *Journal) admitted(batch []*pending) []*pending {
	var left []*pending
	var asked [roomNone + 1]bool
	var said [roomNone + 1]error
	for _, p := range batch {
		if !asked[p.needs] {
			asked[p.needs], said[p.needs] = true, j.place.admits(p.needs, j.cfg.reserve())
		}
		if p.err = said[p.needs]; p.err == nil {
			left = append(left, p)
		}
	}
	return left
}

// rollback ends the transaction. One that SQLite has ended already is no error.
func (j *Journal) rollback(ctx context.Context) error {
	_, err := j.db.once(ctx, "ROLLBACK")
	if noTransaction(err) {
		err = nil
	}
	j.dirty = err != nil
	j.filled = 0 // what was filled may be gone with it
	if err != nil {
		return storeError("rolling back", err)
	}
	return nil
}

// A draft is an entry with its place in the log, ready to be inserted.
type draft struct {
	*pending
	columns
	hashes, note, raw []byte
}

// writeRows does what happens inside the transaction.
func (j *Journal) writeRows(ctx context.Context, batch []*pending) (head, error) {
	h, err := j.readHead(ctx)
	if err != nil {
		return h, err
	}
	h.edge = h.edge.clone()
	var drafts []*draft
	here, gone := map[string]bool{}, map[absent]bool{}
	for _, p := range batch {
		if p.err = j.fits(ctx, p.entry, here, gone); p.err != nil {
			if errors.Is(p.err, ErrUnavailable) {
				return h, p.err
			}
			continue
		}
		here[p.body.ActivityID] = true
		d, err := j.draft(p, &h)
		if err != nil {
			return h, err
		}
		drafts = append(drafts, d)
	}
	if len(drafts) == 0 {
		return h, nil
	}
	h.root = h.edge.root()
	last := drafts[len(drafts)-1]
	if last.note, err = h.checkpoint.sign(j.signer); err != nil {
		return h, err
	}
	h.note = string(last.note)
	for _, d := range drafts {
		if err := j.insert(ctx, d); err != nil {
			return h, err
		}
	}
	return h, j.fillLookups(ctx, h.size)
}

// readHead reads the end of the log under the write lock. Where no other
// connection committed since this one did, it is what this one left. What
// another process appended must be signed and must extend what this one knows.
func (j *Journal) readHead(ctx context.Context) (head, error) {
	var version int64
	if err := j.dataVersion.ints(ctx, nil, &version); err != nil {
		return head{}, storeError("reading the head", err)
	}
	if version == j.version && j.head.size > 0 {
		return j.head, nil
	}
	// Under the lock every connection sees the same log.
	h, err := scanHead(j.reads.QueryRowContext(ctx, selectHead))
	if j.creating && errors.Is(err, errEmpty) {
		j.creating = false
		return head{}, nil
	}
	if err != nil {
		return h, err
	}
	if h.note != j.head.note || h.size != j.head.size {
		if err := h.check(ctx, j.reads, j.signer.verifier); err != nil {
			return h, err
		}
		if err := extends(ctx, j.reads, h.checkpoint, j.head.checkpoint); err != nil {
			return h, err
		}
	} else {
		h = j.head
	}
	j.version = version
	return h, nil
}

// fits checks what must be true of the log before e may stand in it. Here are
// the activities of which this transaction has an entry already, and gone the
// texts that it takes out.
func (j *Journal) fits(ctx context.Context, e *entry, here map[string]bool, gone map[absent]bool) error {
	if e.body.Redaction != nil {
		return j.redactable(ctx, e.body.Redaction, gone)
	}
	if e.body.ActivityID == "" {
		return nil
	}
	if here[e.body.ActivityID] {
		return fmt.Errorf("activity %s: %w", e.body.ActivityID, ErrDuplicate)
	}
	var intent, other int64
	if err := j.selectActivity.ints(ctx, []driver.Value{e.body.ActivityID}, &intent, &other); err != nil {
		return storeError("reading the journal", err)
	}
	if e.body.Kind != kindOutcome {
		if intent != 0 || other != 0 {
			return fmt.Errorf("activity %s: %w", e.body.ActivityID, ErrDuplicate)
		}
		return nil
	}
	switch {
	case intent == 0:
		return fmt.Errorf("intent of activity %s: %w", e.body.ActivityID, ErrNotFound)
	case other != 0:
		return fmt.Errorf("outcome of activity %s: %w", e.body.ActivityID, ErrDuplicate)
	}
	e.body.Of = intent
	return nil
}

// draft gives p its place behind h, and moves h on.
func (j *Journal) draft(p *pending, h *head) (*draft, error) {
	now := j.cfg.Clock().UTC().Truncate(time.Microsecond)
	p.seq = h.size + 1
	if k := p.body.Kind; k == kindIntent || k == kindRefused {
		p.body.Of = p.seq
	}
	raw, err := p.at(p.seq, now)
	if err != nil {
		return nil, err
	}
	d := &draft{pending: p, columns: columnsOf(&p.body, now, h.latest, h.behind), raw: raw}
	d.hashes = joinHashes(h.edge.push(tlog.RecordHash(raw)))
	h.size, h.latest, h.behind = d.columns.seq, d.latest, d.behind
	return d, nil
}

func (j *Journal) insert(ctx context.Context, d *draft) error {
	if err := j.insertEntry.run(ctx, d.columns.row(d.hashes, d.note, d.raw)...); err != nil {
		return err
	}
	if d.body.Redaction != nil {
		if err := j.takeOut(ctx, d.body.Redaction); err != nil {
			return err
		}
	}
	if len(d.texts) == 0 {
		return nil
	}
	return j.insertTexts.run(ctx, append([]driver.Value{d.columns.seq}, d.texts.row().values()...)...)
}
