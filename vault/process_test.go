package vault_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"executor/vault"
)

// childEnv makes the test binary a process that writes the vault instead.
const childEnv = "EXECUTOR_VAULT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child adds count credentials PREFIX-i and tells each one that is stored, or
// removes them; args are add|remove, home, ledger, prefix, count.
func child(ctx context.Context, args []string) error {
	cfg, ledger, prefix := testConfig(args[1]), &fileLedger{path: args[2]}, args[3]
	count, err := strconv.Atoi(args[4])
	if err != nil {
		return err
	}
	keys, err := vault.OpenIdentity(cfg.Dir, pass(passphrase))
	if err != nil {
		return err
	}
	v, err := vault.Open(ctx, cfg, keys, ledger)
	if err != nil {
		return err
	}
	defer v.Close()
	for i := range count {
		name := fmt.Sprintf("%s-%d", prefix, i)
		err := v.Update(ctx, args[0]+" "+name, func(e *vault.Edit) error {
			if args[0] == "remove" {
				return e.Remove("credential", name)
			}
			_, err := e.Put(credential(name, name))
			return err
		})
		if err != nil {
			return fmt.Errorf("%s %s: %w", args[0], name, err)
		}
		fmt.Println(name)
	}
	return nil
}

// start runs a child; its standard output is a pipe.
func (w *world) start(args ...string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{args[0], w.cfg.Dir, w.ledger.path}, args[1:]...)...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	check(w.t, err)
	check(w.t, cmd.Start())
	return cmd, bufio.NewScanner(out), stderr
}

func (w *world) fill(v *vault.Vault, count int) {
	w.t.Helper()
	check(w.t, v.Update(w.t.Context(), "fill", func(e *vault.Edit) error {
		for i := range count {
			name := fmt.Sprintf("old-%d", i)
			if _, err := e.Put(credential(name, name)); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestAKilledWriterLosesNothing(t *testing.T) {
	const old, rounds = 50, 25
	w := newWorld(t)
	w.fill(w.open(), old)
	told, killed := map[string]bool{}, 0
	for round := range rounds {
		cmd, lines, stderr := w.start("add", fmt.Sprintf("new%d", round), "1000")
		if round%2 == 1 { // in every other round the writer has certainly come to writing
			lines.Scan()
			told[lines.Text()] = true
		}
		timer := time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
			told[lines.Text()] = true
		}
		err := cmd.Wait()
		timer.Stop()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
			killed++
		} else {
			t.Fatalf("round %d ended by itself: %v\n%s", round, err, stderr)
		}
		w.noPlaintext()
		w.wholeAfterKill(round, old, told)
	}
	if len(told) == 0 || killed != rounds {
		t.Fatalf("%d entries were added, %d writers killed: nothing was tried", len(told), killed)
	}
	w.put(w.open(), "last", "x")
	entries, err := os.ReadDir(w.cfg.Dir)
	check(t, err)
	if len(entries) != 3 {
		t.Errorf("temporary files are left after the next write: %v", entries)
	}
}

// wholeAfterKill wants the old entries, those that were told as stored, and of
// others only whole ones.
func (w *world) wholeAfterKill(round, old int, told map[string]bool) {
	w.t.Helper()
	v := w.open()
	defer v.Close()
	stored := map[string]bool{}
	for _, it := range v.Items() {
		stored[it.Name] = true
		s, err := v.Lease("credential", it.Name, it.Version)
		if got := reveal(w.t, s, err); got != it.Name {
			w.t.Fatalf("round %d: %s holds %q", round, it.Name, got)
		}
	}
	for i := range old {
		if name := fmt.Sprintf("old-%d", i); !stored[name] {
			w.t.Fatalf("round %d: %s is lost", round, name)
		}
	}
	for name := range told {
		if !stored[name] {
			w.t.Fatalf("round %d: %s was told as stored and is lost", round, name)
		}
	}
}

func TestTwoWritersLoseNothing(t *testing.T) {
	const each = 20
	w := newWorld(t)
	served := w.open()
	first, firstLines, firstErr := w.start("add", "a", strconv.Itoa(each))
	second, secondLines, secondErr := w.start("add", "b", strconv.Itoa(each))
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for secondLines.Scan() {
		}
	}()
	for firstLines.Scan() { // the served vault writes and reads between
		w.put(served, "token", firstLines.Text())
		check(t, served.Reload(t.Context()))
	}
	<-drained
	if err := errors.Join(first.Wait(), second.Wait()); err != nil {
		t.Fatalf("%v\n%s%s", err, firstErr, secondErr)
	}
	v := w.open()
	if got := len(v.Items()); got != 2*each+1 {
		t.Errorf("%d items, want %d", got, 2*each+1)
	}
	if got := len(v.Versions("credential", "token")); got != each {
		t.Errorf("%d versions of the served token, want %d", got, each)
	}
	if last, _, err := w.ledger.LastGeneration(t.Context()); err != nil || last != v.Generation() || last != 3*each+1 {
		t.Errorf("the ledger knows generation %d, the vault is %d, want %d", last, v.Generation(), 3*each+1)
	}
}

func TestARemovedItemDoesNotComeBackThroughAnotherWriter(t *testing.T) {
	const count = 20
	w := newWorld(t)
	v := w.open()
	w.fill(v, count)
	remover, removed, removerErr := w.start("remove", "old", strconv.Itoa(count))
	adder, added, adderErr := w.start("add", "new", strconv.Itoa(count))
	for removed.Scan() {
	}
	for added.Scan() {
	}
	if err := errors.Join(remover.Wait(), adder.Wait()); err != nil {
		t.Fatalf("%v\n%s%s", err, removerErr, adderErr)
	}
	w.put(v, "last", "x") // v last read before all that
	items := w.open().Items()
	if len(items) != count+1 {
		t.Errorf("%d items, want %d", len(items), count+1)
	}
	for _, it := range items {
		if strings.HasPrefix(it.Name, "old-") {
			t.Errorf("%s came back", it.Name)
		}
	}
}

func TestAHeldLockIsBusyAfterTheWait(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	f, err := os.Open(w.path(vault.LockFile))
	check(t, err)
	defer f.Close()
	check(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	w.cfg.LockWait = 50 * time.Millisecond
	before := w.fingerprint()
	if _, err := vault.Open(t.Context(), w.cfg, w.keys, w.ledger); !errors.Is(err, vault.ErrBusy) {
		t.Errorf("open: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = v.Update(ctx, "add", func(*vault.Edit) error { t.Error("edited under another's lock"); return nil })
	if !errors.Is(err, vault.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("update: %v", err)
	}
	if after := w.fingerprint(); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
	check(t, syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
	w.put(v, "ci", "x")
}
