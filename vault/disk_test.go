package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"executor/internal/secret"
	"executor/vault"
)

// refusesToWrite wants an Update to fail with the error, the vault unchanged in
// file and memory, and no file left.
func (w *world) refusesToWrite(v *vault.Vault, size int, want error) {
	w.t.Helper()
	before := w.fingerprint()
	err := v.Update(w.t.Context(), "add", func(e *vault.Edit) error {
		it := credential("big", "x")
		it.Secret = secret.New([]byte(strings.Repeat(canary, size/len(canary)+1)))
		_, err := e.Put(it)
		return err
	})
	if !errors.Is(err, want) {
		w.t.Fatalf("update: %v; want %v", err, want)
	}
	if after := w.fingerprint(); after != before {
		w.t.Errorf("files changed from\n%sto\n%s", before, after)
	}
	if _, err := v.Item("credential", "big"); !errors.Is(err, vault.ErrNoSuchItem) {
		w.t.Errorf("the item that was not stored: %v", err)
	}
	w.noPlaintext()
}

func TestAFullDiskLeavesTheOldVault(t *testing.T) {
	w := newWorld(t)
	if err := unix.Mount("tmpfs", w.cfg.Dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skipf("no small tmpfs can be mounted here: %v (TestAFileThatCannotGrowLeavesTheOldVault stands in)", err)
	}
	t.Cleanup(func() { unix.Unmount(w.cfg.Dir, 0) })
	check(t, os.Remove(w.ledger.path))
	keys, err := vault.Create(t.Context(), w.cfg, pass(passphrase))
	check(t, err)
	check(t, vault.Init(t.Context(), w.cfg, keys, w.ledger))
	v, err := vault.Open(t.Context(), w.cfg, keys, w.ledger)
	check(t, err)
	defer v.Close()
	w.put(v, "ci", "x")
	w.refusesToWrite(v, 100_000, syscall.ENOSPC)
	w.put(v, "ci", "y")
	if got := w.open().Generation(); got != 3 {
		t.Errorf("generation %d, want 3", got)
	}
}

func TestAFileThatCannotGrowLeavesTheOldVault(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "x")
	var whole syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &whole))
	small := whole
	small.Cur = 4096
	check(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small))
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &whole)
	w.refusesToWrite(v, 8192, syscall.EFBIG)
	check(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &whole))
	w.put(v, "ci", "y")
}

func TestAReadOnlyHomeLeavesTheOldVault(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "x")
	check(t, os.Chmod(w.cfg.Dir, 0o500))
	t.Cleanup(func() { os.Chmod(w.cfg.Dir, 0o700) })
	withoutPrivilege(t, func() { w.refusesToWrite(v, 10, syscall.EACCES) })
	check(t, os.Chmod(w.cfg.Dir, 0o700))
	w.put(v, "ci", "y")
}

// withoutPrivilege runs fn on a thread that obeys file modes also as root; the
// thread ends with it.
func withoutPrivilege(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread is not used again
		if os.Geteuid() == 0 {
			none := [2]unix.CapUserData{}
			if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
				done <- fmt.Errorf("drop capabilities: %w", err)
				return
			}
		}
		defer close(done)
		fn()
	}()
	check(t, <-done)
}

func TestStaleTemporaryFilesAreRemovedByTheNextWrite(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	stale := filepath.Join(w.cfg.Dir, vault.VaultFile+".tmp-KILLED")
	check(t, os.WriteFile(stale, []byte("half a ciphertext"), 0o600))
	kept := filepath.Join(w.cfg.Dir, "vault.age.bak")
	check(t, os.WriteFile(kept, []byte("the operator's own copy"), 0o600))
	w.put(v, "ci", "x")
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the stale file is there: %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("a file that is not ours was removed: %v", err)
	}
}
