package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// checkPlace refuses a place where no journal can be, or none is.
func checkPlace(dir string) error {
	if err := checkDir(dir); err != nil {
		return err
	}
	return checkFiles(dir)
}

// checkDir refuses a directory that is none, is not the owner's alone, or lies
// on a network file system.
func checkDir(dir string) error {
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s does not exist", ErrMissing, dir)
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	if !st.IsDir() {
		return fmt.Errorf("%w: %s is not a directory", ErrMissing, dir)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: %s is %#o: chmod 700 %s", ErrExposed, dir, st.Mode().Perm(), dir)
	}
	if name := networkFS(dir); name != "" {
		return fmt.Errorf("%w (%s): SQLite needs file locks and shared memory that such a file system does not keep; "+
			"put the home on a local disk", ErrNetworkFS, name)
	}
	return nil
}

// checkFiles refuses a journal that is incomplete or open to others.
func checkFiles(dir string) error {
	for _, path := range []string{dbPath(dir), pubPath(dir), pinPath(dir)} {
		st, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s does not exist", ErrMissing, path)
		}
		if err != nil {
			return fmt.Errorf("%w: %v", ErrUnavailable, err)
		}
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%w: %s is not a regular file", ErrDamaged, path)
		}
		if st.Mode().Perm()&0o077 != 0 {
			return fmt.Errorf("%w: %s is %#o: chmod 600 %s", ErrExposed, path, st.Mode().Perm(), path)
		}
	}
	return nil
}

// A place remembers which files were opened, so that a file that was deleted,
// replaced or made read-only is noticed before an entry goes into a file that
// nobody will find. SQLite itself would go on writing to what it has open.
type place struct {
	dir   placed
	files []placed
	open  *os.File     // the directory: it spares each look at a file the way there
	wal   atomic.Int64 // size of the -wal when it was last looked at
}

// A placed file is known by its device and inode.
type placed struct {
	path string
	dev  uint64
	ino  uint64
}

// walFile is where the -wal stands in files.
const walFile = 1

// remember notes the files that make up the journal. The -wal and -shm beside
// the database take part: an entry in a deleted -wal is lost with the process.
// Whoever called it closes it.
func remember(dir string) (p *place, err error) {
	p = &place{}
	if p.open, err = os.Open(dir); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	if p.dir, _, _, err = lookAt(unix.AT_FDCWD, dir, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s: %v", ErrUnavailable, dir, err), p.close())
	}
	for _, name := range []string{dbFile, dbFile + "-wal", dbFile + "-shm", pinFile} {
		f, _, _, err := p.look(name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %s: %v", ErrUnavailable, name, err), p.close())
		}
		p.files = append(p.files, f)
	}
	return p, nil
}

func (p *place) close() error { return p.open.Close() }

// look looks at a file of the directory, not through a link.
func (p *place) look(name string) (f placed, mode uint32, size int64, err error) {
	return lookAt(int(p.open.Fd()), name, unix.AT_SYMLINK_NOFOLLOW)
}

// same reports whether the files are still those, and still writable. The mode
// is what counts: to root every file is writable, but an operator who takes the
// right away means it. It runs before every commit, so it asks the system directly.
func (p *place) same() error {
	now, mode, _, err := lookAt(unix.AT_FDCWD, p.dir.path, 0)
	if err := p.dir.is("", now, mode, err); err != nil {
		return err
	}
	for i, was := range p.files {
		now, mode, size, err := p.look(was.path)
		if err := was.is(p.dir.path, now, mode, err); err != nil {
			return err
		}
		if i == walFile {
			p.wal.Store(size)
		}
	}
	return nil
}

// is compares what was seen under a directory with what is seen there now.
func (was placed) is(under string, now placed, mode uint32, err error) error {
	if err == nil && now == was && mode&0o200 != 0 {
		return nil
	}
	path := filepath.Join(under, was.path)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s: %v", ErrReplaced, path, err)
	case now != was:
		return fmt.Errorf("%w: %s is another file than the one that was opened", ErrReplaced, path)
	}
	return fmt.Errorf("%w: %s is read-only", ErrUnavailable, path)
}

// mountedReadOnly is ST_RDONLY of statvfs(3), and MNT_RDONLY of the BSDs.
const mountedReadOnly = 1

// free returns the bytes that an unprivileged process may still take.
func (p *place) free() (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(p.dir.path, &st); err != nil {
		return 0, fmt.Errorf("%w: free space: %v", ErrUnavailable, err)
	}
	if st.Flags&mountedReadOnly != 0 {
		return 0, fmt.Errorf("%w: the file system of %s is read-only", ErrUnavailable, p.dir.path)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// admits reports whether an entry that needs r may be written now.
func (p *place) admits(r room, reserve int64) error {
	if err := p.same(); err != nil {
		return err
	}
	need := reserve
	switch r {
	case roomNone:
		return nil
	case roomHalf:
		need /= 2
	}
	free, err := p.free()
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%w: %d bytes are free, the reserve is %d", ErrLowDisk, free, need)
	}
	return nil
}
