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
	targets, found, err := j.textsOf(ctx, r.ID, fields)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("redacting %s: %w: it has no text %q", r.ID, ErrNotFound, fields)
	}
	for _, t := range targets {
		e := &entry{needs: roomNone, body: body{Kind: kindRedaction, Redaction: &redactionBody{Fields: t.fields, Seq: t.seq}}}
		e.texts.add(fieldReason, r.Reason)
		e.texts.add(fieldBy, r.By)
		if _, err := j.append(ctx, e); err != nil {
			return seqs, err
		}
		seqs = append(seqs, t.seq)
	}
	return seqs, j.emptyWAL(ctx)
}

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

// A target is an entry with those of its texts that are to be taken out.
type target struct {
	seq    int64
	fields []string
}

// textsOf finds the entries of a record that have one of the fields. Found says
// that there are some, even where all that they had was redacted before.
func (j *Journal) textsOf(ctx context.Context, id string, fields []string) (targets []target, found bool, err error) {
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
		t := target{seq: row.Seq}
		for _, f := range fields {
			if _, has := row.texts[f]; has {
				t.fields = append(t.fields, f)
			}
			found = found || slices.Contains(t.fields, f) || slices.Contains(row.redacted, f)
		}
		if len(t.fields) > 0 {
			targets = append(targets, t)
		}
	}
	return targets, found, nil
}

// takeOut removes the texts that a redaction names. It is the one place where
// the program changes what it stored, and it reaches the side table only.
func (j *Journal) takeOut(ctx context.Context, r *redactionBody) error {
	read, err := j.db.prepare(`SELECT ` + textColumns + ` FROM texts WHERE seq = ?`)
	if err != nil {
		return err
	}
	var stored textRow
	err = read.each(ctx, []driver.Value{r.Seq}, func(row []driver.Value) error { stored.scan(row); return nil })
	if err != nil {
		return err
	}
	all, err := stored.texts()
	if err != nil {
		return fmt.Errorf("%w: entry %d: %v", ErrTampered, r.Seq, err)
	}
	var taken texts
	for i, x := range all {
		if x.taken == nil && slices.Contains(r.Fields, x.field) {
			taken, all[i] = append(taken, x), x.out()
		}
	}
	if len(taken) == 0 {
		return fmt.Errorf("%w: the texts of entry %d are gone already", ErrNotFound, r.Seq)
	}
	write, err := j.db.prepare(`UPDATE texts SET (` + textColumns + `) = (?,?,?,?,?,?) WHERE seq = ?`)
	if err != nil {
		return err
	}
	if err := write.run(ctx, append(all.row().values(), r.Seq)...); err != nil {
		return err
	}
	forget, err := j.db.prepare(`DELETE FROM lookups WHERE field = ? AND value = ? AND seq = ?`)
	if err != nil {
		return err
	}
	for _, x := range taken {
		if number, ok := lookupNumber[x.field]; ok {
			if err := forget.run(ctx, number, x.value, r.Seq); err != nil {
				return err
			}
		}
	}
	return nil
}
