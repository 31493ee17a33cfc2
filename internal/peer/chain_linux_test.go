package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeProc writes a proc file system of the given processes.
func fakeProc(t *testing.T, procs ...Process) procfs {
	t.Helper()
	root := t.TempDir()
	for i, p := range procs {
		parent := 0
		if i+1 < len(procs) {
			parent = procs[i+1].PID
		}
		dir := filepath.Join(root, fmt.Sprint(p.PID))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d (%s) S %d%s %d 0 0\n", p.PID, p.Name, parent, strings.Repeat(" 0", 17), p.Start)
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		if p.Exe == "" {
			continue
		}
		if err := os.Symlink(p.Exe, filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
	}
	return procfs(root)
}

func TestChain(t *testing.T) {
	whole := []Process{{30, "mcp", "/bin/executor", 900}, {20, "a) R (gent", "/bin/node", 900}, {1, "init", "", 3}}
	got := fakeProc(t, whole...).chain(30)
	if fmt.Sprint(got) != fmt.Sprint(whole) {
		t.Errorf("got %v, want %v", got, whole)
	}
}

func TestChainEndsBeforeAnInheritedPID(t *testing.T) {
	got := fakeProc(t, Process{30, "mcp", "", 900}, Process{20, "late", "", 901}, Process{1, "init", "", 3}).chain(30)
	if len(got) != 1 || got[0].PID != 30 {
		t.Errorf("got %v, want the first alone", got)
	}
}

func TestChainIsBounded(t *testing.T) {
	var procs []Process
	for i := range 40 {
		procs = append(procs, Process{PID: 100 - i, Name: "x", Start: uint64(100 - i)})
	}
	if got := fakeProc(t, procs...).chain(100); len(got) != MaxChain {
		t.Errorf("chain of %d, want %d", len(got), MaxChain)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("30 (a) b\n(c) S 20" + strings.Repeat(" 0", 17) + " 77 1"))
	f.Add([]byte("30 (a) S -1" + strings.Repeat(" 0", 17) + " 77"))
	f.Add([]byte(")("))
	f.Add([]byte("1 (x) S 20"))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := parseStat(line)
		if err != nil {
			return
		}
		if s.parent < 0 {
			t.Fatalf("parent %d", s.parent)
		}
		// What was understood must be readable again from a line of our own.
		again, err := parseStat(fmt.Appendf(nil, "1 (%s) S %d%s %d", s.name, s.parent, strings.Repeat(" 0", 17), s.start))
		if err != nil || again != s {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
	})
}
