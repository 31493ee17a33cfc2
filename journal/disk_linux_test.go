package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"executor/journal"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a tmpfs of 4 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	must(t, os.Mkdir(dir, 0o700))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("a small disk needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestMountedReadOnly: what is found out before an intent is found out before
// anybody is asked.
func TestMountedReadOnly(t *testing.T) {
	dir := smallDisk(t)
	w := newWorldIn(t, dir)
	j := w.open(t)
	must(t, unix.Mount(dir, dir, "", unix.MS_BIND, ""))
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	must(t, j.Writable(t.Context()))
	must(t, unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	wantErr(t, j.Writable(t.Context()), journal.ErrUnavailable)
	_, err := j.Intend(t.Context(), call(1))
	wantErr(t, err, journal.ErrUnavailable)
	must(t, unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT, ""))
	run(t, j, call(1))
}
