package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"executor/internal/cli"
)

// A notify-command that hangs is ended with all that it started, and neither it
// nor a flood of notes makes anybody wait.
func TestANotifyCommandThatHangs(t *testing.T) {
	dir := t.TempDir()
	script, pids := filepath.Join(dir, "hang.sh"), filepath.Join(dir, "pids")
	if err := os.WriteFile(script, []byte("sleep 600 & echo $! >>"+pids+"; wait\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	started := func() []string {
		b, _ := os.ReadFile(pids)
		return strings.Fields(string(b))
	}
	var ids []string
	for i := range 1000 {
		ids = append(ids, fmt.Sprint(i))
	}
	sys := cli.IO{Getenv: os.Getenv, Context: t.Context()}
	told, err := cli.Notify(sys, "sh "+script, 200*time.Millisecond, ids, func() {
		for deadline := time.Now().Add(patience); len(started()) < 2; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the command did not run twice")
			}
		}
	})
	if err != nil || len(told) == 0 || !strings.Contains(told[0], "notify-command for 0: ended after 200ms") {
		t.Errorf("told %q, %v", told, err)
	}
	for _, text := range started() {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d that the command started goes on", pid)
			}
		}
	}
}

// alive reports whether a process runs; one that nobody waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestNotifyCommandsThatAreRefused(t *testing.T) {
	sys := cli.IO{Getenv: os.Getenv, Context: t.Context()}
	for _, command := range []string{"echo $HOME", "echo a; id", "a | b", "no-such-program-anywhere", "'"} {
		if _, err := cli.Notify(sys, command, time.Second, nil, func() {}); cli.ExitCode(err) != 2 {
			t.Errorf("%s: %v", command, err)
		}
	}
}
