package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"executor/vault"
)

// testdata/format1 is a home as this format's first release wrote it, and its
// ledger. It is opened from a copy.
func TestFormat1IsReadForEver(t *testing.T) {
	dir := t.TempDir()
	w := &world{t: t, cfg: testConfig(filepath.Join(dir, "home")), ledger: &fileLedger{path: filepath.Join(dir, "ledger")}}
	check(t, os.Mkdir(w.cfg.Dir, 0o700))
	for _, name := range []string{vault.IdentityFile, vault.VaultFile} {
		b, err := os.ReadFile(filepath.Join("testdata/format1", name))
		check(t, err)
		w.write(name, b)
	}
	log, err := os.ReadFile("testdata/format1/ledger")
	check(t, err)
	check(t, os.WriteFile(w.ledger.path, log, 0o600))

	v := w.open()
	s, err := v.Lease("credential", "ci", 2)
	if got := reveal(t, s, err); v.Generation() != 5 || got != "second" {
		t.Errorf("generation %d with %q, want 5 with \"second\"", v.Generation(), got)
	}
	if it, err := v.Item("host", "web-1"); err != nil || string(it.Body) != `{"addr":"web-1:22"}` {
		t.Errorf("host: %s, %v", it.Body, err)
	}
	if got := w.put(v, "old", "x"); got != 2 {
		t.Errorf("version after a removed one is %d, want 2", got)
	}
}
