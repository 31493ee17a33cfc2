package vault_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"filippo.io/age"

	"executor/internal/secret"
	"executor/vault"
)

func TestIdentityGivesTheSameKeysEachTime(t *testing.T) {
	w := newWorld(t)
	again := w.identity()
	if !w.keys.JournalKey().Equal(again.JournalKey()) || !bytes.Equal(w.keys.ConsoleKey(), again.ConsoleKey()) {
		t.Error("the keys of Create and of OpenIdentity differ")
	}
	other := newWorld(t).keys
	if other.JournalKey().Equal(again.JournalKey()) || bytes.Equal(other.ConsoleKey(), again.ConsoleKey()) {
		t.Error("two identities share a key")
	}
	if bytes.Equal(again.ConsoleKey(), again.JournalKey().Seed()) {
		t.Error("two uses share a key")
	}
	again.Wipe()
	again.Wipe()
	if again.Opens() || again.JournalKey() != nil || again.ConsoleKey() != nil {
		t.Error("wiped keys still answer")
	}
}

func TestWrongPassphraseChangesNothing(t *testing.T) {
	w := newWorld(t)
	before := w.fingerprint()
	for _, given := range []string{"x", passphrase + "\n", passphrase[1:]} {
		if _, err := vault.OpenIdentity(w.cfg.Dir, pass(given)); !errors.Is(err, vault.ErrWrongPassphrase) {
			t.Errorf("%q: %v", given, err)
		}
	}
	for _, given := range []*secret.Secret{pass(""), nil, {}} {
		if _, err := vault.OpenIdentity(w.cfg.Dir, given); !errors.Is(err, vault.ErrEmptyPassphrase) {
			t.Errorf("empty: %v", err)
		}
	}
	if after := w.fingerprint(); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
}

func TestCreateRefuses(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t)
	before := w.fingerprint()
	if _, err := vault.Create(ctx, w.cfg, pass("another")); !errors.Is(err, vault.ErrExists) {
		t.Errorf("beside an identity: %v", err)
	}
	check(t, os.Rename(w.path(vault.IdentityFile), w.path("kept")))
	if _, err := vault.Create(ctx, w.cfg, pass("another")); !errors.Is(err, vault.ErrExists) {
		t.Errorf("beside a vault: %v", err)
	}
	check(t, os.Rename(w.path("kept"), w.path(vault.IdentityFile)))
	if after := w.fingerprint(); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}

	fresh := testConfig(t.TempDir() + "/home")
	if _, err := vault.Create(ctx, fresh, pass("")); !errors.Is(err, vault.ErrEmptyPassphrase) {
		t.Errorf("empty passphrase: %v", err)
	}
	fresh.WorkFactor = 21
	if _, err := vault.Create(ctx, fresh, pass("x")); err == nil {
		t.Error("a work factor that OpenIdentity would refuse was taken")
	}
	if _, err := os.Stat(fresh.Dir + "/" + vault.IdentityFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("identity after a refusal: %v", err)
	}
	check(t, os.Chmod(fresh.Dir, 0o755))
	fresh.WorkFactor = 2
	if _, err := vault.Create(ctx, fresh, pass("x")); !errors.Is(err, vault.ErrModes) {
		t.Errorf("in an open home: %v", err)
	}
}

