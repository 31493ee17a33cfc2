package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
)

// Redactable lists the texts that Redact takes out.
func Redactable() []string {
	return []string{fieldRawArgs, fieldNormalizedArgs, fieldActionDigest, fieldShownDigest, fieldApprovalDigest, fieldTarget,
		fieldDownstream, fieldResponse, fieldCredential, fieldTool, fieldBy, fieldBasis, fieldReason, fieldDetail,
		fieldClientName, fieldClientVersion, fieldClientProtocol, fieldPeer, fieldScope}
}

// A Redaction says what to take out of the record of an activity or of a
// session, and why.
type Redaction struct {
	// ID is the activity's or the session's, or a prefix that fits no other.
	ID string
	// Fields are names from Redactable. raw_args takes normalized_args with it,
	// which says the same in other words.
	Fields []string
	// Reason and By are texts of the entry that records the redaction.
	Reason, By string
}

// Redact takes texts out of the side table, and appends an entry for each entry
// that they belonged to; both are one commit. Then it empties the -wal, so that
// the values are in no page of any file. It returns the entries whose texts were
// taken out. The tree is not touched: a body holds a hash over salted hashes, of
// which one stays in the place of each text; the salt goes too.
//
// ErrNotFound: there is no such record, or it has no such text. ErrBusy: the
// values are out of the log, but a reader kept the -wal from being emptied;
// calling again empties it.
func (j *Journal) Redact(ctx context.Context, r Redaction) (seqs []int64, err error) {
	fields, err := r.fields()
	if err != nil {
		return nil, err
	}
	for {
		next, found, err := j.textsOf(ctx, r.ID, fields)
		if err != nil {
			return seqs, err
		}
		if !found {
			return nil, fmt.Errorf("redacting %s: %w: it has no text %q", r.ID, ErrNotFound, fields)
		}
		if next == nil {
			return seqs, j.emptyWAL(ctx)
		}
		e := &entry{needs: roomNone, body: body{Kind: kindRedaction, Redaction: next}}
		e.texts.add(fieldReason, r.Reason)
		e.texts.add(fieldBy, r.By)
		switch _, err := j.append(ctx, e); {
		case errors.Is(err, errGone): // another was first; what is left?
		case err != nil:
			return seqs, err
		default:
			seqs = append(seqs, next.Seq)
		}
	}
}

// errGone: a text that was to be taken out is out already.
var errGone = fmt.Errorf("%w: the text is gone already", ErrNotFound)

func (r Redaction) fields() ([]string, error) {
	fields := slices.Clone(r.Fields)
	for _, f := range fields {
		if !slices.Contains(Redactable(), f) {
			return nil, fmt.Errorf("redaction: %w: there is no text %q", ErrInvalid, f)
		}
	}
	if len(fields) == 0 || r.Reason == "" {
		return nil, fmt.Errorf("redaction: %w: fields and a reason are due", ErrInvalid)
	}
	if slices.Contains(fields, fieldRawArgs) {
		fields = append(fields, fieldNormalizedArgs)
	}
	slices.Sort(fields)
	return slices.Compact(fields), nil
}

// textsOf finds the first entry of a record that has some of the fields, nil for
// none. Found says that there are such, even where all that they had was redacted.
func (j *Journal) textsOf(ctx context.Context, id string, fields []string) (next *redactionBody, found bool, err error) {
	r := &Reader{j.cfg.Dir, j.reads}
	cond, whole := "e.activity_id = ?", ""
	a, err := r.Activity(ctx, id)
	switch {
	case err == nil:
		whole = a.ActivityID
	case errors.Is(err, ErrNotFound):
		s, err := r.Session(ctx, id)
		if err != nil {
			return nil, false, err
		}
		cond, whole = "e.session_id = ? AND e.of IS NULL", s.SessionID
	default:
		return nil, false, err
	}
	rows, err := load(ctx, j.reads, cond, whole)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		var there []string
		for _, f := range fields {
			if _, has := row.texts[f]; has {
				there = append(there, f)
			}
			found = found || len(there) > 0 || slices.Contains(row.redacted, f)
		}
		if len(there) > 0 {
			return &redactionBody{Fields: there, Seq: row.Seq}, true, nil
		}
	}
	return nil, found, nil
}

// redactable checks, under the write lock, that every text that r names is there,
// and is not among those that are gone with this commit; then it counts them there.
func (j *Journal) redactable(ctx context.Context, r *redactionBody, gone map[absent]bool) error {
	all, err := j.storedTexts(ctx, r.Seq)
	if err != nil {
		return err
	}
	for _, f := range r.Fields {
		if gone[absent{r.Seq, f}] || !slices.ContainsFunc(all, func(x text) bool { return x.field == f && x.taken == nil }) {
			return fmt.Errorf("%w: %q of entry %d", errGone, f, r.Seq)
		}
	}
	for _, f := range r.Fields {
		gone[absent{r.Seq, f}] = true
	}
	return nil
}

func (j *Journal) storedTexts(ctx context.Context, seq int64) (texts, error) {
	var stored textRow
	err := j.selectTexts.each(ctx, []driver.Value{seq}, func(row []driver.Value) error { stored.scan(row); return nil })
	if err != nil {
		return nil, storeError("reading texts", err)
	}
	all, err := stored.texts()
	if err != nil {
		return nil, fmt.Errorf("%w: entry %d: %v", ErrTampered, seq, err)
	}
	return all, nil
}

// Statements of takeOut.
const (
	updateTexts  = `UPDATE texts SET (` + textColumns + `) = (?,?,?,?,?,?) WHERE seq = ?`
	forgetLookup = `DELETE FROM lookups WHERE field = ? AND value = ? AND seq = ?`
)

// takeOut removes the texts that a redaction names. It is the one place where
// the program changes what it stored, and it reaches the side table only.
func (j *Journal) takeOut(ctx context.Context, r *redactionBody) error {
	all, err := j.storedTexts(ctx, r.Seq)
	if err != nil {
		return err
	}
	var taken texts
	for i, x := range all {
		if slices.Contains(r.Fields, x.field) {
			taken, all[i] = append(taken, x), x.out()
		}
	}
	if err := j.updateTexts.run(ctx, append(all.row().values(), r.Seq)...); err != nil {
		return err
	}
	for _, x := range taken {
		if number, ok := lookupNumber[x.field]; ok {
			if err := j.forgetLookup.run(ctx, number, x.value, r.Seq); err != nil {
				return err
			}
		}
	}
	return nil
}
