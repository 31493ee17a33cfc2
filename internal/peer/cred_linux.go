package peer

import (
	"net"

	"golang.org/x/sys/unix"
)

// A credential is what the kernel noted when the peer called connect(2).
type credential struct {
	uid, pid int
	// pidfd refers to that very process, whatever its pid means later; -1 on
	// kernels before 6.5, or when the process has ended.
	pidfd int
	ended bool
}

func credentials(c *net.UnixConn) (credential, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credential{}, err
	}
	cred := credential{pidfd: -1}
	var sockErr error
	err = raw.Control(func(fd uintptr) {
		var u *unix.Ucred
		if u, sockErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); sockErr != nil {
			return
		}
		cred.uid, cred.pid = int(u.Uid), int(u.Pid)
		switch pidfd, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); err {
		case nil:
			cred.pidfd = pidfd
		case unix.ENOPROTOOPT: // an older kernel
		default:
			cred.ended = true
		}
	})
	if err == nil {
		err = sockErr
	}
	return cred, err
}

// gone reports whether the process is known to have ended. Without a pidfd it
// is not known, and the start times have to do.
func (c credential) gone() bool {
	if c.pidfd < 0 {
		return c.ended
	}
	// A pidfd becomes readable when its process ends.
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(c.pidfd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

func (c credential) close() {
	if c.pidfd >= 0 {
		unix.Close(c.pidfd)
	}
}
