package peer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync"
)

// maxHashes bounds the cache. A machine runs few agents at a time; the oldest
// entry makes room for the newest.
const maxHashes = 64

var errTooLarge = errors.New("executable is too large to hash")

// A fileID names one state of one file. The change time is part of it because
// the owner of a file can set its modification time back, but not this one.
type fileID struct {
	dev, inode   uint64
	size         int64
	mtime, ctime int64
}

// A hashCache holds the hashes of files by their identity.
type hashCache struct {
	mu    sync.Mutex
	byID  map[fileID]*hashEntry
	order []fileID
}

type hashEntry struct {
	once sync.Once
	sum  string
	err  error
}

// sum returns the hash of r, the content of the file id. Callers that ask for
// the same file at once share one reading of it; a failure is not remembered.
func (c *hashCache) sum(id fileID, r io.Reader) (string, error) {
	e := c.entry(id)
	e.once.Do(func() { e.sum, e.err = hashAll(r, id.size) })
	if e.err != nil {
		c.forget(id, e)
	}
	return e.sum, e.err
}

func (c *hashCache) entry(id fileID) *hashEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil {
		return e
	}
	if c.byID == nil {
		c.byID = make(map[fileID]*hashEntry)
	}
	if len(c.order) == maxHashes {
		delete(c.byID, c.order[0])
		c.order = c.order[1:]
	}
	e := &hashEntry{}
	c.byID[id] = e
	c.order = append(c.order, id)
	return e
}

func (c *hashCache) forget(id fileID, e *hashEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[id] != e {
		return
	}
	delete(c.byID, id)
	for i, other := range c.order {
		if other == id {
			c.order = append(c.order[:i], c.order[i+1:]...)
			return
		}
	}
}

// hashAll hashes exactly size bytes of r: a file that has another length by now
// is not the file that was looked at.
func hashAll(r io.Reader, size int64) (string, error) {
	if size > MaxExecutable {
		return "", errTooLarge
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, size+1))
	if err != nil {
		return "", err
	}
	if n != size {
		return "", io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
