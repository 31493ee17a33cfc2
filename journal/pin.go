package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sys/unix"
)

const (
	pinMagic = "executor-journal-pin-v1"
	// pinLen keeps the line inside one disk sector, whatever its size field says.
	pinLen = len(pinMagic) + 1 + 20 + 1 + 44 + 1 + 16 + 1
	// pinTries, a millisecond apart, bound the wait for the other writers' lock.
	pinTries = 2000
)

// formatPin returns the pin line, see the package doc.
func formatPin(c checkpoint) []byte {
	size := strconv.FormatInt(c.size, 10)
	head := pinMagic + " " + strings.Repeat("0", 20-len(size)) + size + " " + c.root.String()
	return []byte(head + " " + pinSum(head) + "\n")
}

func pinSum(head string) string {
	h := sha256.Sum256([]byte(head))
	return hex.EncodeToString(h[:8])
}

func parsePin(b []byte) (checkpoint, error) {
	bad := func(what string) (checkpoint, error) {
		return checkpoint{}, fmt.Errorf("%w: %s: %s", ErrDamaged, pinFile, what)
	}
	if len(b) != pinLen || b[pinLen-1] != '\n' {
		return bad("wrong length")
	}
	f := strings.Split(string(b[:pinLen-1]), " ")
	if len(f) != 4 || f[0] != pinMagic {
		return bad("wrong form")
	}
	if pinSum(strings.Join(f[:3], " ")) != f[3] {
		return bad("wrong checksum")
	}
	size, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil || size < 0 {
		return bad("wrong size")
	}
	root, err := tlog.ParseHash(f[2])
	if err != nil {
		return bad("wrong root")
	}
	c := checkpoint{size, root}
	if string(formatPin(c)) != string(b) {
		return bad("wrong form")
	}
	return c, nil
}

func readPin(dir string) (checkpoint, error) {
	b, err := os.ReadFile(pinPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, fmt.Errorf("%s: %w", pinFile, ErrMissing)
	}
	if err != nil {
		return checkpoint{}, fmt.Errorf("%w: %s: %v", ErrDamaged, pinFile, err)
	}
	return parsePin(b)
}

// A pinned is the pin of an open journal. It is for one user at a time.
type pinned struct {
	*os.File
	line []byte // what was written here last
	size int64  // what it says
}

// advance writes c over the line, in place, unless the line is at least as far
// already: several processes append, and each pins after its commit.
//
// It does not sync. The commit before it is durable, so the pin can never be
// ahead of the log; after a power cut it may be behind, which costs nothing but
// reach. A sync would cost as much as the commit itself.
func (p *pinned) advance(c checkpoint) error {
	unlock, err := lockPin(p.File)
	if err != nil {
		return err
	}
	defer unlock()
	b := make([]byte, pinLen+1)
	n, _ := p.ReadAt(b, 0)
	size := p.size
	if p.line == nil || !bytes.Equal(b[:n], p.line) { // another process was here
		old, err := parsePin(b[:n])
		if err != nil {
			return err
		}
		size = old.size
	}
	if size >= c.size {
		return nil
	}
	line := formatPin(c)
	if _, err := p.WriteAt(line, 0); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrUnavailable, pinFile, err)
	}
	p.line, p.size = line, c.size
	return nil
}

func lockPin(f *os.File) (unlock func(), err error) {
	fd := int(f.Fd())
	for try := 0; ; try++ {
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { unix.Flock(fd, unix.LOCK_UN) }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || try == pinTries {
			return nil, fmt.Errorf("%w: locking %s: %v", ErrUnavailable, pinFile, err)
		}
		time.Sleep(time.Millisecond)
	}
}
