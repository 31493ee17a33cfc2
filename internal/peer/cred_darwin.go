package peer

import (
	"net"

	"golang.org/x/sys/unix"
)

type credential struct{ uid, pid int }

func credentials(c *net.UnixConn) (credential, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credential{}, err
	}
	var cred credential
	var sockErr error
	err = raw.Control(func(fd uintptr) {
		var x *unix.Xucred
		if x, sockErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); sockErr != nil {
			return
		}
		cred.uid = int(x.Uid)
		cred.pid, sockErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err == nil {
		err = sockErr
	}
	return cred, err
}

func (credential) close() {}
