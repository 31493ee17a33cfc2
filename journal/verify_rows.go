package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// verifyPage is how many entries one short read of Verify fetches, and
// verifyBytes how many bytes of texts, where those are large.
const (
	verifyPage  = 1000
	verifyBytes = 8 << 20
)

// A storedRow is all that is stored about one entry.
type storedRow struct {
	columns
	hashes, note, raw []byte
	texts             textRow
}

// A judged row is an entry with all that can be said of it alone, so that many
// can be judged at once.
type judged struct {
	storedRow
	leaf     tlog.Hash
	hashed   bool // the stored leaf is that of the body
	body     *body
	at       time.Time
	findings []string
	missing  []string // fields whose text was taken out
	strays   []int64  // of no entry, whose texts were met beside this one's
	sum      uint64   // of what lookups must hold about it
	signed   checkpoint
	unsigned error // why the note does not count
}

// checkRows goes through the log, page by page: the next page is read, and each
// page's rows are judged side by side, while the tree grows in order.
func (v *verification) checkRows(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	pages, failed := make(chan []judged, 1), make(chan error, 1)
	defer func() { // the reader is done before its connection is used again
		stop()
		for range pages {
		}
	}()
	go func() {
		defer close(pages)
		failed <- v.readPages(ctx, pages)
	}()
	for page := range pages {
		v.judge(page)
		for i := range page {
			v.checkRow(&page[i])
		}
	}
	if err := <-failed; err != nil {
		return err
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

func (v *verification) readPages(ctx context.Context, pages chan<- []judged) error {
	last := int64(startSeq)
	if v.report.Since > 0 {
		last = v.report.Since
	}
	for {
		page, err := v.readPage(ctx, last)
		if err != nil || len(page) == 0 {
			return err
		}
		last = page[len(page)-1].seq
		select {
		case pages <- page:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// judge judges the rows of a page, on all processors.
func (v *verification) judge(page []judged) {
	var wg sync.WaitGroup
	each := (len(page) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	for part := range slices.Chunk(page, each) {
		wg.Go(func() {
			for i := range part {
				v.judgeRow(&part[i])
			}
		})
	}
	wg.Wait()
}

func (v *verification) judgeRow(r *judged) {
	r.leaf = tlog.RecordHash(r.raw)
	r.hashed = len(r.hashes) >= tlog.HashSize && bytes.Equal(r.hashes[:tlog.HashSize], r.leaf[:])
	r.judgeBody()
	r.sum = v.found.ofRow(&r.storedRow)
	if r.note != nil {
		r.signed, r.unsigned = openCheckpoint(r.note, v.key)
	}
}

// judgeBody checks the texts against the body.
func (r *judged) judgeBody() {
	var err error
	if r.body, r.at, err = decodeBody(r.raw); err != nil {
		r.findings = append(r.findings, err.Error())
		return
	}
	stored, err := r.texts.texts()
	if err != nil {
		r.findings = append(r.findings, err.Error())
		return
	}
	switch {
	case len(stored) == 0 && r.body.Texts != "":
		r.findings = append(r.findings, "its texts are missing")
	case len(stored) > 0 && r.body.Texts == "":
		r.findings = append(r.findings, "the entry has no texts, and some stand beside it")
	case stored.commitment() != r.body.Texts:
		r.findings = append(r.findings, "its texts are not what was hashed")
	}
	for _, x := range stored {
		if x.taken != nil {
			r.missing = append(r.missing, x.field)
		}
	}
}

// checkRow checks one entry in its place.
func (v *verification) checkRow(r *judged) {
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
	if r.seq <= v.mark {
		v.found.add(r.seq, r.sum)
	}
	leaf := r.leaf
	if !r.hashed {
		v.report.add(VerdictTampered, r.seq, "the body is not what was hashed")
		copy(leaf[:], r.hashes) // go on with it, so that one edit is one finding
	}
	v.checkColumns(r)
	for _, seq := range r.strays {
		v.report.add(VerdictTampered, seq, "there are texts of no entry")
	}
	for _, what := range r.findings {
		v.report.add(VerdictTampered, r.seq, what)
	}
	for _, field := range r.missing {
		v.missing[absent{r.seq, field}] = true
	}
	if r.body != nil && r.body.Redaction != nil {
		v.redacted(r.seq, r.body.Redaction)
	}
	v.grow(r, leaf)
}

// checkColumns checks the columns against the body and the row before.
func (v *verification) checkColumns(r *judged) {
	defer func() { v.latest, v.behind = r.latest, r.behind }()
	if r.body == nil {
		return
	}
	want := columnsOf(r.body, r.at, v.latest, v.behind)
	if want.seq != r.seq {
		v.report.add(VerdictTampered, r.seq, fmt.Sprintf("the body is that of entry %d", want.seq))
	} else if want != r.columns {
		v.report.add(VerdictTampered, r.seq, "a column differs from the body")
	}
}

// grow adds a leaf to the tree and compares hashes, checkpoint and pins there.
func (v *verification) grow(r *judged, leaf tlog.Hash) {
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
		v.checkNote(r, root)
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
func (v *verification) checkNote(r *judged, root tlog.Hash) {
	v.report.Checkpoints++
	size, c := r.seq, r.signed
	switch {
	case r.unsigned != nil:
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
func (v *verification) readPage(ctx context.Context, after int64) ([]judged, error) {
	page := make([]judged, 0, verifyPage)
	err := v.selectRows.each(ctx, []driver.Value{after, v.end, int64(verifyPage)}, func(row []driver.Value) error {
		var r judged
		r.columns.scan(row)
		r.hashes, _ = row[columnCount].([]byte)
		r.note, _ = row[columnCount+1].([]byte)
		r.raw, _ = row[columnCount+2].([]byte)
		if row[columnCount+3] == int64(1) {
			r.findings = append(r.findings, "its checkpoint is empty")
		}
		page = append(page, r)
		return nil
	})
	if err != nil {
		return nil, storeError("reading entries", err)
	}
	if len(page) == 0 {
		return nil, nil
	}
	return v.readTexts(ctx, page, max(after, 0))
}

const (
	selectRows  = `SELECT ` + columnNames + `, hashes, note, body, note = x'' FROM entries NOT INDEXED WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
	selectTexts = `SELECT seq, ` + textColumns + `, x'' IN (` + textColumns + `) FROM texts NOT INDEXED WHERE seq > ? AND seq <= ? ORDER BY seq`
)

// errEnough ends a read that has brought enough.
var errEnough = errors.New("enough")

// readTexts gives the texts after a seq to their entries, and returns those of
// the page that it came to. One between them is of none.
func (v *verification) readTexts(ctx context.Context, page []judged, after int64) ([]judged, error) {
	i, size := 0, 0
	err := v.selectTexts.each(ctx, []driver.Value{after, page[len(page)-1].seq}, func(row []driver.Value) error {
		seq, _ := row[0].(int64)
		for i < len(page)-1 && page[i].seq < seq {
			i++
		}
		if page[i].seq != seq {
			page[i].strays = append(page[i].strays, seq)
			return nil
		}
		page[i].texts.scan(row[1:])
		if row[len(row)-1] == int64(1) {
			page[i].findings = append(page[i].findings, "one of its texts is empty, where it would not be there")
		}
		if size += len(page[i].texts.rest); size > verifyBytes {
			return errEnough
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return page[:i+1], nil
	case err != nil:
		return nil, storeError("reading texts", err)
	}
	return page, nil
}
