//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package console

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
	readQueue  = 1 // FREAD in <sys/fcntl.h>
)

func flushInput(fd int) { unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, readQueue) }
