package executor_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"executor/approval"
	"executor/internal/action"
	"executor/journal"

	"golang.org/x/sys/unix"
)

// TestFullDisk fills the disk while an action is under way: it is told as done
// and not recorded, nothing else runs, and with room all goes on.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		t.Skipf("a small disk needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	w := newWorldIn(t, dir, 1<<20)
	w.operator(says(approval.Yes))
	if got := w.call("http_request", get); code(got) != "" { // and the session's yes
		t.Fatalf("before: %v", got.Structured)
	}
	ballast := filepath.Join(dir, "ballast")
	w.runner.before = func(context.Context, action.Action) {
		if err := fill(ballast); err != nil {
			t.Error(err)
		}
	}
	if got := w.call("http_request", get); code(got) != "DONE_NOT_RECORDED" || got.Structured["side_effect_started"] != true {
		t.Fatalf("the action in hand: %v", got.Structured)
	}
	w.runner.before = nil
	ran := w.runner.count()
	if got := w.call("http_request", get); code(got) != "JOURNAL_UNAVAILABLE" || w.runner.count() != ran {
		t.Errorf("with a full disk: %v, %d ran", got.Structured, w.runner.count()-ran)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if got := w.call("http_request", get); code(got) != "" {
		t.Errorf("with room again: %v", got.Structured)
	}
	if n, err := w.journal.Recover(t.Context()); err != nil || n != 1 {
		t.Errorf("recovered %d, %v", n, err)
	}
	report, err := journal.Verify(t.Context(), dir, journal.VerifyOptions{})
	if err != nil || report.Verdict != journal.VerdictOK {
		t.Errorf("%v, %+v", err, report)
	}
}

// fill takes all that is left of a disk.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	chunk := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(chunk)
	}
	return nil
}
