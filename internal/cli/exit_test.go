package cli_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/approval"
	"executor/internal/cli"
	"executor/internal/ctl"
	"executor/internal/daemon"
	"executor/internal/drift"
	"executor/internal/mcpclient"
	"executor/internal/watchlist"
	"executor/journal"
	"executor/vault"
)

// Every sentinel that reaches the command line: its code, and a word of its hint.
var outcomes = []struct {
	err  error
	code int
	hint string
}{
	{errors.New("anything"), 1, ""},
	{cli.Usagef("no such flag"), 2, ""},
	{cli.Silent(11), 11, ""},
	{cli.ErrInterrupt, 1, ""},
	{context.Canceled, 1, ""},
	{vault.ErrMissing, 1, "executor init"},
	{vault.ErrExists, 1, "executor init --home DIR"},
	{vault.ErrEmptyPassphrase, 1, ""},
	{vault.ErrWrongPassphrase, 3, ""},
	{vault.ErrDamaged, 10, "executor journal verify"},
	{vault.ErrForged, 10, "executor journal verify"},
	{vault.ErrRolledBack, 10, "executor journal verify"},
	{vault.ErrJournalRolledBack, 10, "executor journal verify"},
	{vault.ErrUnknownKind, 1, ""},
	{vault.ErrBusy, 1, "try again"},
	{vault.ErrLocked, 3, "executor unlock"},
	{vault.ErrNoSuchItem, 1, ""},
	{vault.ErrNotRecorded, 1, "executor journal verify"},
	{vault.ErrModes, 1, ""}, // its own text has the command
	{vault.ErrHandover, 1, ""},
	{journal.ErrUnavailable, 1, ""},
	{journal.ErrLowDisk, 1, ""},
	{journal.ErrReplaced, 1, ""},
	{journal.ErrBusy, 1, "try again"},
	{journal.ErrClosed, 1, ""},
	{journal.ErrTampered, 10, "executor journal verify"},
	{journal.ErrRolledBack, 10, "executor journal verify"},
	{journal.ErrDamaged, 10, "executor journal verify"},
	{journal.ErrWrongKey, 10, "executor journal verify"},
	{journal.ErrExists, 1, "executor init --home DIR"},
	{journal.ErrMissing, 1, "executor init"},
	{journal.ErrExposed, 1, ""}, // its own text has the command
	{journal.ErrNetworkFS, 1, ""},
	{journal.ErrInvalid, 1, ""},
	{journal.ErrDuplicate, 1, ""},
	{journal.ErrNotFound, 1, ""},
	{journal.ErrAmbiguous, 1, "executor journal query"},
	{ctl.ErrNoDaemon, 4, "executor serve"},
	{ctl.ErrProof, 3, "executor status"},
	{ctl.ErrLocked, 3, "executor unlock"},
	{ctl.ErrLost, 1, ""},
	{daemon.ErrServing, 1, "executor status"},
	{daemon.ErrSocketPath, 1, ""},
	{approval.ErrNoGrant, 1, ""},
	{approval.ErrGone, 1, ""},
	{mcpclient.ErrTooLarge, 1, ""},
	{mcpclient.ErrUnstable, 1, ""},
	{mcpclient.ErrEnded, 1, ""},
	{mcpclient.ErrRedirected, 1, "--http"},
	{mcpclient.ErrUnauthorized, 1, "--credential NAME"},
	{mcpclient.ErrProtocol, 1, ""},
	{mcpclient.ErrDecision, 11, ""},
	{&mcpclient.Decision{Tool: "deploy", Reasons: []string{"one is due"}}, 11, ""},
	{mcpclient.ErrOutputContract, 1, ""},
	{mcpclient.ErrRefresh, 1, ""},
	{mcpclient.ErrNoTool, 1, ""},
	{watchlist.ErrNotFound, 1, "executor contract server list"},
	{watchlist.ErrExists, 1, "executor contract server remove"},
	{watchlist.ErrDamaged, 1, ""},
	{watchlist.ErrName, 1, ""},
	{watchlist.ErrUnseen, 1, ""}, // its own text has the command
	{drift.ErrMalformed, 1, ""},
	{drift.ErrNotTools, 1, ""},
	{drift.ErrTooLarge, 1, ""},
	{drift.ErrOverrides, 1, ""},
	{drift.ErrNotFound, 1, "executor contract pins"},
	{drift.ErrAmbiguous, 1, "more of the hash"},
	{drift.ErrDamaged, 1, ""},
	{drift.ErrPinName, 1, ""},
}

func TestExitCodesAndHints(t *testing.T) {
	for _, c := range outcomes {
		err := fmt.Errorf("doing it: %w", c.err)
		if got := cli.ExitCode(err); got != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.code)
		}
		got := cli.Hint(err, "", "")
		if (c.hint == "") != (got == "") || !strings.Contains(got, c.hint) {
			t.Errorf("%v: hint %q, want %q in it", c.err, got, c.hint)
		}
	}
}

func TestHintNamesTheHome(t *testing.T) {
	for _, c := range outcomes {
		got := cli.Hint(c.err, " --home '/my home'", " --home '/my home'")
		if strings.Contains(got, "executor ") && !strings.Contains(got, "executor command") && !strings.Contains(got, "--home") {
			t.Errorf("%v: %q would be typed for another home", c.err, got)
		}
	}
}

// The sentinels of the packages above all have a row here.
func TestNoSentinelIsForgotten(t *testing.T) {
	for pkg, dir := range map[string]string{"vault": "../../vault", "journal": "../../journal", "ctl": "../ctl", "daemon": "../daemon", "mcpclient": "../mcpclient", "watchlist": "../watchlist", "drift": "../drift"} {
		for name, text := range sentinels(t, dir) {
			found := false
			for _, c := range outcomes {
				found = found || strings.HasSuffix(c.err.Error(), text)
			}
			if !found {
				t.Errorf("%s.%s has no row in outcomes", pkg, name)
			}
		}
	}
}

// sentinels returns the text of each exported error that errors.New makes in dir.
func sentinels(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	eachFile(t, dir, func(path string, f *ast.File) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if !strings.HasPrefix(v.Names[0].Name, "Err") || len(v.Values) != 1 {
					continue
				}
				if call, ok := v.Values[0].(*ast.CallExpr); ok {
					if lit, ok := call.Args[0].(*ast.BasicLit); ok {
						out[v.Names[0].Name] = strings.TrimPrefix(strings.Trim(lit.Value, `"`), "%w: ")
					}
				}
			}
		}
	})
	if len(out) == 0 {
		t.Fatalf("%s has no sentinel", dir)
	}
	return out
}

// Only this package knows exit codes, and only main ends the program.
func TestOnlyMainExits(t *testing.T) {
	var exits []string
	eachFile(t, "../..", func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := s.X.(*ast.Ident)
			if ok && (pkg.Name == "os" || pkg.Name == "syscall") && s.Sel.Name == "Exit" || ok && pkg.Name == "log" && strings.HasPrefix(s.Sel.Name, "Fatal") {
				exits = append(exits, filepath.ToSlash(path))
			}
			return true
		})
	})
	if len(exits) != 1 || exits[0] != "../../cmd/executor/main.go" {
		t.Errorf("the program is ended in %v", exits)
	}
}

// eachFile parses the Go files below dir that are not tests.
func eachFile(t *testing.T, dir string, fn func(path string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		if err == nil {
			fn(path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
