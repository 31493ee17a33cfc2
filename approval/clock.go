package approval

import "time"

// A Clock tells the time and wakes the desk. It is given so that tests can move it.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine after about d; stop gives that up.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// WallClock is the system's clock.
type WallClock struct{}

// Now returns the time without the monotonic reading, which stands still while
// a machine is suspended.
func (WallClock) Now() time.Time { return time.Now().Round(0) }

// AfterFunc is time.AfterFunc.
func (WallClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
