package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/journal"
)

// kept is a checkpoint of the story as somebody keeps it elsewhere.
func (w *world) kept(t *testing.T) journal.Note {
	t.Helper()
	note, err := w.reader(t).Checkpoint(t.Context())
	must(t, err)
	return journal.Note{Text: note, From: "the note on the stick"}
}

// TestWhoCatchesWhat: what is sound in itself, and which of the pin and a
// checkpoint kept elsewhere tells.
func TestWhoCatchesWhat(t *testing.T) {
	for name, c := range map[string]struct {
		attack                func(*testing.T, *world)
		alone, pinned, noted  journal.Verdict // without a pin, with it, and with the note too
		saysPinned, saysNoted string
	}{
		"nothing": {func(*testing.T, *world) {}, journal.VerdictCannotSay, journal.VerdictOK, journal.VerdictOK, "", ""},
		"tail cut, the older checkpoint back": {statements(cutTail...), journal.VerdictCannotSay, journal.VerdictRolledBack, journal.VerdictRolledBack,
			"journal.pin knows 8 entries, the log has 6", "the note on the stick knows 8 entries, the log has 6"},
		"tail cut, and the pin with it": {func(t *testing.T, w *world) {
			statements(cutTail...)(t, w)
			pinHead(1, firstRoot(t, w))(t, w)
		}, journal.VerdictCannotSay, journal.VerdictCrashTail, journal.VerdictRolledBack, "not pinned yet", "the note on the stick knows 8 entries"},
		"the key holder's rewrite": {rewrite, journal.VerdictCannotSay, journal.VerdictRolledBack, journal.VerdictRolledBack,
			"journal.pin knows other first 8 entries", "the note on the stick knows other first 8 entries"},
		"everything of another journal": {fresh("journal.db", "journal.pub", "journal.pin"), journal.VerdictCannotSay, journal.VerdictOK, journal.VerdictTampered,
			"", "the note on the stick: journal has another key"},
	} {
		t.Run(name, func(t *testing.T) {
			w := story(t)
			note := w.kept(t)
			c.attack(t, w)
			check := func(opt journal.VerifyOptions, want journal.Verdict, says string) {
				t.Helper()
				report := w.verify(t, opt)
				var said []string
				for _, f := range report.Findings {
					said = append(said, f.What)
				}
				if report.Verdict != want || !strings.Contains(strings.Join(said, "\n"), says) {
					t.Errorf("verdict %s, want %s saying %q; findings %+v", report.Verdict, want, says, report.Findings)
				}
			}
			check(journal.VerifyOptions{}, c.pinned, c.saysPinned)
			check(journal.VerifyOptions{Against: []journal.Note{note}}, c.noted, c.saysNoted)
			must(t, os.Remove(filepath.Join(w.dir, "journal.pin")))
			check(journal.VerifyOptions{}, c.alone, "without the pin a cut tail or an older copy cannot be told")
		})
	}
}

// rewrite makes another log with the same key, and leaves the pin.
func rewrite(t *testing.T, w *world) {
	pin, err := os.ReadFile(filepath.Join(w.dir, "journal.pin"))
	must(t, err)
	for _, name := range []string{"journal.db", "journal.pub", "journal.pin"} {
		must(t, os.Remove(filepath.Join(w.dir, name)))
	}
	must(t, journal.Create(t.Context(), w.config()))
	j := w.open(t)
	for n := range 6 {
		run(t, j, call(n))
	}
	must(t, j.Close())
	pinBytes(string(pin))(t, w)
}

// TestWALRemoved: what was committed since the last copy into the database is gone.
func TestWALRemoved(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	run(t, j, call(1))
	dir := filepath.Join(t.TempDir(), "home")
	must(t, os.Mkdir(dir, 0o700))
	w.copyTo(t, dir, "journal.db", "journal.pub", "journal.pin") // as kill -9 leaves them, without the -wal
	must(t, j.Close())
	cut := &world{dir: dir, key: w.key, now: w.now}
	report := cut.mustVerify(t, journal.VerdictRolledBack)
	if !strings.Contains(report.Findings[0].What, "journal.pin knows 3 entries") {
		t.Errorf("findings %+v", report.Findings)
	}
}

