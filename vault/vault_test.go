package vault_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"executor/internal/secret"
	"executor/vault"
)

func TestWhatIsStoredComesBackAfterReopen(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "first")
	w.put(v, "ci", "second")
	check(t, v.Update(t.Context(), "host add", func(e *vault.Edit) error {
		_, err := e.Put(vault.Item{Kind: "host", Name: "wéb <1>", Body: json.RawMessage(`{"n":12345678901234567890, "s":"<&\u2028>"}`)})
		return err
	}))
	v.Close()

	v = w.open()
	want := []vault.Item{
		{Kind: "credential", Name: "ci", Version: 2, Body: json.RawMessage(`{"type":"bearer"}`)},
		{Kind: "host", Name: "wéb <1>", Version: 1, Body: json.RawMessage(`{"n":12345678901234567890,"s":"<&\u2028>"}`)},
	}
	if diff := cmp.Diff(want, v.Items()); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if got := len(v.Versions("credential", "ci")); got != 2 {
		t.Errorf("%d versions, want 2", got)
	}
	for version, value := range map[int]string{1: "first", 2: "second"} {
		s, err := v.Lease("credential", "ci", version)
		if got := reveal(t, s, err); got != value {
			t.Errorf("version %d is %q, want %q", version, got, value)
		}
	}
	if got := v.Generation(); got != 4 {
		t.Errorf("generation %d, want 4", got)
	}
	w.noPlaintext()
}

func TestVersionNumbersAreNeverGivenTwice(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "a")
	w.put(v, "ci", "b")
	remove := func(e *vault.Edit) error { return e.Remove("credential", "ci") }
	check(t, v.Update(t.Context(), "remove", remove))
	if _, err := v.Item("credential", "ci"); !errors.Is(err, vault.ErrNoSuchItem) {
		t.Errorf("item after remove: %v", err)
	}
	if err := v.Update(t.Context(), "remove again", remove); !errors.Is(err, vault.ErrNoSuchItem) {
		t.Errorf("second remove: %v", err)
	}
	v = w.open()
	if got := w.put(v, "ci", "c"); got != 3 {
		t.Errorf("version after remove and add is %d, want 3", got)
	}
	if got := w.put(v, "ci", "d"); got != 4 {
		t.Errorf("next version is %d, want 4", got)
	}
	if got := len(v.Versions("credential", "ci")); got != 2 {
		t.Errorf("%d versions after remove, want the 2 new ones", got)
	}
}

func TestEditBringsAnEarlierSecretBack(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "old")
	w.put(v, "ci", "new")
	check(t, v.Update(t.Context(), "rollback", func(e *vault.Edit) error {
		earlier := e.Versions("credential", "ci")[0]
		s, err := e.Lease("credential", "ci", earlier.Version)
		if err != nil {
			return err
		}
		defer s.Wipe()
		earlier.Secret = s
		_, err = e.Put(earlier)
		return err
	}))
	it, err := v.Item("credential", "ci")
	check(t, err)
	s, err := v.Lease("credential", "ci", it.Version)
	if got := reveal(t, s, err); it.Version != 3 || got != "old" {
		t.Errorf("current is version %d with %q, want 3 with the old secret", it.Version, got)
	}
}

