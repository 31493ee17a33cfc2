package daemon

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"executor/internal/mask"
	"executor/internal/secret"
	"executor/vault"
)

func newHome(t *testing.T) *Home {
	t.Helper()
	dir, pass := filepath.Join(t.TempDir(), "h"), secret.New([]byte("pass"))
	if err := CreateHome(t.Context(), dir, pass, 12); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHome(t.Context(), dir, pass)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// A vault that was locked stays so, whatever was being read again meanwhile.
func TestALockIsNotUndoneByAReload(t *testing.T) {
	h := newHome(t)
	for range 12 {
		keys, err := vault.OpenIdentity(h.Dir, secret.New([]byte("pass"))) // a lock wipes them
		if err != nil {
			t.Fatal(err)
		}
		v, err := vault.Open(t.Context(), vaultConfig(h.Dir, 0), keys, h.Journal)
		if err != nil {
			t.Fatal(err)
		}
		k := &keyring{}
		if err := k.open(v); err != nil {
			t.Fatal(err)
		}
		reading, locked := make(chan struct{}), make(chan error, 1)
		go func() {
			<-reading
			locked <- k.lock(t.Context())
		}()
		close(reading)
		_ = k.reload(t.Context()) // of a vault that was locked meanwhile: an error
		if err := <-locked; err != nil {
			t.Fatal(err)
		}
		if !k.locked() {
			t.Fatal("unlocked after a lock")
		}
	}
}

// A locked vault shows no items; that is not a policy without credentials and a
// mask without secrets.
func TestALockedVaultIsNotAnEmptyOne(t *testing.T) {
	h := newHome(t)
	h.Vault.Close()
	k := &keyring{}
	if err := k.open(h.Vault); !errors.Is(err, vault.ErrLocked) || !k.locked() {
		t.Errorf("%v, locked %v", err, k.locked())
	}
	if _, err := Contracts(h.Vault); !errors.Is(err, vault.ErrLocked) {
		t.Errorf("the tools of a locked vault: %v", err)
	}
}

// A lock wipes every mask that was handed out, also that of a reading which an
// edit replaced while a call was running.
func TestALockWipesEarlierMasksToo(t *testing.T) {
	h := newHome(t)
	k := &keyring{}
	if err := k.open(h.Vault); err != nil {
		t.Fatal(err)
	}
	_, first, err := k.Current()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Writer(io.Discard, "").Close(); err != nil {
		t.Errorf("a call in flight cannot mask after an edit: %v", err)
	}
	if err := k.lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Writer(io.Discard, "").Close(); !errors.Is(err, mask.ErrWiped) {
		t.Errorf("after the lock: %v", err)
	}
}