func TestTamperedIdentityIsRefused(t *testing.T) {
	w := newWorld(t)
	whole := w.read(vault.IdentityFile)
	refused := func(what string, at int, data []byte, wants ...error) {
		t.Helper()
		w.write(vault.IdentityFile, data)
		before := w.fingerprint()
		_, err := vault.OpenIdentity(w.cfg.Dir, pass(passphrase))
		ok := false
		for _, want := range wants {
			ok = ok || errors.Is(err, want)
		}
		if !ok {
			t.Errorf("%s at %d: %v", what, at, err)
		}
		if after := w.fingerprint(); after != before {
			t.Errorf("%s at %d: files changed", what, at)
		}
	}
	for at := range whole {
		refused("cut", at, whole[:at], vault.ErrDamaged)
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1
		refused("flip", at, flipped, vault.ErrDamaged, vault.ErrWrongPassphrase)
	}
	scrypt, err := age.NewScryptRecipient(passphrase)
	check(t, err)
	scrypt.SetWorkFactor(2)
	id, _ := newWorld(t).openedIdentity()
	for _, plain := range []string{
		``, `{}`, `null`, `{"format":2,"identity":"` + id.String() + `","root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`,
		`{"format":1,"identity":"` + id.String() + `","root":"AAAA"}`,
		`{"format":1,"identity":"AGE-SECRET-KEY-1` + canary + `","root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`,
		`{"format":1,"identity":"` + id.String() + `","root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","root":""}`,
		`{"format":1, "identity":"` + id.String() + `","root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`,
	} {
		w.ageEncrypt(vault.IdentityFile, []byte(plain), scrypt)
		refused("plaintext "+plain, 0, w.read(vault.IdentityFile), vault.ErrDamaged)
	}
	w.ageEncrypt(vault.IdentityFile, []byte(`{}`), id.Recipient())
	refused("no passphrase in it", 0, w.read(vault.IdentityFile), vault.ErrDamaged)

	check(t, os.Remove(w.path(vault.IdentityFile)))
	if _, err := vault.OpenIdentity(w.cfg.Dir, pass(passphrase)); !errors.Is(err, vault.ErrMissing) {
		t.Errorf("missing: %v", err)
	}
	if _, err := vault.OpenIdentity(w.cfg.Dir+"/none", pass(passphrase)); !errors.Is(err, vault.ErrMissing) {
		t.Errorf("no home: %v", err)
	}
}

func TestAPlantedWorkFactorIsNotComputed(t *testing.T) {
	w := newWorld(t)
	planted := bytes.Replace(w.read(vault.IdentityFile), []byte(" 2\n"), []byte(" 30\n"), 1)
	w.write(vault.IdentityFile, planted)
	if _, err := vault.OpenIdentity(w.cfg.Dir, pass(passphrase)); !errors.Is(err, vault.ErrDamaged) {
		t.Errorf("work factor 30: %v", err)
	}
}

func TestAnotherIdentityDoesNotOpenTheVault(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.write(vault.IdentityFile, other.read(vault.IdentityFile))
	before := w.fingerprint()
	if _, err := vault.Open(t.Context(), w.cfg, w.identity(), w.ledger); !errors.Is(err, vault.ErrDamaged) {
		t.Errorf("open with another identity: %v", err)
	}
	if after := w.fingerprint(); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
}

func TestHandover(t *testing.T) {
	w := newWorld(t)
	w.put(w.open(), "ci", "x")
	key := w.keys.ConsoleKey()
	box, err := w.keys.Seal(key)
	check(t, err)
	if second, _ := w.keys.Seal(key); bytes.Equal(box, second) {
		t.Error("two boxes are equal")
	}
	if bytes.Contains(box, []byte("AGE-SECRET-KEY")) {
		t.Error("the box shows the identity")
	}
	got, err := vault.UnsealKeys(key, box)
	check(t, err)
	v, err := vault.Open(t.Context(), w.cfg, got, w.ledger)
	check(t, err)
	defer v.Close()
	if len(v.Items()) != 1 || !got.JournalKey().Equal(w.keys.JournalKey()) {
		t.Error("other keys came out of the box")
	}

	for at := range box {
		altered := bytes.Clone(box)
		altered[at] ^= 1
		if _, err := vault.UnsealKeys(key, altered); !errors.Is(err, vault.ErrHandover) {
			t.Fatalf("flip at %d: %v", at, err)
		}
		if _, err := vault.UnsealKeys(key, box[:at]); !errors.Is(err, vault.ErrHandover) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
	key[0] ^= 1
	if _, err := vault.UnsealKeys(key, box); !errors.Is(err, vault.ErrHandover) {
		t.Errorf("another key: %v", err)
	}
	if _, err := w.keys.Seal(key[:31]); err == nil {
		t.Error("sealed under a short key")
	}
}