func TestPutRefuses(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "x")
	wiped := pass("x")
	wiped.Wipe()
	body := json.RawMessage(`{}`)
	cases := map[string]vault.Item{
		"no kind":            {Name: "a", Body: body},
		"no name":            {Kind: "host", Body: body},
		"unknown kind":       {Kind: "rule", Name: "a", Body: body},
		"no body":            {Kind: "host", Name: "a"},
		"body not JSON":      {Kind: "host", Name: "a", Body: json.RawMessage(`{`)},
		"two bodies":         {Kind: "host", Name: "a", Body: json.RawMessage(`{}{}`)},
		"body not UTF-8":     {Kind: "host", Name: "a", Body: json.RawMessage("\"\xff\"")},
		"name not UTF-8":     {Kind: "host", Name: "\xff", Body: body},
		"wiped secret":       {Kind: "host", Name: "a", Body: body, Secret: wiped},
		"empty secret":       {Kind: "host", Name: "a", Body: body, Secret: secret.New([]byte{})},
		"secret left behind": {Kind: "credential", Name: "ci", Body: body},
	}
	before := w.fingerprint()
	for name, it := range cases {
		t.Run(name, func(t *testing.T) {
			err := v.Update(t.Context(), "put", func(e *vault.Edit) error {
				_, err := e.Put(it)
				return err
			})
			if err == nil {
				t.Error("taken")
			}
		})
	}
	if after := w.fingerprint(); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
}

func TestUpdateThatFailsOrChangesNothingWritesNothing(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "x")
	before := w.fingerprint()
	sentinel := errors.New("changed my mind")
	err := v.Update(t.Context(), "add", func(e *vault.Edit) error {
		if _, err := e.Put(credential("other", "y")); err != nil {
			return err
		}
		return sentinel
	})
	if !errors.Is(err, sentinel) {
		t.Errorf("error %v, want the function's own", err)
	}
	check(t, v.Update(t.Context(), "look", func(e *vault.Edit) error {
		_, err := e.Item("credential", "ci")
		return err
	}))
	if after := w.fingerprint(); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
	if got := len(v.Items()); got != 1 {
		t.Errorf("%d items in memory, want 1", got)
	}
}

func TestReloadSeesAnotherWriterAndLeasesOutliveIt(t *testing.T) {
	w := newWorld(t)
	reader, writer := w.open(), w.open()
	w.put(writer, "ci", "one")
	check(t, reader.Reload(t.Context()))
	lease, err := reader.Lease("credential", "ci", 1)
	check(t, err)
	check(t, writer.Update(t.Context(), "remove", func(e *vault.Edit) error { return e.Remove("credential", "ci") }))
	check(t, reader.Reload(t.Context()))
	if _, err := reader.Lease("credential", "ci", 1); !errors.Is(err, vault.ErrNoSuchItem) {
		t.Errorf("lease of a removed item: %v", err)
	}
	if got := reveal(t, lease, nil); got != "one" {
		t.Errorf("the lease that was out reads %q", got)
	}
	w.put(reader, "other", "two")
	if items := reader.Items(); len(items) != 1 || items[0].Name != "other" {
		t.Errorf("items are %v: the removed one came back", items)
	}
}

func TestLeaseRefuses(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "x")
	check(t, v.Update(t.Context(), "host", func(e *vault.Edit) error {
		_, err := e.Put(vault.Item{Kind: "host", Name: "web", Body: json.RawMessage(`{}`)})
		return err
	}))
	for _, c := range []struct {
		kind, name string
		version    int
	}{{"credential", "ci", 0}, {"credential", "ci", 2}, {"credential", "c", 1}, {"host", "ci", 1}, {"host", "web", 1}} {
		if _, err := v.Lease(c.kind, c.name, c.version); !errors.Is(err, vault.ErrNoSuchItem) {
			t.Errorf("lease of %v: %v", c, err)
		}
	}
}

func TestSecretsAreAllVersionsAndCopies(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "a", "1")
	w.put(v, "a", "2")
	w.put(v, "b", "3")
	got := map[string]string{}
	for _, s := range v.Secrets() {
		got[fmt.Sprintf("%s/%s/%d", s.Kind, s.Name, s.Version)] = reveal(t, s.Secret, nil)
		s.Secret.Wipe()
	}
	want := map[string]string{"credential/a/1": "1", "credential/a/2": "2", "credential/b/1": "3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	s, err := v.Lease("credential", "a", 1)
	if got := reveal(t, s, err); got != "1" {
		t.Errorf("after the copies were wiped the vault holds %q", got)
	}
}

