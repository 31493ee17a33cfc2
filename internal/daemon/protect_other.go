//go:build !linux

package daemon

import "golang.org/x/sys/unix"

// protect switches core files off. Other systems than Linux have no undumpable processes.
func protect() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
