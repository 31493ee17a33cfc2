//go:build !linux

package journal

import "golang.org/x/sys/unix"

// lookAt says which file is at path in a directory, as fstatat(2) takes both.
func lookAt(dir int, path string, flags int) (f placed, mode uint32, size int64, err error) {
	var st unix.Stat_t
	err = unix.Fstatat(dir, path, &st, flags)
	return placed{path, uint64(st.Dev), uint64(st.Ino)}, uint32(st.Mode), st.Size, err
}
