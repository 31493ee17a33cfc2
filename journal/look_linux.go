package journal

import "golang.org/x/sys/unix"

// lookAt says which file is at path in a directory, as fstatat(2) takes both. It
// asks for no times: since Linux 6.13 a file whose times were looked at gets a
// finer one at its next write (multigrain timestamps), and every sync of the -wal
// would write its inode too.
func lookAt(dir int, path string, flags int) (f placed, mode uint32, size int64, err error) {
	const wanted = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_INO | unix.STATX_SIZE
	var st unix.Statx_t
	err = unix.Statx(dir, path, flags, wanted, &st)
	return placed{path, unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}, uint32(st.Mode), int64(st.Size), err
}
