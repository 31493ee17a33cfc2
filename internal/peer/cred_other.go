//go:build !linux && !darwin

package peer

import "net"

type credential struct{ uid, pid int }

func credentials(*net.UnixConn) (credential, error) { return credential{}, ErrUnsupported }

func (credential) close() {}
