package vault_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"executor/vault"
)

func TestCheckModesNamesTheCommandThatMends(t *testing.T) {
	home := filepath.Join(t.TempDir(), "it's a [home]")
	check(t, os.MkdirAll(filepath.Join(home, "contracts"), 0o700))
	for _, name := range []string{"vault.age", "identity.age", "vault.lock", "journal.db", "journal.db-wal", "journal.pin", "contracts/a.json"} {
		check(t, os.WriteFile(filepath.Join(home, name), nil, 0o600))
	}
	check(t, os.WriteFile(filepath.Join(home, "notes.txt"), nil, 0o644))
	sock, err := net.Listen("unix", filepath.Join(home, "agent.sock"))
	check(t, err)
	defer sock.Close()
	check(t, os.Chmod(filepath.Join(home, "agent.sock"), 0o600))
	check(t, vault.CheckModes(home))

	for name, mode := range map[string]os.FileMode{
		".": 0o755, "vault.age": 0o640, "identity.age": 0o604, "vault.lock": 0o666, "journal.db": 0o620, "journal.db-wal": 0o644,
		"journal.pin": 0o700, "agent.sock": 0o666, "contracts": 0o701, "contracts/a.json": 0o644,
	} {
		t.Run(name, func(t *testing.T) {
			check(t, os.Chmod(filepath.Join(home, name), mode))
			mend(t, home)
		})
	}
	check(t, os.Chmod(home, 0o777))
	check(t, os.Chmod(filepath.Join(home, "vault.age"), 0o666))
	mend(t, home)
}

// mend wants CheckModes to refuse, and to be content once its command has run.
func mend(t *testing.T, home string) {
	t.Helper()
	err := vault.CheckModes(home)
	var modes *vault.ModeError
	if !errors.Is(err, vault.ErrModes) || !errors.As(err, &modes) {
		t.Fatalf("not refused: %v", err)
	}
	if out, err := exec.Command("/bin/sh", "-c", modes.Command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", modes.Command, err, out)
	}
	if err := vault.CheckModes(home); err != nil {
		t.Errorf("after %q: %v", modes.Command, err)
	}
}

func TestCheckModesRefusesAnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	home := t.TempDir()
	check(t, os.Chmod(home, 0o700))
	path := filepath.Join(home, "identity.age")
	check(t, os.WriteFile(path, nil, 0o600))
	check(t, os.Chown(path, 65534, 65534))
	var modes *vault.ModeError
	if err := vault.CheckModes(home); !errors.As(err, &modes) {
		t.Fatalf("not refused: %v", err)
	}
	if want := "sudo chown 0 '" + path + "'"; modes.Command != want || modes.Path != path {
		t.Errorf("%s: %q, want %q", modes.Path, modes.Command, want)
	}
}

func TestCheckModesOfNothing(t *testing.T) {
	check(t, vault.CheckModes(filepath.Join(t.TempDir(), "none")))
}

func TestWhatIsWrittenIsForTheOwnerAlone(t *testing.T) {
	w := newWorld(t)
	w.put(w.open(), "ci", "x")
	check(t, vault.CheckModes(w.cfg.Dir))
	for name, want := range map[string]os.FileMode{"": 0o700, vault.VaultFile: 0o600, vault.IdentityFile: 0o600, vault.LockFile: 0o600} {
		info, err := os.Stat(w.path(name))
		check(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}