// TestVerifySince reads only what came after a checkpoint.
func TestVerifySince(t *testing.T) {
	w := story(t)
	note := w.kept(t)
	j := w.open(t)
	for n := 10; n < 13; n++ {
		run(t, j, call(n))
	}
	must(t, j.Close())
	since := journal.VerifyOptions{Since: &note}
	report := w.verify(t, since)
	if report.Verdict != journal.VerdictOK || report.Since != 8 || report.Size != 14 || report.Checkpoints != 6 {
		t.Errorf("report %+v", report)
	}
	w.sql(t, strings.ReplaceAll(editBody, "seq = 5", "seq = 11"))
	if report := w.verify(t, since); report.Verdict != journal.VerdictTampered || report.FirstBad() != 11 {
		t.Errorf("an entry after it: %+v", report)
	}

	w = story(t)
	note = w.kept(t)
	w.sql(t, `UPDATE entries SET hashes = zeroblob(length(hashes)) WHERE seq = 8`)
	if report := w.verify(t, since); report.Verdict == journal.VerdictOK {
		t.Errorf("the stored tree before it: %+v", report)
	}
	w = story(t)
	note = w.kept(t)
	w.sql(t, cutTail...)
	if report := w.verify(t, since); report.Verdict != journal.VerdictRolledBack {
		t.Errorf("a log that is shorter: %+v", report)
	}
	note.Text = []byte("nonsense")
	if _, err := journal.Verify(t.Context(), w.dir, journal.VerifyOptions{Against: []journal.Note{note}}); err == nil {
		t.Error("nonsense was taken as a checkpoint")
	} else {
		wantErr(t, err, journal.ErrInvalid)
	}
}

// TestKeysAreCompared: a key that another place knows must be the same.
func TestKeysAreCompared(t *testing.T) {
	w := story(t)
	vkey, err := journal.VerifierKey(w.key)
	must(t, err)
	other, err := journal.VerifierKey(newWorld(t).key)
	must(t, err)
	report := w.verify(t, journal.VerifyOptions{Others: []journal.KnownKey{{Key: vkey, From: "serve"}}})
	if report.Verdict != journal.VerdictOK || strings.Join(report.KeySameAs, " ") != "serve" {
		t.Errorf("report %+v", report)
	}
	report = w.verify(t, journal.VerifyOptions{Others: []journal.KnownKey{{Key: other, From: "serve"}}})
	if report.Verdict != journal.VerdictTampered || report.Findings[0].What != "serve knows another key than the one that is trusted" {
		t.Errorf("report %+v", report)
	}
}

// TestRepin mends a pin that a fault broke, and no other.
func TestRepin(t *testing.T) {
	w := story(t)
	j := w.open(t)
	size, root, err := j.Head(t.Context())
	must(t, err)
	must(t, j.Close())
	known := []journal.Head{{Size: size, Root: root, From: "the vault"}}
	_, err = journal.Repin(t.Context(), w.config(), known)
	wantErr(t, err, journal.ErrInvalid)
	for name, break_ := range map[string]func(*testing.T, *world){"missing": remove("journal.pin"), "torn": pinBytes("executor-journal-pin")} {
		break_(t, w)
		_, err := journal.Repin(t.Context(), w.config(), nil)
		wantErr(t, err, journal.ErrInvalid)
		if _, err := journal.Repin(t.Context(), w.config(), known); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w.mustVerify(t, journal.VerdictOK)
		changes := collect(t, w.reader(t).Changes(t.Context(), journal.Filter{}))
		if last := changes[len(changes)-1]; last.Action != "journal.repin" || !strings.Contains(string(last.Detail), `"known":8`) {
			t.Errorf("%s: the record reads %+v", name, last)
		}
	}
	pinBytes("x")(t, w)
	w.sql(t, cutTail...)
	_, err = journal.Repin(t.Context(), w.config(), known)
	wantErr(t, err, journal.ErrTampered)
}
