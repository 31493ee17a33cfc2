package vault_test

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/sys/unix"

	"executor/vault"
)

// tampered is a world after three generations, with its earlier vaults kept.
type tampered struct {
	*world
	earlier map[int][]byte
}

func newTampered(t *testing.T) *tampered {
	w := &tampered{newWorld(t), map[int][]byte{}}
	w.earlier[1] = w.world.read(vault.VaultFile)
	v := w.open()
	w.put(v, "ci", "first")
	w.earlier[2] = w.world.read(vault.VaultFile)
	w.put(v, "ci", "second")
	w.earlier[3] = w.world.read(vault.VaultFile)
	return w
}

// refused opens the vault in every way and wants the error each time, and no
// file changed. It uses the keys of Create, so that identity.age may be broken.
func (w *tampered) refused(running *vault.Vault, want error) {
	w.t.Helper()
	before := w.fingerprint()
	v, openErr := vault.Open(w.t.Context(), w.cfg, w.keys, w.ledger)
	if v != nil {
		w.t.Error("Open returned a vault")
	}
	errs := map[string]error{"open": openErr}
	if running != nil {
		generation := running.Generation()
		errs["reload"] = running.Reload(w.t.Context())
		errs["update"] = running.Update(w.t.Context(), "add", func(e *vault.Edit) error {
			_, err := e.Put(credential("new", "x"))
			return err
		})
		if running.Generation() != generation {
			w.t.Errorf("the running vault went from generation %d to %d", generation, running.Generation())
		}
	}
	for what, err := range errs {
		if !errors.Is(err, want) {
			w.t.Errorf("%s: %v; want %v", what, err, want)
		}
		if err != nil && leak([]byte(err.Error())) != "" {
			w.t.Errorf("%s: the error shows the canary: %v", what, err)
		}
	}
	if after := w.fingerprint(); after != before {
		w.t.Errorf("files changed from\n%sto\n%s", before, after)
	}
}

func TestTamperedVaultIsRefusedAndLeftAlone(t *testing.T) {
	cases := []struct {
		name   string
		want   error
		tamper func(w *tampered)
	}{
		{"missing", vault.ErrMissing, func(w *tampered) { check(w.t, os.Remove(w.path(vault.VaultFile))) }},
		{"empty", vault.ErrDamaged, func(w *tampered) { w.write(vault.VaultFile, nil) }},
		{"trailing byte", vault.ErrDamaged, func(w *tampered) { w.write(vault.VaultFile, append(w.read(vault.VaultFile), 0)) }},
		{"a link", vault.ErrDamaged, func(w *tampered) {
			check(w.t, os.Rename(w.path(vault.VaultFile), w.path("elsewhere")))
			check(w.t, os.Symlink("elsewhere", w.path(vault.VaultFile)))
		}},
		{"a pipe", vault.ErrDamaged, func(w *tampered) {
			check(w.t, os.Remove(w.path(vault.VaultFile)))
			check(w.t, unix.Mkfifo(w.path(vault.VaultFile), 0o600))
		}},
		{"the generation before", vault.ErrRolledBack, func(w *tampered) { w.write(vault.VaultFile, w.earlier[2]) }},
		{"the first generation", vault.ErrRolledBack, func(w *tampered) { w.write(vault.VaultFile, w.earlier[1]) }},
		{"to another identity", vault.ErrDamaged, func(w *tampered) {
			other, err := age.GenerateX25519Identity()
			check(w.t, err)
			w.ageEncrypt(vault.VaultFile, w.plaintext(), other.Recipient())
		}},
		{"same recipient, no MAC", vault.ErrForged, func(w *tampered) {
			w.forge(func(d *forgedDocument) { d.MAC = "" })
		}},
		{"same recipient, old MAC, higher generation", vault.ErrForged, func(w *tampered) {
			w.forge(func(d *forgedDocument) { d.Generation++ })
		}},
		{"same recipient, old MAC, other body", vault.ErrForged, func(w *tampered) {
			w.forge(func(d *forgedDocument) {
				d.Body = bytes.Replace(d.Body, []byte("bearer"), []byte("header"), 1)
			})
		}},
		{"right MAC, same generation, other body", vault.ErrForged, func(w *tampered) {
			w.forge(func(d *forgedDocument) {
				d.Body = bytes.Replace(d.Body, []byte("bearer"), []byte("header"), 1)
				d.MAC = w.mac(d)
			})
		}},
		{"right MAC, two generations ahead", vault.ErrJournalRolledBack, func(w *tampered) {
			w.forge(func(d *forgedDocument) { d.Generation += 2; d.MAC = w.mac(d) })
		}},
		{"right MAC, unknown kind", vault.ErrUnknownKind, func(w *tampered) {
			w.forge(func(d *forgedDocument) {
				d.Generation++
				d.Body = bytes.ReplaceAll(d.Body, []byte(`"credential"`), []byte(`"passport"`))
				d.MAC = w.mac(d)
			})
		}},
		{"right MAC, another spelling", vault.ErrDamaged, func(w *tampered) {
			w.forge(func(d *forgedDocument) {
				d.Generation++
				d.Body = bytes.Replace(d.Body, []byte(`"name":"ci"`), []byte(`"NAME":"ci"`), 1)
				d.MAC = w.mac(d)
			})
		}},
		{"right MAC, a further field", vault.ErrDamaged, func(w *tampered) { w.respell(`{"format":1,`, `{"format":1,"note":"",`) }},
		{"right MAC, a field twice", vault.ErrDamaged, func(w *tampered) { w.respell(`{"format":1,`, `{"format":1,"format":1,`) }},
		{"right MAC, white space", vault.ErrDamaged, func(w *tampered) { w.respell(`{"format":1,`, `{"format":1, `) }},
		{"right MAC, another format", vault.ErrDamaged, func(w *tampered) { w.respell(`{"format":1,`, `{"format":2,`) }},
		{"journal of before", vault.ErrJournalRolledBack, func(w *tampered) {
			check(w.t, os.WriteFile(w.ledger.path, []byte("the journal begins\n"), 0o600))
		}},
		{"another journal", vault.ErrJournalRolledBack, func(w *tampered) {
			log, err := os.ReadFile(w.ledger.path)
			check(w.t, err)
			check(w.t, os.WriteFile(w.ledger.path, bytes.Replace(log, []byte("begins"), []byte("BEGINS"), 1), 0o600))
		}},
		{"home open to others", vault.ErrModes, func(w *tampered) { check(w.t, os.Chmod(w.cfg.Dir, 0o750)) }},
		{"vault open to others", vault.ErrModes, func(w *tampered) { check(w.t, os.Chmod(w.path(vault.VaultFile), 0o640)) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newTampered(t)
			running := w.open()
			c.tamper(w)
			w.refused(running, c.want)
		})
	}
}

