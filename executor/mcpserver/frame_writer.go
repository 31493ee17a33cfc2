package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ErrPeerNotReading ends a session whose client takes no output: it accepted
// fewer than 16 KiB during [TransportOptions.WriteTimeout].
var ErrPeerNotReading = errors.New("peer does not read")

// writeChunk is how much must be accepted within one write timeout.
const writeChunk = 16 << 10

// afterFunc is time.AfterFunc, as far as it is needed.
type afterFunc func(d time.Duration, f func()) (stop func() bool)

// A lineWriter writes whole lines, one at a time, in the order of the calls
// that got the turn. After a failure part of a line may be out, so nothing can
// follow: the stream is closed.
type lineWriter struct {
	rwc     io.ReadWriteCloser
	timeout time.Duration
	after   afterFunc
	shut    func() // closes the stream; unblocks Write

	turn   chan struct{} // held by the one writer
	mu     sync.Mutex
	broken error
}

func newLineWriter(rwc io.ReadWriteCloser, timeout time.Duration, after afterFunc, shut func()) *lineWriter {
	return &lineWriter{rwc: rwc, timeout: timeout, after: after, shut: shut, turn: make(chan struct{}, 1)}
}

// write sends line, which ends in its only "\n". ctx ends the wait for the
// turn; a line that was begun is finished.
func (w *lineWriter) write(ctx context.Context, line []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := w.failure(); err != nil {
		return err
	}
	for len(line) > 0 {
		n, err := w.chunk(line[:min(len(line), writeChunk)])
		if err != nil {
			return w.fail(err)
		}
		line = line[n:]
	}
	return nil
}

func (w *lineWriter) chunk(p []byte) (int, error) {
	stop := w.after(w.timeout, func() {
		w.fail(fmt.Errorf("%w: %d bytes not taken in %v", ErrPeerNotReading, len(p), w.timeout))
	})
	defer stop()
	n, err := w.rwc.Write(p)
	if err == nil && n == 0 {
		err = io.ErrShortWrite
	}
	if err != nil {
		return n, fmt.Errorf("writing a line: %w", err)
	}
	return n, nil
}

// failure returns why nothing can be written any more, or nil.
func (w *lineWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

// fail closes the stream and returns the reason: the first one stays, since
// what follows it is only that the stream is closed.
func (w *lineWriter) fail(err error) error {
	w.mu.Lock()
	if w.broken == nil {
		w.broken = err
	}
	err = w.broken
	w.mu.Unlock()
	w.shut()
	return err
}
