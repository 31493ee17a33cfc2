package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"executor/internal/cli"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts, and startAtTerminal, run this binary as executor itself.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcpserver": mcpServer,
		"executor": func() {
			// Out of the terminal that the tests run on: a prompt must not wait there.
			// Where the test gave a terminal of its own this fails, as it should.
			_, _ = syscall.Setsid()
			os.Exit(cli.Main(cli.System()))
		},
	})
}

// quickRace keeps the race detector from waiting a second at the end of each process.
const quickRace = "atexit_sleep_ms=0"

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "user"))
			env.Setenv("DIR", filepath.Join(env.WorkDir, "user/.local/share/executor"))
			env.Setenv("PW", filepath.Join(env.WorkDir, "pw"))
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", quickRace)
			bin, err := exec.LookPath("executor")
			if err != nil {
				return err
			}
			env.Setenv("BIN", bin)
			return os.WriteFile(filepath.Join(env.WorkDir, "pw"), []byte("correct horse\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"home": home, "exits": exits, "serving": serving, "agent": agent, "appears": appears,
			"listing": listing,
			"api":     api, "clientcert": clientcert,
		},
	})
}

// home makes a home whose passphrase is cheap to try.
func home(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: home")
	}
	ts.Check(ts.Exec("executor", "init", "--scrypt-work-factor", "12", "--passphrase-file", ts.Getenv("PW")))
}

// exits runs a command and wants its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serving waits until serve answers.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(30 * time.Second)
	for ts.Exec("executor", "status") != nil {
		if time.Now().After(deadline) {
			ts.Fatalf("no serve answers")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// agent is a client that sends what stdin holds and reads the answers. How its
// session ends is not looked at here.
func agent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: agent")
	}
	if err := ts.Exec("executor", "mcp"); err != nil {
		ts.Logf("executor mcp: %v", err)
	}
}