func TestEveryCutIsRefused(t *testing.T) {
	w := newTampered(t)
	whole := w.read(vault.VaultFile)
	for size := 0; size < len(whole); size += 3 {
		w.write(vault.VaultFile, whole[:size])
		w.refused(nil, vault.ErrDamaged)
	}
	w.write(vault.VaultFile, whole)
	w.open()
}

func TestEveryFlippedBitIsRefused(t *testing.T) {
	w := newTampered(t)
	whole := w.read(vault.VaultFile)
	for at := range whole {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << rand.IntN(8)
		w.write(vault.VaultFile, flipped)
		w.refused(nil, vault.ErrDamaged)
	}
}

func TestARunningVaultNoticesARollbackOfVaultAndJournal(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "first")
	earlier := w.read(vault.VaultFile)
	log, err := os.ReadFile(w.ledger.path)
	check(t, err)
	w.put(v, "ci", "second")
	w.write(vault.VaultFile, earlier)
	check(t, os.WriteFile(w.ledger.path, log, 0o600))
	if err := v.Reload(t.Context()); !errors.Is(err, vault.ErrRolledBack) {
		t.Errorf("reload: %v", err)
	}
	if got := v.Generation(); got != 3 {
		t.Errorf("generation in memory is %d, want 3", got)
	}
}

func TestMissingVaultWithoutALedgerEntryIsMissing(t *testing.T) {
	w := newWorld(t)
	check(t, os.Remove(w.path(vault.VaultFile)))
	if err := vault.Init(t.Context(), w.cfg, w.keys, w.ledger); !errors.Is(err, vault.ErrMissing) {
		t.Errorf("init over a vault that the journal knows: %v", err)
	}
	check(t, os.Remove(w.ledger.path))
	if _, err := vault.Open(t.Context(), w.cfg, w.keys, w.ledger); !errors.Is(err, vault.ErrMissing) {
		t.Errorf("open: %v", err)
	}
	check(t, vault.Init(t.Context(), w.cfg, w.keys, w.ledger))
	if err := vault.Init(t.Context(), w.cfg, w.keys, w.ledger); !errors.Is(err, vault.ErrExists) {
		t.Errorf("second init: %v", err)
	}
}

func TestALedgerThatFailsRefuses(t *testing.T) {
	w := newTampered(t)
	running := w.open()
	w.ledger.err = errors.New("disk I/O error")
	w.refused(running, w.ledger.err)
}

// A deaf ledger answers but takes no entry.
type deafLedger struct{ *fileLedger }

func (deafLedger) RecordGeneration(context.Context, uint64, string, string) error {
	return errors.New("no room for an entry")
}

