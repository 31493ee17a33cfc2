package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is the room for a path in sockaddr_un (unix(7)), less its NUL.
const maxSocketPath = 107

// ErrSocketPath is returned for a socket path that the kernel cannot take.
var ErrSocketPath = errors.New("socket path is too long")

// ErrServing is returned when another serve has the home.
var ErrServing = errors.New("another executor serve is running on this home")

// lockHome makes this process the only serve of a home until the file is closed.
func lockHome(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrServing
		}
		return nil, err
	}
	return f, nil
}

// listen makes a socket with exactly the mode given. A socket that an earlier
// serve left behind is replaced; anything else at that path is refused. The
// caller holds the home's lock, so nobody else listens there.
func listen(path string, mode os.FileMode) (*net.UnixListener, error) {
	if err := CheckSocketPath(path); err != nil {
		return nil, err
	}
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	old := syscall.Umask(0o177)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	syscall.Umask(old)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// CheckSocketPath refuses a path that is too long for a socket, with ErrSocketPath.
func CheckSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("%s has %d bytes, %d are possible: %w; choose a shorter --home or --agent-socket", path, len(path), maxSocketPath, ErrSocketPath)
	}
	return nil
}

func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is not a socket, and is left alone", path)
	}
	return os.Remove(path)
}
