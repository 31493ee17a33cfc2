// Package peer says who is at the other end of a Unix socket, by the kernel's
// word: the uid and pid of the process that connected, its executable, and the
// processes above it.
//
// The answer is an observation, to be recorded and shown. It authorizes
// nothing by itself, because each part of it can be true and still mislead: a
// process may hand its connection to another, a parent may have exited and
// been replaced by init, an interpreter is the executable of every script, and
// a process of the same uid may put any name, path or program it likes there.
// Only the uid is something that the peer cannot choose.
//
// The threat it answers is the quiet one: a call in the record that nobody can
// trace to the program that asked for it, or that is traced to a process which
// merely got the same pid later. A process that ended or changed while it was
// being looked at is therefore reported with its uid and pid alone.
//
// Names and paths are foreign text: a process chooses its own name, and both may
// hold control characters or bytes that are not UTF-8. They must pass through a
// terminal filter before a person sees them.
//
// On Linux the facts come from SO_PEERCRED and SO_PEERPIDFD (unix(7)) and from
// /proc/PID/stat and /proc/PID/exe (proc(5)). On macOS uid and pid come from
// LOCAL_PEERCRED and LOCAL_PEERPID, and the rest stays empty. Elsewhere
// [FromConn] returns [ErrUnsupported].
package peer

import (
	"errors"
	"fmt"
	"net"
)

// ErrUnsupported is returned on systems where the kernel is not asked.
var ErrUnsupported = errors.New("peer credentials are not available on this system")

// MaxChain is the largest number of processes in [Peer.Chain].
const MaxChain = 16

// MaxExecutable is the largest executable that is hashed, in bytes (512 MiB). A
// larger one has an empty [Peer.ExeSHA256].
const MaxExecutable = 512 << 20

// A Peer is the process that connected, as observed when it was asked for.
//
//	{"uid":1000,"pid":4242,"exe":"/usr/local/bin/executor","exe_sha256":"9f86d0…",
//	 "chain":[{"pid":4242,"name":"executor","exe":"/usr/local/bin/executor","start":918273},
//	          {"pid":4100,"name":"claude","exe":"/usr/bin/node","start":911002},
//	          {"pid":1,"name":"systemd","exe":"","start":7}]}
type Peer struct {
	// UID is the effective user id at the time of the connect call.
	UID int `json:"uid"`
	// PID is the process id then, as seen from here; 0 when the peer lives in a
	// pid namespace that is not visible from here.
	PID int `json:"pid"`
	// Exe is the path of the executable, empty when it may not be read. The
	// kernel appends " (deleted)" when the file is gone.
	Exe string `json:"exe"`
	// ExeSHA256 is the SHA-256 of the bytes of the running executable, in
	// lower-case hex; empty when they may not be read or exceed MaxExecutable.
	ExeSHA256 string `json:"exe_sha256"`
	// Chain starts with the peer itself and goes upward, parent by parent, to
	// pid 1. It has at most MaxChain members, and ends early where a parent
	// cannot be read or is not the one that was there first.
	Chain []Process `json:"chain"`
}

// A Process is one member of a parent chain.
type Process struct {
	PID int `json:"pid"`
	// Name is the process's own name for itself (comm), at most 15 bytes.
	Name string `json:"name"`
	// Exe is the path of its executable, empty when it may not be read.
	Exe string `json:"exe"`
	// Start is when it started, in clock ticks (1/100 s) since the machine
	// started. PID and Start together name a process.
	Start uint64 `json:"start"`
}

// Parent returns the process above the peer: for `executor mcp`, the agent that
// started it. It reports false when that process is not known.
func (p Peer) Parent() (Process, bool) {
	if len(p.Chain) < 2 {
		return Process{}, false
	}
	return p.Chain[1], true
}

// FromConn observes the peer of c with an [Observer] of its own, so every call
// hashes the executable anew.
func FromConn(c *net.UnixConn) (Peer, error) {
	var o Observer
	return o.FromConn(c)
}

// An Observer observes peers and remembers the hashes of the last executables
// that it saw, so that a hundred connections of one program hash it once. The
// zero value is ready. It is safe for concurrent use and must not be copied.
type Observer struct {
	hashes hashCache
}

// FromConn observes the peer of c, which stays the caller's. It fails when the
// kernel does not say who connected (ErrUnsupported where it is never asked);
// what cannot be read beyond uid and pid is left empty, without an error.
func (o *Observer) FromConn(c *net.UnixConn) (Peer, error) {
	cred, err := credentials(c)
	if err != nil {
		return Peer{}, fmt.Errorf("who is at the other end: %w", err)
	}
	defer cred.close()
	p := Peer{UID: cred.uid, PID: cred.pid, Chain: []Process{}}
	if cred.pid > 0 {
		o.look(&p, cred)
	}
	return p, nil
}
