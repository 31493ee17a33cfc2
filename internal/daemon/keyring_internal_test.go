package daemon

import (
	"path/filepath"
	"testing"

	"executor/internal/mask"
	"executor/internal/secret"
)

// TestLockForgetsWhatWasDerived: tokens leave the masks, and the runners are told
// to drop theirs.
func TestLockForgetsWhatWasDerived(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	pass := func() *secret.Secret { return secret.New([]byte("correct horse")) }
	if err := CreateHome(t.Context(), dir, pass(), 12); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHome(t.Context(), dir, pass())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	forgot := 0
	k := &keyring{forget: func() { forgot++ }}
	if err := k.open(h.Vault); err != nil {
		t.Fatal(err)
	}
	_, before, err := k.Current()
	if err != nil {
		t.Fatal(err)
	}
	const token = "t0ken-Derived-9f8e7d6c5b"
	if !before.Learn("api", secret.New([]byte(token))) {
		t.Fatal("the keyring's masks learn nothing")
	}
	// An edit of the vault makes a new reading, which knows the token too.
	if err := k.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, after, err := k.Current()
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := after.String(token, ""); out != "[credential api]" || before == after {
		t.Errorf("after a reload: %q", out)
	}
	if err := k.lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if forgot != 1 {
		t.Errorf("the runners were told %d times", forgot)
	}
	if out, _ := after.String(token, ""); out == token {
		t.Error("a wiped set lets the token through")
	}
	if out, _ := mask.NewSet(nil).WithDerived(&k.derived).String(token, ""); out != token {
		t.Errorf("the token is still held: %q", out)
	}
}
