package mcpserver_test

import (
	"sync"
	"testing"
	"time"
)

// A clock is a TransportOptions.AfterFunc whose time a test lets pass.
type clock struct {
	t      *testing.T
	mu     sync.Mutex
	timers map[*timer]bool
}

type timer struct {
	d time.Duration
	f func()
}

func newClock(t *testing.T) *clock { return &clock{t: t, timers: map[*timer]bool{}} }

func (c *clock) after(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tm := &timer{d, f}
	c.timers[tm] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		armed := c.timers[tm]
		delete(c.timers, tm)
		return armed
	}
}

func (c *clock) take(d time.Duration) *timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tm := range c.timers {
		if tm.d == d {
			delete(c.timers, tm)
			return tm
		}
	}
	return nil
}

// pass fires one timer of that duration, as soon as there is one.
func (c *clock) pass(d time.Duration) {
	c.t.Helper()
	c.await(func() bool {
		tm := c.take(d)
		if tm != nil {
			tm.f()
		}
		return tm != nil
	})
}

// armed waits until a timer of that duration runs.
func (c *clock) armed(d time.Duration) {
	c.t.Helper()
	c.await(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for tm := range c.timers {
			if tm.d == d {
				return true
			}
		}
		return false
	})
}

func (c *clock) await(ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	c.t.Fatal("no such timer")
}
