//go:build unix

package console

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A tty is a terminal that is read key by key.
type tty struct {
	fd    int
	saved *unix.Termios
	// era counts the flushes: a key belongs to the era in which it was read.
	era  atomic.Uint64
	stop [2]int // a pipe whose closing ends read and write
	once sync.Once
}

// The size taken when the terminal does not say, and the least width that is usable.
const (
	stdCols, stdRows = 80, 24
	minCols          = 20
)

func openTTY(f *os.File) (*tty, error) {
	if f == nil {
		return nil, ErrNotTerminal
	}
	t := &tty{fd: int(f.Fd())}
	if !term.IsTerminal(t.fd) {
		return nil, ErrNotTerminal
	}
	saved, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("terminal mode: %w", err)
	}
	t.saved = saved
	if err := unix.Pipe(t.stop[:]); err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	unix.CloseOnExec(t.stop[0])
	unix.CloseOnExec(t.stop[1])
	return t, nil
}

// enter sets the mode: no line editing and no echo by the kernel, signals and
// output as they were, no flow control (a Ctrl-S would freeze the screen and the
// person would think that nothing came). With VMIN 0 a read never blocks.
func (t *tty) enter() error {
	mode := *t.saved
	mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL
	mode.Lflag |= unix.ISIG
	mode.Iflag &^= unix.IXON | unix.IXOFF | unix.ISTRIP
	mode.Iflag |= unix.ICRNL
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(t.fd, setTermios, &mode); err != nil {
		return hangup(err)
	}
	return nil
}

// interrupt ends read and write for good.
func (t *tty) interrupt() { t.once.Do(func() { unix.Close(t.stop[1]) }) }

// close puts the mode back. A terminal that hung up has none any more.
func (t *tty) close() {
	t.interrupt()
	unix.IoctlSetTermios(t.fd, setTermios, t.saved)
	unix.Close(t.stop[0])
}

func (t *tty) size() (cols, rows int) {
	cols, rows, err := term.GetSize(t.fd)
	if err != nil || cols <= 0 || rows <= 0 {
		return stdCols, stdRows
	}
	return cols, rows
}

// keys is what one read returned, and the era that it was typed in at the latest.
type keys struct {
	bytes []byte
	era   uint64
}

// read waits for keys. The era is taken before the bytes: a flush in between
// makes them old, never new.
func (t *tty) read() (keys, error) {
	for {
		if err := t.wait(unix.POLLIN); err != nil {
			return keys{}, err
		}
		k := keys{make([]byte, 256), t.era.Load()}
		n, err := unix.Read(t.fd, k.bytes)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil:
			return keys{}, hangup(err)
		case n > 0:
			k.bytes = k.bytes[:n]
			return k, nil
		}
	}
}

// flush throws away what was typed so far: in the kernel first, then what a
// read took out of there before.
func (t *tty) flush() {
	flushInput(t.fd)
	t.era.Add(1)
}

// write writes all of s.
func (t *tty) write(s string) error {
	for b := []byte(s); len(b) > 0; {
		if err := t.wait(unix.POLLOUT); err != nil {
			return err
		}
		n, err := unix.Write(t.fd, b)
		if err != nil && err != unix.EINTR && err != unix.EAGAIN {
			return hangup(err)
		}
		b = b[max(n, 0):]
	}
	return nil
}

var errInterrupted = errors.New("interrupted")

// wait waits until the terminal is ready, hangs up, or interrupt is called.
func (t *tty) wait(event int16) error {
	fds := []unix.PollFd{{Fd: int32(t.fd), Events: event}, {Fd: int32(t.stop[0]), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return hangup(err)
		case fds[1].Revents != 0:
			return errInterrupted
		case fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0:
			return ErrHangup
		case fds[0].Revents&event != 0:
			return nil
		}
	}
}

func hangup(err error) error { return fmt.Errorf("%w: %w", ErrHangup, err) }
