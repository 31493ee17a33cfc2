package journal

import (
	"context"
	"encoding/json"
	"fmt"
)

// Writable reports whether an intent could be written now, as far as can be
// told without writing: the files are those that were opened, and the disk
// reserve is there. Its errors match ErrUnavailable.
func (j *Journal) Writable(ctx context.Context) error {
	if j.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return j.place.admits(roomWhole, j.cfg.reserve())
}

// Intend records that an activity is about to run, and returns the entry's seq
// once that is durable. On any error nothing may run; the entry may stand
// nevertheless where the disk failed late (after the commit, at the pin), and
// then reads as running until Recover. Seq, Time, Outcome and Downstream of a
// are not read: the journal gives the first two.
//
// Errors to match: ErrUnavailable and its kind; ErrInvalid; ErrDuplicate when
// the activity has an entry already; ErrTampered and ErrRolledBack when the log
// is not the one that was opened.
func (j *Journal) Intend(ctx context.Context, a Activity) (seq int64, err error) {
	e, err := callEntry(kindIntent, a)
	if err != nil {
		return 0, err
	}
	return j.append(ctx, e)
}

// Settle records what became of an intended activity. It needs no disk reserve.
// ErrNotFound: there is no intent; ErrDuplicate: it is settled already.
func (j *Journal) Settle(ctx context.Context, activityID, sessionID string, o Outcome, downstream json.RawMessage) (int64, error) {
	return j.settle(ctx, activityID, sessionID, o, downstream, "")
}

func (j *Journal) settle(ctx context.Context, activityID, sessionID string, o Outcome, downstream json.RawMessage, source string) (int64, error) {
	if activityID == "" || sessionID == "" {
		return 0, fmt.Errorf("outcome entry: %w: activity or session is missing", ErrInvalid)
	}
	switch o.Status {
	case OK, Error, Cancelled, Timeout, Unknown:
	default:
		return 0, fmt.Errorf("outcome entry: %w: status %q", ErrInvalid, o.Status)
	}
	e := &entry{body: body{Kind: kindOutcome, ActivityID: activityID, SessionID: sessionID}, needs: roomNone}
	if err := e.addOutcome(o, downstream, source); err != nil {
		return 0, err
	}
	return j.append(ctx, e)
}

// Refuse records an activity that was stopped before its intent, with its
// Outcome, whose Status is Refused, or Cancelled by its caller. RawArgs are given whole and are cut here
// where they are over 64 KiB. Count is 1, or the number of like calls that one
// entry of a flood stands for. A's KnownTool says whether Tool is a name from
// the registry. It needs half the disk reserve.
func (j *Journal) Refuse(ctx context.Context, a Activity, count int) (seq int64, err error) {
	if a.Outcome.Status != Refused && a.Outcome.Status != Cancelled || count < 1 {
		return 0, fmt.Errorf("refused entry: %w: status %q, count %d", ErrInvalid, a.Outcome.Status, count)
	}
	a.RawArgs = refusedArgs(a.RawArgs)
	e, err := callEntry(kindRefused, a)
	if err != nil {
		return 0, err
	}
	e.needs = roomHalf
	e.body.Call.Count = count
	if err := e.addOutcome(a.Outcome, nil, ""); err != nil {
		return 0, err
	}
	return j.append(ctx, e)
}
