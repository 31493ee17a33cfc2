package sshrun_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"executor/executor"
	"executor/executor/sshrun"
	"executor/internal/action"
)

const sshdPath = "/usr/sbin/sshd"

// sshd starts a real OpenSSH server and returns its address and user.
func sshd(t testing.TB) (addr, login string) {
	t.Helper()
	return sshdWith(t, "AcceptEnv EXECUTOR_*", "AuthorizedKeysFile "+copyTo(t, t.TempDir(), "testdata/key.good.pub"))
}

// sshdWith starts a server with further lines of configuration.
func sshdWith(t testing.TB, lines ...string) (addr, login string) {
	t.Helper()
	if _, err := os.Stat(sshdPath); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no sshd: %v", err)
		}
		t.Skipf("no sshd (Debian: apt-get install openssh-server): %v", err)
	}
	dir := t.TempDir()
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd's privilege separation wants it
			t.Fatal(err)
		}
	}
	addr = freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	config := []string{
		"Port " + port, "ListenAddress 127.0.0.1", "PidFile none", "UsePAM no", "StrictModes no",
		"PasswordAuthentication no", "PermitRootLogin yes", "Subsystem sftp internal-sftp",
	}
	config = append(config, lines...)
	for _, name := range []string{"host_rsa", "host_ecdsa", "host_ed25519"} {
		config = append(config, "HostKey "+copyTo(t, dir, "testdata/hostkeys/"+name))
	}
	file := filepath.Join(dir, "sshd_config")
	if err := os.WriteFile(file, []byte(strings.Join(config, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(sshdPath, "-D", "-e", "-f", file)
	cmd.Stderr = &log
	cmd.WaitDelay = time.Second // a session that outlives the server holds its stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("sshd: %s", log.String())
		}
	})
	eventually(t, 10*time.Second, "sshd listens", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return addr, u.Username
}

func freeAddr(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func copyTo(t testing.TB, dir, from string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, filepath.Base(from))
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// processes returns the pids of processes whose command line is exactly line.
func processes(t *testing.T, line string) []int {
	t.Helper()
	out, _ := exec.Command("pgrep", "-xf", line).Output()
	var pids []int
	for _, f := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// endAll kills what a test left on the machine, by pid.
func endAll(t *testing.T, line string) {
	for _, pid := range processes(t, line) {
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill()
		}
	}
}

func TestRealServer(t *testing.T) {
	addr, login := sshd(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	ed := pin(hostSigner(t, "host_ed25519"))
	do := func(ctx context.Context, line string, change func(*action.SSH)) result {
		a := command(addr, login, line, l, ed)
		if change != nil {
			change(a)
		}
		return run(ctx, r, a, l)
	}
	t.Run("each pinned type", func(t *testing.T) {
		for _, name := range []string{"host_rsa", "host_ecdsa", "host_ed25519"} {
			run(t.Context(), r, command(addr, login, "echo ok", l, pin(hostSigner(t, name))), l).ok(t, "ok\n")
		}
		run(t.Context(), r, command(addr, login, "echo ok", l, pin(hostSigner(t, "other_ed25519"))), l).
			refused(t, executor.HostKeyMismatch, "host key changed")
	})
	t.Run("streams, code and stdin", func(t *testing.T) {
		got := do(t.Context(), "cat; echo err >&2; exit 3", func(a *action.SSH) { a.Stdin.Bytes = bytes.Repeat([]byte("x"), 3<<20); a.Limits.MaxBytes = 4 << 20 })
		if got.err != nil || *got.Exit != 3 || len(got.Stdout) != 3<<20 || string(got.Stderr) != "err\n" {
			t.Errorf("%v %d bytes %q", got.err, len(got.Stdout), got.Stderr)
		}
		do(t.Context(), "printf %s \"$EXECUTOR_A\"", func(a *action.SSH) { a.Env = []action.EnvVar{{Name: "EXECUTOR_A", Value: "é 1"}} }).ok(t, "é 1")
		do(t.Context(), "true", func(a *action.SSH) { a.Env = []action.EnvVar{{Name: "OTHER", Value: "1"}} }).refused(t, executor.InvalidArguments, "OTHER")
		if got := do(t.Context(), "kill -SEGV $$", nil); got.err != nil || got.Exit != nil || got.Signal != "SEGV" {
			t.Errorf("signal: %v %+v", got.err, got.SSHResponse)
		}
	})
	t.Run("background child", func(t *testing.T) {
		t.Cleanup(func() { endAll(t, "sleep 30120") })
		got := do(t.Context(), "nohup sleep 30120 & echo started", nil)
		got.ok(t, "started\n")
		if !got.ChannelLeftOpen || got.took > 5*time.Second {
			t.Errorf("%+v after %s", got.SSHResponse, got.took)
		}
		do(t.Context(), "echo next", nil).ok(t, "next\n")
	})
	t.Run("time limit and cancel", func(t *testing.T) {
		for _, line := range []string{"sleep 30008", "sleep 30004"} {
			t.Cleanup(func() { endAll(t, line) })
			ctx, cancel := context.WithCancel(t.Context())
			want, change := executor.UpstreamTimeout, func(a *action.SSH) { a.Limits.Timeout = time.Second }
			if line == "sleep 30004" {
				want, change = executor.CallCancelled, nil
				time.AfterFunc(500*time.Millisecond, cancel)
			}
			got := do(ctx, line, change)
			cancel()
			if got.code() != want || got.took > 4*time.Second {
				t.Fatalf("%s: %v after %s", line, got.err, got.took)
			}
			if got.MayStillRun {
				if !strings.Contains(got.Note, "may still run") || !strings.Contains(got.message(), "pgrep") {
					t.Errorf("%s: note %q, message %q", line, got.Note, got.message())
				}
				continue
			}
			eventually(t, 5*time.Second, line+" is gone", func() bool { return len(processes(t, line)) == 0 })
		}
	})
	t.Run("many at once", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				line := fmt.Sprintf("echo %d; sleep 0.1", i)
				if got := do(t.Context(), line, nil); got.err != nil || string(got.Stdout) != fmt.Sprintln(i) {
					t.Errorf("%d: %v %+v", i, got.err, got.SSHResponse)
				}
			})
		}
		wg.Wait()
	})
	t.Run("scan", func(t *testing.T) {
		pins, err := sshrun.ScanHostKeys(t.Context(), addr, nil)
		if err != nil || len(pins) != 3 {
			t.Errorf("%q %v", pins, err)
		}
	})
}