func TestAGenerationThatWasNotRecordedIsRecordedNext(t *testing.T) {
	w := newWorld(t)
	v, err := vault.Open(t.Context(), w.cfg, w.identity(), deafLedger{w.ledger})
	check(t, err)
	add := func(e *vault.Edit) error { _, err := e.Put(credential("ci", "x")); return err }
	if err := v.Update(t.Context(), "add", add); !errors.Is(err, vault.ErrNotRecorded) {
		t.Fatalf("update: %v", err)
	}
	if got := v.Generation(); got != 2 {
		t.Errorf("the vault in memory is generation %d, the file 2", got)
	}
	stored := w.read(vault.VaultFile)
	if err := v.Update(t.Context(), "add again", add); !errors.Is(err, vault.ErrNotRecorded) {
		t.Errorf("update on top of an unrecorded generation: %v", err)
	}
	if !bytes.Equal(stored, w.read(vault.VaultFile)) {
		t.Error("a second generation was written before the first was recorded")
	}
	if got := w.open().Generation(); got != 2 {
		t.Errorf("generation %d, want 2", got)
	}
	last, mac, err := w.ledger.LastGeneration(t.Context())
	if last != 2 || mac == "" || err != nil {
		t.Errorf("the ledger knows generation %d, %q, %v", last, mac, err)
	}
	log, err := os.ReadFile(w.ledger.path)
	check(t, err)
	w.open()
	if again, _ := os.ReadFile(w.ledger.path); !bytes.Equal(again, log) {
		t.Error("the generation was recorded twice")
	}
}

// A closingLedger closes the vault while it records.
type closingLedger struct {
	*fileLedger
	vault *vault.Vault
}

func (l *closingLedger) RecordGeneration(ctx context.Context, gen uint64, mac, detail string) error {
	l.vault.Close()
	return l.fileLedger.RecordGeneration(ctx, gen, mac, detail)
}

func TestAnUpdateThatIsStoredSucceedsThoughTheVaultIsClosedMeanwhile(t *testing.T) {
	w := newWorld(t)
	ledger := &closingLedger{fileLedger: w.ledger}
	v, err := vault.Open(t.Context(), w.cfg, w.identity(), ledger)
	check(t, err)
	ledger.vault = v
	w.put(v, "ci", "x")
	if !v.Locked() || v.Items() != nil {
		t.Error("the update opened a closed vault again")
	}
	if got := len(w.open().Items()); got != 1 {
		t.Errorf("%d items, want 1", got)
	}
}

// forgedDocument is the plaintext of vault.age by its documentation.
type forgedDocument struct {
	Format     int             `json:"format"`
	Generation uint64          `json:"generation"`
	MAC        string          `json:"mac"`
	Body       json.RawMessage `json:"body"`
}

func (w *tampered) plaintext() []byte {
	id, _ := w.openedIdentity()
	return w.ageDecrypt(vault.VaultFile, id)
}

// forge rewrites the vault as one who has the identity could.
func (w *tampered) forge(change func(*forgedDocument)) {
	w.t.Helper()
	id, _ := w.openedIdentity()
	var d forgedDocument
	check(w.t, json.Unmarshal(w.plaintext(), &d))
	if d.MAC != w.mac(&d) {
		w.t.Fatal("the documented MAC is not the one in the file")
	}
	change(&d)
	w.ageEncrypt(vault.VaultFile, fmt.Appendf(nil, `{"format":%d,"generation":%d,"mac":"%s","body":%s}`,
		d.Format, d.Generation, d.MAC, d.Body), id.Recipient())
}

// respell changes the plaintext around the body, which no MAC is over.
func (w *tampered) respell(from, to string) {
	w.t.Helper()
	id, _ := w.openedIdentity()
	w.ageEncrypt(vault.VaultFile, bytes.Replace(w.plaintext(), []byte(from), []byte(to), 1), id.Recipient())
}

// mac computes the documented MAC.
func (w *tampered) mac(d *forgedDocument) string {
	_, root := w.openedIdentity()
	key, err := hkdf.Key(sha256.New, root, nil, "executor vault generation MAC v1", 32)
	check(w.t, err)
	h := hmac.New(sha256.New, key)
	h.Write([]byte("executor vault generation v1\n"))
	h.Write(binary.BigEndian.AppendUint64(nil, d.Generation))
	h.Write(d.Body)
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestForgedIsAcceptedWhenNothingIsWrongWithIt(t *testing.T) {
	w := newTampered(t)
	w.forge(func(d *forgedDocument) { d.Generation++; d.MAC = w.mac(d) })
	v := w.open()
	if v.Generation() != 4 || !strings.Contains(string(w.plaintext()), `"generation":4`) {
		t.Errorf("generation %d: the forge of these tests makes no valid vault, so their refusals prove nothing", v.Generation())
	}
}
