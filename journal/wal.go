package journal

import (
	"context"
	"errors"
	"fmt"
)

// walBound is the size of the -wal from which a commit empties it, and walStep
// how much it must have grown before the next one tries again. SQLite itself
// copies the -wal into the database as it grows, but begins it anew only at a
// moment without a reader, which never comes where there are many.
const (
	walBound = 16 << 20
	walStep  = 1 << 20
)

// boundWAL empties a -wal that has grown. It waits for readers as long as one
// short read takes, 40 ms; then it leaves it for later. The caller holds the turn.
func (j *Journal) boundWAL(ctx context.Context) error {
	if j.place.wal.Load() < walBound {
		j.tried = 0
		return nil
	}
	if j.place.wal.Load() < j.tried+walStep {
		return nil
	}
	j.tried = j.place.wal.Load()
	_, err := j.db.once(ctx, "PRAGMA busy_timeout(40)") // takes effect as it is prepared, so it cannot be kept
	if err == nil {
		var busy int64
		if err = j.empty.ints(ctx, nil, &busy); isBusy(err) {
			err = nil
		}
	}
	_, back := j.db.once(ctx, "PRAGMA busy_timeout(10000)")
	if err = errors.Join(err, back); err != nil {
		return storeError("emptying the -wal", err)
	}
	return nil
}

// emptyWAL moves everything into the database, whose freed bytes are zeroed, and
// truncates the -wal, where old pages would still hold what was taken out.
func (j *Journal) emptyWAL(ctx context.Context) error {
	j.queue.turn <- struct{}{}
	defer func() { <-j.queue.turn }()
	if j.closed.Load() {
		return ErrClosed
	}
	var busy int64
	if err := j.empty.ints(ctx, nil, &busy); err != nil {
		return storeError("emptying the -wal", err)
	}
	if busy != 0 {
		return fmt.Errorf("emptying the -wal: %w: a reader still needs it", ErrBusy)
	}
	return nil
}