func TestItemsShareNoMemoryWithTheVault(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "a", "1")
	clear(v.Items()[0].Body)
	it, err := v.Item("credential", "a")
	check(t, err)
	if string(it.Body) != `{"type":"bearer"}` {
		t.Errorf("body is %q after a reader changed its copy", it.Body)
	}
}

func TestLockWipesAndPinsTheJournal(t *testing.T) {
	w := newWorld(t)
	keys := w.identity()
	v, err := vault.Open(t.Context(), w.cfg, keys, w.ledger)
	check(t, err)
	w.put(v, "ci", "x")
	check(t, w.ledger.append("an activity"))
	check(t, v.Lock(t.Context()))
	check(t, v.Lock(t.Context()))

	if !v.Locked() || v.Generation() != 0 || v.Items() != nil || v.Secrets() != nil || v.Versions("credential", "ci") != nil {
		t.Error("a locked vault still answers")
	}
	_, leaseErr := v.Lease("credential", "ci", 1)
	_, itemErr := v.Item("credential", "ci")
	_, sealErr := keys.Seal(make([]byte, 32))
	_, openErr := vault.Open(t.Context(), w.cfg, keys, w.ledger)
	for what, err := range map[string]error{
		"lease": leaseErr, "item": itemErr, "seal": sealErr, "open": openErr, "reload": v.Reload(t.Context()),
		"update": v.Update(t.Context(), "x", func(*vault.Edit) error { return nil }),
	} {
		if !errors.Is(err, vault.ErrLocked) {
			t.Errorf("%s of a locked vault: %v", what, err)
		}
	}
	if keys.Opens() || keys.JournalKey() == nil || keys.ConsoleKey() == nil {
		t.Error("lock ends the opener and keeps the journal and console keys")
	}

	whole, err := os.ReadFile(w.ledger.path)
	check(t, err)
	check(t, os.WriteFile(w.ledger.path, bytes.ReplaceAll(whole, []byte("an activity\n"), nil), 0o600))
	if _, err := vault.Open(t.Context(), w.cfg, w.identity(), w.ledger); !errors.Is(err, vault.ErrJournalRolledBack) {
		t.Errorf("beside a journal that lacks what was pinned at lock: %v", err)
	}
	check(t, os.WriteFile(w.ledger.path, whole, 0o600))
	if got := len(w.open().Items()); got != 1 {
		t.Errorf("%d items after unlock, want 1", got)
	}
}

func TestLockWipesAlsoWhenThePinFails(t *testing.T) {
	w := newWorld(t)
	v := w.open()
	w.put(v, "ci", "x")
	w.ledger.err = errors.New("journal is full")
	if err := v.Lock(t.Context()); !errors.Is(err, w.ledger.err) {
		t.Errorf("lock: %v", err)
	}
	if !v.Locked() {
		t.Error("not locked")
	}
}

func TestZeroConfigOpensNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	w := newWorld(t)
	ctx := t.Context()
	_, createErr := vault.Create(ctx, vault.Config{}, pass(passphrase))
	_, identityErr := vault.OpenIdentity("", pass(passphrase))
	_, openErr := vault.Open(ctx, vault.Config{}, w.keys, w.ledger)
	initErr := vault.Init(ctx, vault.Config{}, w.keys, w.ledger)
	for _, err := range []error{createErr, identityErr, openErr, initErr} {
		if err == nil {
			t.Error("taken")
		}
	}
	if entries, _ := os.ReadDir("."); len(entries) > 0 {
		t.Errorf("the working directory holds %v", entries)
	}
	v := w.open()
	w.put(v, "ci", "x")
	if _, err := vault.Open(ctx, vault.Config{Dir: w.cfg.Dir}, w.keys, w.ledger); !errors.Is(err, vault.ErrUnknownKind) {
		t.Errorf("no kinds are known: %v", err)
	}
}
