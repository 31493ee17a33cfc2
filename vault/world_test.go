package vault_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"executor/internal/secret"
	"executor/vault"
)

const passphrase = "correct horse battery staple"

// canary is part of every secret that these tests store.
const canary = "canary-5d1f0c77a2"

// A fileLedger is a log of lines in a file, so that several processes share it.
// It relies on the vault's lock, as the Ledger contract allows. Its error, when
// set, is what every call returns.
type fileLedger struct {
	path string
	err  error
}

func (l *fileLedger) lines() ([]string, error) {
	if l.err != nil {
		return nil, l.err
	}
	b, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	lines := strings.SplitAfter(string(b), "\n")
	return lines[:len(lines)-1], err
}

func (l *fileLedger) LastGeneration(context.Context) (gen uint64, mac string, err error) {
	lines, err := l.lines()
	for _, line := range lines {
		var g uint64
		var m string
		if n, _ := fmt.Sscanf(line, "generation %d %s", &g, &m); n == 2 {
			gen, mac = g, m
		}
	}
	return gen, mac, err
}

func (l *fileLedger) RecordGeneration(_ context.Context, gen uint64, mac, detail string) error {
	return l.append(fmt.Sprintf("generation %d %s %s", gen, mac, detail))
}

func (l *fileLedger) append(line string) error {
	if l.err != nil {
		return l.err
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

func (l *fileLedger) Head(context.Context) (int64, [32]byte, error) {
	lines, err := l.lines()
	return int64(len(lines)), sha256.Sum256([]byte(strings.Join(lines, ""))), err
}

func (l *fileLedger) Extends(_ context.Context, size int64, root [32]byte) error {
	lines, err := l.lines()
	if err != nil || size == 0 {
		return err
	}
	if size > int64(len(lines)) || sha256.Sum256([]byte(strings.Join(lines[:size], ""))) != root {
		return fmt.Errorf("the log of %d entries is another one", len(lines))
	}
	return nil
}

// A world is a home with a vault in it, and its ledger beside it.
type world struct {
	t      *testing.T
	cfg    vault.Config
	ledger *fileLedger
	keys   *vault.Keys
}

func testConfig(home string) vault.Config {
	return vault.Config{Dir: home, WorkFactor: 2, Kinds: []string{"credential", "host"}, LockWait: 20 * time.Second}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, cfg: testConfig(filepath.Join(dir, "home")), ledger: &fileLedger{path: filepath.Join(dir, "ledger")}}
	keys, err := vault.Create(t.Context(), w.cfg, pass(passphrase))
	check(t, err)
	w.keys = keys
	check(t, w.ledger.append("the journal begins"))
	check(t, vault.Init(t.Context(), w.cfg, keys, w.ledger))
	return w
}

func pass(s string) *secret.Secret { return secret.New([]byte(s)) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// identity returns keys of their own, which Lock and Close may wipe.
func (w *world) identity() *vault.Keys {
	w.t.Helper()
	keys, err := vault.OpenIdentity(w.cfg.Dir, pass(passphrase))
	check(w.t, err)
	return keys
}

func (w *world) open() *vault.Vault {
	w.t.Helper()
	v, err := vault.Open(w.t.Context(), w.cfg, w.identity(), w.ledger)
	check(w.t, err)
	w.t.Cleanup(v.Close)
	return v
}

// put stores one credential and returns its version.
func (w *world) put(v *vault.Vault, name, value string) (version int) {
	w.t.Helper()
	check(w.t, v.Update(w.t.Context(), "credential add "+name, func(e *vault.Edit) (err error) {
		version, err = e.Put(credential(name, value))
		return err
	}))
	return version
}

func credential(name, value string) vault.Item {
	return vault.Item{Kind: "credential", Name: name, Body: json.RawMessage(`{"type": "bearer"}`), Secret: pass(canary + value)}
}

func (w *world) path(name string) string { return filepath.Join(w.cfg.Dir, name) }

func (w *world) read(name string) []byte {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	check(w.t, err)
	return b
}

func (w *world) write(name string, data []byte) {
	w.t.Helper()
	check(w.t, os.WriteFile(w.path(name), data, 0o600))
}

// reveal returns the secret of a lease without the canary.
func reveal(t *testing.T, s *secret.Secret, err error) string {
	t.Helper()
	check(t, err)
	var out string
	check(t, s.Use(func(b []byte) error { out = string(b); return nil }))
	return strings.TrimPrefix(out, canary)
}

// fingerprint is over every file of the home but the empty lock, and the ledger.
func (w *world) fingerprint() string {
	w.t.Helper()
	entries, err := os.ReadDir(w.cfg.Dir)
	check(w.t, err)
	var out strings.Builder
	for _, e := range entries {
		if e.Name() != vault.LockFile && e.Type().IsRegular() {
			fmt.Fprintf(&out, "%s %x\n", e.Name(), sha256.Sum256(w.read(e.Name())))
		}
	}
	log, err := os.ReadFile(w.ledger.path)
	if !errors.Is(err, os.ErrNotExist) {
		check(w.t, err)
	}
	fmt.Fprintf(&out, "ledger %x\n", sha256.Sum256(log))
	return out.String()
}

// noPlaintext searches every file of the home for the canary.
func (w *world) noPlaintext() {
	w.t.Helper()
	entries, err := os.ReadDir(w.cfg.Dir)
	check(w.t, err)
	for _, e := range entries {
		if form := leak(w.read(e.Name())); form != "" {
			w.t.Fatalf("%s holds the canary as %q", e.Name(), form)
		}
	}
}

// leak returns the form in which b holds the canary: raw, hex, or base64 at any
// of the three offsets.
func leak(b []byte) string {
	forms := []string{canary, fmt.Sprintf("%x", canary)}
	for skip := range 3 {
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte(canary)[skip:skip+12]))
	}
	for _, form := range forms {
		if bytes.Contains(b, []byte(form)) {
			return form
		}
	}
	return ""
}

// openedIdentity reads identity.age by its documented format, with age alone.
func (w *world) openedIdentity() (id *age.X25519Identity, root []byte) {
	w.t.Helper()
	scrypt, err := age.NewScryptIdentity(passphrase)
	check(w.t, err)
	var stored struct {
		Format   int
		Identity string
		Root     []byte
	}
	check(w.t, json.Unmarshal(w.ageDecrypt(vault.IdentityFile, scrypt), &stored))
	if stored.Format != 1 || len(stored.Root) != 32 {
		w.t.Fatalf("identity.age is of format %d with a root of %d bytes", stored.Format, len(stored.Root))
	}
	id, err = age.ParseX25519Identity(stored.Identity)
	check(w.t, err)
	return id, stored.Root
}

func (w *world) ageDecrypt(name string, id age.Identity) []byte {
	w.t.Helper()
	r, err := age.Decrypt(bytes.NewReader(w.read(name)), id)
	check(w.t, err)
	plain, err := io.ReadAll(r)
	check(w.t, err)
	return plain
}

func (w *world) ageEncrypt(name string, plain []byte, to age.Recipient) {
	w.t.Helper()
	var out bytes.Buffer
	enc, err := age.Encrypt(&out, to)
	check(w.t, err)
	_, err = enc.Write(plain)
	check(w.t, err)
	check(w.t, enc.Close())
	w.write(name, out.Bytes())
}
