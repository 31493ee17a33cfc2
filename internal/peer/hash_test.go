package peer

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

type countingReader struct {
	reads *atomic.Int64
	r     io.Reader
}

func (c countingReader) Read(p []byte) (int, error) {
	c.reads.Add(1)
	return c.r.Read(p)
}

func TestHashIsSharedByCallersOfOneFile(t *testing.T) {
	var c hashCache
	var readers atomic.Int64
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			r := &onceReader{readers: &readers, r: strings.NewReader("abc")}
			if sum, err := c.sum(fileID{inode: 1, size: 3}, r); err != nil || !strings.HasPrefix(sum, "ba7816bf") {
				t.Errorf("sum %q, %v", sum, err)
			}
		})
	}
	wg.Wait()
	if n := readers.Load(); n != 1 {
		t.Errorf("the file was read %d times", n)
	}
}

// onceReader counts how many of its kind were read from at all.
type onceReader struct {
	readers *atomic.Int64
	started bool
	r       io.Reader
}

func (o *onceReader) Read(p []byte) (int, error) {
	if !o.started {
		o.started = true
		o.readers.Add(1)
	}
	return o.r.Read(p)
}

func TestHashChangesWithTheFile(t *testing.T) {
	var c hashCache
	a, _ := c.sum(fileID{inode: 1, size: 1, ctime: 1}, strings.NewReader("a"))
	b, _ := c.sum(fileID{inode: 1, size: 1, ctime: 2}, strings.NewReader("b"))
	if a == b || a == "" {
		t.Errorf("hashes %q and %q", a, b)
	}
}

func TestHashFailureIsNotRemembered(t *testing.T) {
	var c hashCache
	id := fileID{inode: 1, size: 3}
	if _, err := c.sum(id, strings.NewReader("ab")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a short file: %v", err)
	}
	if _, err := c.sum(id, strings.NewReader("abcd")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a long file: %v", err)
	}
	if sum, err := c.sum(id, strings.NewReader("abc")); err != nil || sum == "" {
		t.Errorf("after a failure: %q, %v", sum, err)
	}
}

func TestHashIsBounded(t *testing.T) {
	var reads atomic.Int64
	r := countingReader{&reads, bytes.NewReader(nil)}
	var c hashCache
	if _, err := c.sum(fileID{size: MaxExecutable + 1}, r); !errors.Is(err, errTooLarge) || reads.Load() != 0 {
		t.Errorf("a large file: %v after %d reads", err, reads.Load())
	}
	for i := range 3 * maxHashes {
		c.sum(fileID{inode: uint64(i)}, bytes.NewReader(nil))
	}
	if len(c.byID) != maxHashes || len(c.order) != maxHashes {
		t.Errorf("%d and %d entries, want %d", len(c.byID), len(c.order), maxHashes)
	}
}
