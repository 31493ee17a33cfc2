package vault

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxFile bounds what is read into memory: a vault of 64 MiB.
const maxFile = 64 << 20

// readFile reads a regular file whole; ErrMissing, or ErrDamaged for what can
// be no vault: a link, a pipe (which would block), a file over maxFile.
func readFile(dir, name string) ([]byte, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is %w", name, ErrMissing)
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%s is a link: %w", name, ErrDamaged)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes: %w", name, maxFile, ErrDamaged)
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// refuseExisting returns ErrExists when there is anything at path.
func refuseExisting(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("%s %w", filepath.Base(path), ErrExists)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// replaceFile puts data, which is ciphertext, in the place of dir/name so that
// at every moment, a power cut included, either the old or the new file is
// there whole. The caller holds the lock, so temporary files that are there
// already belong to writers that were killed.
func replaceFile(dir, name string, data []byte) error {
	if err := removeStale(dir, name); err != nil {
		return err
	}
	temp := filepath.Join(dir, tempPrefix(name)+rand.Text())
	if err := writeSynced(temp, data); err != nil {
		os.Remove(temp)
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(dir)
}

func tempPrefix(name string) string { return name + ".tmp-" }

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func removeStale(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix(name)) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
