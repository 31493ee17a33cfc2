package daemon

import (
	"errors"

	"golang.org/x/sys/unix"
)

// protect makes the process undumpable (prctl(2), PR_SET_DUMPABLE): no core dump,
// and no ptrace or /proc/PID/mem for other processes of the uid. Core files are
// switched off besides.
func protect() error {
	return errors.Join(
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0),
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}),
	)
}
