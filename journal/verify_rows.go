package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// verifyPage is how many entries one short read of Verify fetches.
const verifyPage = 1000

// A storedRow is all that is stored about one entry.
type storedRow struct {
	columns
	hashes, note, raw []byte
	texts             textRow
}

// checkRows goes through the log, page by page.
func (v *verification) checkRows(ctx context.Context) error {
	last := int64(startSeq)
	for {
		page, err := v.readPage(ctx, last)
		if err != nil {
			return err
		}
		for i := range page {
			last = page[i].seq
			v.checkRow(&page[i])
		}
		if len(page) < verifyPage {
			break
		}
	}
	if v.broken {
		return nil
	}
	v.report.Root = v.tree.root().String()
	if v.good < v.end {
		v.report.add(VerdictTampered, v.good+1, "no checkpoint covers the last entries")
	}
	return nil
}

// checkRow checks one entry with all that belongs to it.
func (v *verification) checkRow(r *storedRow) {
	next := v.seen + 1
	if r.seq < next {
		v.report.add(VerdictTampered, r.seq, "an entry stands before the first")
		return
	}
	if r.seq > next {
		v.report.add(VerdictTampered, next, fmt.Sprintf("entries %d to %d are missing", next, r.seq-1))
		v.broken = true // bodies, columns and texts behind the gap can still be checked
		v.latest, v.behind = r.latest, r.behind
	}
	v.seen = r.seq
	leaf := tlog.RecordHash(r.raw)
	if len(r.hashes) < tlog.HashSize || !bytes.Equal(r.hashes[:tlog.HashSize], leaf[:]) {
		v.report.add(VerdictTampered, r.seq, "the body is not what was hashed")
		copy(leaf[:], r.hashes) // go on with it, so that one edit is one finding
	}
	v.checkBody(r)
	v.grow(r, leaf)
}

// checkBody checks columns and texts against the body.
func (v *verification) checkBody(r *storedRow) {
	defer func() { v.latest, v.behind = r.latest, r.behind }()
	b, t, err := decodeBody(r.raw)
	if err != nil {
		v.report.add(VerdictTampered, r.seq, err.Error())
		return
	}
	want := columnsOf(b, t, v.latest, v.behind)
	if want.seq != r.seq {
		v.report.add(VerdictTampered, r.seq, fmt.Sprintf("the body is that of entry %d", want.seq))
	} else if want != r.columns {
		v.report.add(VerdictTampered, r.seq, "a column differs from the body")
	}
	left := b.Texts
	found, err := r.texts.texts()
	if err != nil {
		v.report.add(VerdictTampered, r.seq, err.Error())
		return
	}
	for _, x := range found {
		switch hash, ok := left[x.field]; {
		case !ok:
			v.report.add(VerdictTampered, r.seq, fmt.Sprintf("the entry has no text %q", x.field))
		case hash != x.hash() || len(x.salt) != saltSize:
			v.report.add(VerdictTampered, r.seq, fmt.Sprintf("the text %q is not what was hashed", x.field))
		}
		delete(left, x.field)
	}
	for f := range left {
		v.report.add(VerdictTampered, r.seq, fmt.Sprintf("the text %q is missing", f))
	}
}

// grow adds a leaf to the tree and compares hashes, checkpoint and pins there.
func (v *verification) grow(r *storedRow, leaf tlog.Hash) {
	if v.broken {
		return
	}
	if !bytes.Equal(joinHashes(v.tree.push(leaf)), r.hashes) {
		v.report.add(VerdictTampered, r.seq, "a hash of the tree is wrong")
	}
	if r.note == nil && !v.pinnedAt(r.seq) {
		return
	}
	root := v.tree.root()
	if r.note != nil {
		v.checkNote(r.seq, r.note, root)
	}
	for _, h := range v.heads {
		if h.Size == r.seq && h.Root != root {
			v.report.add(VerdictRolledBack, 0, fmt.Sprintf("%s knows other first %d entries", h.From, r.seq))
		}
	}
}

func (v *verification) pinnedAt(seq int64) bool {
	for _, h := range v.heads {
		if h.Size == seq {
			return true
		}
	}
	return false
}

// checkNote compares a checkpoint with the tree at its size. Where roots begin
// to differ, the entry is to be found after the last checkpoint that held.
func (v *verification) checkNote(size int64, msg []byte, root tlog.Hash) {
	v.report.Checkpoints++
	c, err := openCheckpoint(msg, v.key)
	switch {
	case err != nil:
		v.report.add(VerdictTampered, size, "the checkpoint is not signed by the trusted key")
	case c.size != size:
		v.report.add(VerdictTampered, size, fmt.Sprintf("the checkpoint is that of %d entries", c.size))
	case c.root == root:
		v.good = size
	default:
		v.broken = true
		v.report.add(VerdictTampered, v.good+1, fmt.Sprintf("entries %d to %d are not those that were signed", v.good+1, size))
	}
}

// readPage reads the entries after a seq, with their texts.
func (v *verification) readPage(ctx context.Context, after int64) ([]storedRow, error) {
	page := make([]storedRow, 0, verifyPage)
	err := v.selectRows.each(ctx, []driver.Value{after, v.end, int64(verifyPage)}, func(row []driver.Value) error {
		var r storedRow
		r.columns.scan(row)
		r.hashes, _ = row[columnCount].([]byte)
		r.note, _ = row[columnCount+1].([]byte)
		r.raw, _ = row[columnCount+2].([]byte)
		page = append(page, r)
		return nil
	})
	if err != nil {
		return nil, storeError("reading entries", err)
	}
	if len(page) == 0 {
		return nil, nil
	}
	return page, v.readTexts(ctx, page, max(after, 0))
}

const (
	selectRows  = `SELECT ` + columnNames + `, hashes, note, body FROM entries NOT INDEXED WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
	selectTexts = `SELECT seq, ` + textColumns + ` FROM texts NOT INDEXED WHERE seq > ? AND seq <= ? ORDER BY seq`
)

// readTexts gives the texts after a seq to their entries. One between them is of none.
func (v *verification) readTexts(ctx context.Context, page []storedRow, after int64) error {
	i := 0
	err := v.selectTexts.each(ctx, []driver.Value{after, page[len(page)-1].seq}, func(row []driver.Value) error {
		seq, _ := row[0].(int64)
		for i < len(page)-1 && page[i].seq < seq {
			i++
		}
		if page[i].seq != seq {
			v.report.add(VerdictTampered, seq, "there are texts of no entry")
			return nil
		}
		page[i].texts.scan(row[1:])
		return nil
	})
	if err != nil {
		return storeError("reading texts", err)
	}
	return nil
}
