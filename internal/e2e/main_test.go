package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// binary is the program under test, built by TestMain.
var binary string

// patience is how long anything may take that is not measured. It is generous: the
// machine may be busy with other tests.
const patience = 40 * time.Second

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests mostly wait for other processes, so more of them run at once than
	// there are cores.
	if p := flag.Lookup("test.parallel"); p != nil && p.Value.String() == p.DefValue {
		_ = p.Value.Set("6")
	}
	dir, err := os.MkdirTemp("", "executor-e2e-")
	if err == nil {
		err = os.Chmod(dir, 0o711) // another uid starts it too
	}
	if err == nil {
		binary = filepath.Join(dir, "executor")
		err = build(binary)
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(to string) error {
	args := []string{"build", "-buildvcs=false", "-o", to}
	if raceEnabled {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "./cmd/executor")...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return nil
}

// needs skips a test whose tools are missing; on CI they must be there.
func needs(t testing.TB, tool, path string) {
	t.Helper()
	if _, err := exec.LookPath(path); err != nil {
		missing(t, tool+" is not installed: "+err.Error())
	}
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// poll waits until ok, and fails with what else.
func poll(t testing.TB, what string, ok func() bool) {
	t.Helper()
	within(t, patience, what, ok)
}

func within(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("after %s still not: %s", limit, what)
		}
	}
}

// elapsed runs f and refuses that it took longer than limit.
func elapsed(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > limit {
		t.Errorf("%s took %s, more than %s", what, took.Round(time.Millisecond), limit)
	}
}
