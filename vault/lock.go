package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often a waiting process asks for the lock again: flock(2)
// has no wait with an end.
const lockPoll = 5 * time.Millisecond

// A fileLock is an exclusive flock on LockFile. The kernel ends it with the
// process, so a killed writer never leaves the vault locked. The file itself
// stays: taking it away under a waiting process would let two in.
type fileLock struct{ file *os.File }

// takeLock waits for the lock until ctx ends or cfg's wait is over; then ErrBusy.
func takeLock(ctx context.Context, cfg Config) (*fileLock, error) {
	if cfg.Dir == "" {
		return nil, errNoDir
	}
	f, err := os.OpenFile(cfg.path(LockFile), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is %w", cfg.Dir, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the vault: %w", err)
	}
	if err := waitFlock(ctx, f, cfg.lockWait()); err != nil {
		f.Close()
		return nil, err
	}
	return &fileLock{f}, nil
}

func waitFlock(ctx context.Context, f *os.File, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrBusy)
	defer cancel()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock the vault: %w", err)
		}
		select {
		case <-ctx.Done():
			return busy(ctx)
		case <-tick.C:
		}
	}
}

// busy tells both: that the vault was in use, and a cancel that came first.
func busy(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ErrBusy) {
		return fmt.Errorf("%w (%w)", ErrBusy, cause)
	}
	return ErrBusy
}

func (l *fileLock) release() { l.file.Close() }
