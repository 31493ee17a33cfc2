package journal_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/journal"

	"golang.org/x/mod/sumdb/tlog"
)

// story makes a closed journal of eight entries: 1 its creation, 2 a session,
// then three calls at 3, 5 and 7 with their outcomes.
func story(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	w.tell(t)
	return w
}

func (w *world) tell(t testing.TB) {
	t.Helper()
	j := w.open(t)
	openSession(t, j, "session-1", "claude-code")
	for n := 1; n <= 3; n++ {
		run(t, j, call(n))
	}
	must(t, j.Close())
}

const editBody = `UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '"revision_evidence":"served"', '"revision_evidence":"forged"') AS BLOB) WHERE seq = 5`

// cutTail deletes the last call, as somebody who knows the format would.
var cutTail = []string{`DELETE FROM entries WHERE seq > 6`, `DELETE FROM texts WHERE seq > 6`}

// fillLookups and fillCalls are what the journal itself does once many entries have come.
var fillLookups, fillCalls = upToEight(journal.InsertLookups), upToEight(journal.InsertCalls)

func upToEight(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "?1", "0"), "?2", "8")
}

// TestTampering performs each attack on a real database and names the entry and
// the words that Verify must give.
func TestTampering(t *testing.T) {
	const insertCopy = `INSERT INTO entries SELECT 9, time, latest, behind, kind, activity_id || 'x', session_id, of, tool, revision, decision, status, count, hashes, `
	for _, c := range []struct {
		name    string
		attack  func(t *testing.T, w *world)
		verdict journal.Verdict
		seq     int64
		says    string
	}{
		{"nothing", func(*testing.T, *world) {}, journal.VerdictOK, 0, ""},
		{"body edited", statements(editBody), journal.VerdictTampered, 5, "body is not what was hashed"},
		{"body edited, leaf recomputed", editWithLeaf, journal.VerdictTampered, 5, "not those that were signed"},
		{"bodies swapped", statements(`UPDATE entries SET body = (SELECT body FROM entries AS o WHERE o.seq = 12 - entries.seq) WHERE seq IN (5, 7)`),
			journal.VerdictTampered, 5, "body is"},
		{"row deleted", statements(`DELETE FROM entries WHERE seq = 5`, `DELETE FROM texts WHERE seq = 5`), journal.VerdictTampered, 5, "missing"},
		{"row deleted, texts left", statements(`DELETE FROM entries WHERE seq = 6`), journal.VerdictTampered, 6, "missing"},
		{"row deleted, others renumbered", statements(`DELETE FROM entries WHERE seq = 5`, `DELETE FROM texts WHERE seq = 5`,
			`UPDATE entries SET seq = seq - 1 WHERE seq > 5`, `UPDATE texts SET seq = seq - 1 WHERE seq > 5`), journal.VerdictTampered, 5, "body is that of entry 6"},
		{"first row deleted", statements(`DELETE FROM entries WHERE seq = 1`, `DELETE FROM texts WHERE seq = 1`), journal.VerdictTampered, 1, "missing"},
		{"row before the first", statements(`INSERT INTO entries SELECT 0, time, latest, behind, kind, 'x', session_id, of, tool, revision, decision, status, count, hashes, note, body FROM entries WHERE seq = 8`),
			journal.VerdictTampered, 0, "before the first"},
		{"tail cut", statements(cutTail...), journal.VerdictRolledBack, 0, "journal.pin knows 8 entries, the log has 6"},
		{"row appended without a checkpoint", statements(insertCopy + `NULL, body FROM entries WHERE seq = 8`), journal.VerdictTampered, 9, ""},
		{"row appended with an old checkpoint", statements(insertCopy + `note, body FROM entries WHERE seq = 8`), journal.VerdictTampered, 9, "checkpoint is that of 8"},
		{"row appended with another key", appendWithOtherKey, journal.VerdictTampered, 9, "not signed by the trusted key"},
		{"tool column edited", statements(`UPDATE entries SET tool = 'list_targets' WHERE seq = 5`), journal.VerdictTampered, 5, "column"},
		{"status column edited", statements(`UPDATE entries SET status = 'error' WHERE seq = 6`), journal.VerdictTampered, 6, "column"},
		{"time column edited", statements(`UPDATE entries SET time = time - 1 WHERE seq = 6`), journal.VerdictTampered, 6, "column"},
		{"latest column edited", statements(`UPDATE entries SET latest = latest + 1 WHERE seq = 6`), journal.VerdictTampered, 6, "column"},
		{"of column edited", statements(`UPDATE entries SET of = 3 WHERE seq = 6`), journal.VerdictTampered, 6, "column"},
		{"stored hash edited", statements(`UPDATE entries SET hashes = CAST(hashes || x'00' AS BLOB) WHERE seq = 6`), journal.VerdictTampered, 6, "hash of the tree"},
		{"text edited", editTexts(5, func(rest []byte) []byte { return bytes.Replace(rest, []byte("POST"), []byte("PAST"), 1) }), journal.VerdictTampered, 5, `its texts are not what was hashed`},
		{"salt edited", editTexts(5, func(rest []byte) []byte { rest[1+len("action_digest")] ^= 1; return rest }), journal.VerdictTampered, 5, `its texts are not what was hashed`},
		{"indexed text edited", statements(`UPDATE texts SET downstream_target = x'41' WHERE seq = 7`), journal.VerdictTampered, 7, `its texts are not what was hashed`},
		{"texts cut", editTexts(5, func(rest []byte) []byte { return rest[:len(rest)-1] }), journal.VerdictTampered, 5, "cannot be read"},
		{"texts deleted", statements(`DELETE FROM texts WHERE seq = 7`), journal.VerdictTampered, 7, `its texts are missing`},
		{"text deleted", editTexts(7, func(rest []byte) []byte { return rest[:0] }, `UPDATE texts SET action_digest = NULL, downstream_target = NULL, credential = NULL WHERE seq = 7`), journal.VerdictTampered, 7, `its texts are missing`},
		{"text added", editTexts(6, func(rest []byte) []byte {
			return append(rest, ("\x05scope" + strings.Repeat("\x00", 16) + "\x01A")...)
		}), journal.VerdictTampered, 6, `its texts are not what was hashed`},
		{"texts added where there are none", statements(`INSERT INTO texts (seq, rest) VALUES (1, CAST(x'80' || zeroblob(32) AS BLOB))`), journal.VerdictTampered, 1, "the entry has no texts"},
		{"text taken out without an entry", editTexts(6, func(rest []byte) []byte { return journal.TakeOut(t, rest, "downstream") }),
			journal.VerdictTampered, 6, `the text "downstream" was taken out, and no entry says so`},
		{"text added in a column", statements(`UPDATE texts SET client_name = x'41' WHERE seq = 6`), journal.VerdictTampered, 6, `has no text "client_name"`},
		{"text of no entry", statements(`INSERT INTO texts (seq, rest) VALUES (60, x'')`), journal.VerdictTampered, 0, "texts of no entry"},
		{"checkpoint replaced by an older one", statements(`UPDATE entries SET note = (SELECT note FROM entries WHERE seq = 6) WHERE seq = 8`),
			journal.VerdictTampered, 8, "checkpoint is that of 6"},
		{"last checkpoint dropped", statements(`UPDATE entries SET note = NULL WHERE seq = 8`), journal.VerdictTampered, 8, "no checkpoint covers"},
		{"checkpoint garbled", statements(`UPDATE entries SET note = CAST('x' AS BLOB) WHERE seq = 4`), journal.VerdictTampered, 4, "not signed"},
		{"pin broken", pinBytes("executor-journal-pin-v1 what\n"), journal.VerdictCannotSay, 0, "journal.pin"},
		{"pin missing", remove("journal.pin"), journal.VerdictCannotSay, 0, "journal.pin"},
		{"pin with another root", pinHead(8, [32]byte{1}), journal.VerdictRolledBack, 0, "knows other first 8 entries"},
		{"pin ahead", pinHead(9, [32]byte{1}), journal.VerdictRolledBack, 0, "knows 9 entries"},
		{"pub missing", remove("journal.pub"), journal.VerdictCannotSay, 0, "no verifier key"},
		{"db missing", remove("journal.db"), journal.VerdictCannotSay, 0, "no database"},
		{"fresh database", fresh("journal.db"), journal.VerdictTampered, 1, "not signed by the trusted key"},
		{"fresh database and its key", fresh("journal.db", "journal.pub"), journal.VerdictRolledBack, 0, "knows 8 entries"},
		{"view", statements(`CREATE VIEW v AS SELECT * FROM entries`), journal.VerdictTampered, 0, `a view "v"`},
		{"view in place of the table", statements(`ALTER TABLE entries RENAME TO hidden`, `CREATE VIEW entries AS SELECT * FROM hidden WHERE seq <> 5`), journal.VerdictTampered, 0, "does not belong"},
		{"trigger", statements(`CREATE TRIGGER drop_rows BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END`), journal.VerdictTampered, 0, `a trigger "drop_rows"`},
		{"index added", statements(`CREATE INDEX more ON entries (kind)`), journal.VerdictTampered, 0, `a index "more"`},
		{"index dropped", statements(`DROP INDEX entries_session`), journal.VerdictTampered, 0, `"entries_session" is missing`},
		{"index hides a row", statements(`DROP INDEX entries_activity`, `CREATE UNIQUE INDEX entries_activity ON entries (activity_id, kind) WHERE activity_id IS NOT NULL AND seq <> 5`,
			`PRAGMA writable_schema=ON`, `UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX entries_activity ON entries (activity_id, kind) WHERE activity_id IS NOT NULL' WHERE name = 'entries_activity'`),
			journal.VerdictDamaged, 0, "missing from index entries_activity"},
		{"call deleted", statements(fillLookups, fillCalls, `DELETE FROM calls WHERE seq = 5`), journal.VerdictTampered, 5, "a filter would hide it"},
		{"call edited", statements(fillLookups, fillCalls, `UPDATE calls SET status = 'error' WHERE seq = 6`), journal.VerdictTampered, 6, "a filter would"},
		{"call of another session", statements(fillLookups, fillCalls, `UPDATE calls SET session_id = 'session-2' WHERE seq = 5`), journal.VerdictTampered, 5, "a filter would"},
		{"call added", statements(fillLookups, fillCalls, `INSERT INTO calls VALUES ('session-2', 7, 'intent', NULL, NULL)`), journal.VerdictTampered, 7, "show it wrongly"},
		{"call of a row to come", statements(`INSERT INTO calls VALUES ('session-1', 70, 'intent', NULL, NULL)`), journal.VerdictTampered, 70, "before their mark"},
		{"lookup of the calls' number", statements(fillLookups, fillCalls, `INSERT INTO lookups VALUES (6, x'41', 7)`), journal.VerdictTampered, 7, "row of no field"},
		{"lookup deleted", statements(fillLookups, fillCalls, `DELETE FROM lookups WHERE field = 1 AND seq = 5`), journal.VerdictTampered, 5, "a filter would hide it"},
		{"lookup edited", statements(fillLookups, fillCalls, `UPDATE lookups SET value = x'41' WHERE field = 3 AND seq = 5`), journal.VerdictTampered, 5, "a filter would"},
		{"lookup added", statements(fillLookups, fillCalls, `INSERT INTO lookups VALUES (1, x'41', 7)`), journal.VerdictTampered, 7, "show it wrongly"},
		{"lookup of a row to come", statements(`INSERT INTO lookups VALUES (1, x'41', 70)`), journal.VerdictTampered, 70, "before their mark"},
		{"lookup of no field", statements(`INSERT INTO lookups VALUES (9, x'41', 7)`), journal.VerdictTampered, 7, "row of no field"},
		{"lookups' mark moved", statements(`INSERT INTO lookups VALUES (0, x'', 8)`), journal.VerdictTampered, 3, "a filter would hide it"},
		{"file cut", func(t *testing.T, w *world) { must(t, os.Truncate(filepath.Join(w.dir, "journal.db"), 20000)) }, journal.VerdictDamaged, 0, ""},
		{"not a database", func(t *testing.T, w *world) {
			must(t, os.WriteFile(filepath.Join(w.dir, "journal.db"), []byte(strings.Repeat("no", 9000)), 0o600))
		}, journal.VerdictDamaged, 0, "not a database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := story(t)
			c.attack(t, w)
			report := w.verify(t, journal.VerifyOptions{})
			var said []string
			for _, f := range report.Findings {
				said = append(said, f.What)
			}
			if report.Verdict != c.verdict || report.FirstBad() != c.seq || !strings.Contains(strings.Join(said, "\n"), c.says) {
				t.Errorf("verdict %s at %d, want %s at %d saying %q; findings %+v", report.Verdict, report.FirstBad(), c.verdict, c.seq, c.says, report.Findings)
			}
		})
	}
}

func statements(sql ...string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) { w.sql(t, sql...) }
}

func remove(name string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) { must(t, os.Remove(filepath.Join(w.dir, name))) }
}

func pinBytes(s string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		must(t, os.WriteFile(filepath.Join(w.dir, "journal.pin"), []byte(s), 0o600))
	}
}

func pinHead(size int64, root [32]byte) func(*testing.T, *world) {
	return pinBytes(string(journal.FormatPin(size, root)))
}

// fresh puts files of another journal in place.
func fresh(names ...string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) { newWorld(t).copyTo(t, w.dir, names...) }
}

// edit changes the bytes of an entry.
func (w *world) edit(t *testing.T, seq int64, change func(body, hashes []byte) (newBody, newHashes []byte)) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
	must(t, err)
	defer db.Close()
	var body, hashes []byte
	must(t, db.QueryRow(`SELECT body, hashes FROM entries WHERE seq = ?`, seq).Scan(&body, &hashes))
	body, hashes = change(body, hashes)
	_, err = db.Exec(`UPDATE entries SET body = ?, hashes = ? WHERE seq = ?`, body, hashes, seq)
	must(t, err)
}

func editWithLeaf(t *testing.T, w *world) {
	w.edit(t, 5, func(body, hashes []byte) ([]byte, []byte) {
		forged := []byte(strings.Replace(string(body), `"served"`, `"forged"`, 1))
		leaf := tlog.RecordHash(forged)
		return forged, append(leaf[:], hashes[32:]...)
	})
}

// editTexts changes the bytes in which the texts of an entry are stored.
func editTexts(seq int64, change func(rest []byte) []byte, then ...string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
		must(t, err)
		defer db.Close()
		var rest []byte
		must(t, db.QueryRow(`SELECT rest FROM texts WHERE seq = ?`, seq).Scan(&rest))
		_, err = db.Exec(`UPDATE texts SET rest = ? WHERE seq = ?`, change(rest), seq)
		must(t, err)
		for _, s := range then {
			_, err = db.Exec(s)
			must(t, err)
		}
	}
}

// appendWithOtherKey lets the program itself append, under another key.
func appendWithOtherKey(t *testing.T, w *world) {
	other := newWorld(t)
	other.tell(t)
	j := other.open(t)
	run(t, j, call(4))
	must(t, j.Close())
	w.sql(t, `ATTACH '`+filepath.Join(other.dir, "journal.db")+`' AS o`,
		`INSERT INTO entries SELECT * FROM o.entries WHERE seq > 8`, `INSERT INTO texts SELECT * FROM o.texts WHERE seq > 8`)
}

// TestRewriteThatOnlyTheOutsideCatches: with the pin rewritten too the files
// agree with each other; a head that was kept elsewhere tells.
func TestRewriteThatOnlyTheOutsideCatches(t *testing.T) {
	w := newWorld(t)
	w.tell(t)
	j := w.open(t)
	size, root, err := j.Head(t.Context())
	must(t, err)
	must(t, j.Close())
	kept := journal.VerifyOptions{Heads: []journal.Head{{Size: size, Root: root, From: "the vault"}}}
	if report := w.verify(t, kept); report.Verdict != journal.VerdictOK {
		t.Fatalf("before: %+v", report)
	}

	w.sql(t, cutTail...)
	c := w.config()
	_, err = journal.Open(t.Context(), c)
	wantErr(t, err, journal.ErrRolledBack)
	pinHead(1, firstRoot(t, w))(t, w)
	w.mustVerify(t, journal.VerdictOK, journal.VerdictCrashTail)
	if report := w.verify(t, kept); report.Verdict != journal.VerdictRolledBack || !strings.Contains(report.Findings[0].What, "the vault knows 8") {
		t.Errorf("cut tail: %+v", report)
	}
	j = w.open(t)
	wantErr(t, j.Extends(t.Context(), size, root), journal.ErrRolledBack)
	for n := 10; n < 13; n++ { // the key holder's rewrite, longer than the old log
		run(t, j, call(n))
	}
	wantErr(t, j.Extends(t.Context(), size, root), journal.ErrRolledBack)
	must(t, j.Close())
	w.mustVerify(t, journal.VerdictOK)
	if report := w.verify(t, kept); report.Verdict != journal.VerdictRolledBack || !strings.Contains(report.Findings[0].What, "other first 8") {
		t.Errorf("rewrite: %+v", report)
	}
}

// firstRoot is the root of the first entry alone.
func firstRoot(t *testing.T, w *world) (root [32]byte) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
	must(t, err)
	defer db.Close()
	var hashes []byte
	must(t, db.QueryRow(`SELECT hashes FROM entries WHERE seq = 1`).Scan(&hashes))
	copy(root[:], hashes)
	return root
}

// TestReplacedWithAllItsFiles: only a key known from elsewhere tells.
func TestReplacedWithAllItsFiles(t *testing.T) {
	w := story(t)
	vkey, err := journal.VerifierKey(w.key)
	must(t, err)
	trusted := journal.VerifyOptions{Key: vkey, KeyFrom: "the vault"}
	if report := w.verify(t, trusted); report.Verdict != journal.VerdictOK || report.KeyFrom != "the vault" || report.Key != vkey {
		t.Fatalf("before: %+v", report)
	}
	fresh("journal.db", "journal.pub", "journal.pin")(t, w)
	w.mustVerify(t, journal.VerdictOK)
	if report := w.verify(t, trusted); report.Verdict != journal.VerdictTampered {
		t.Errorf("after: %+v", report)
	}
	_, err = journal.Open(t.Context(), w.config())
	wantErr(t, err, journal.ErrWrongKey)
	if _, err := journal.Verify(t.Context(), w.dir, journal.VerifyOptions{Key: "nonsense"}); err == nil {
		t.Error("a malformed trusted key was taken")
	}
}

// TestRolledBackFiles: an old copy of the database, and one without its -wal.
func TestRolledBackFiles(t *testing.T) {
	w := story(t)
	old := t.TempDir()
	w.copyTo(t, old, "journal.db")
	j := w.open(t)
	run(t, j, call(4))
	without := filepath.Join(t.TempDir(), "home")
	must(t, os.Mkdir(without, 0o700))
	pin, err := os.ReadFile(filepath.Join(w.dir, "journal.pin"))
	must(t, err)
	must(t, j.Close())
	w.copyTo(t, without, "journal.pub")
	for _, dir := range []string{without, w.dir} {
		b, err := os.ReadFile(filepath.Join(old, "journal.db"))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "journal.db"), b, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "journal.pin"), pin, 0o600))
		moved := &world{dir: dir, key: w.key, now: w.now}
		moved.mustVerify(t, journal.VerdictRolledBack)
		_, err = journal.Open(t.Context(), moved.config())
		wantErr(t, err, journal.ErrRolledBack)
	}
}

// TestTamperedUnderneath: the content of the open file is replaced in place.
func TestTamperedUnderneath(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	openSession(t, j, "session-1", "claude-code")
	run(t, j, call(1))
	run(t, j, call(2))
	w.sql(t, `DELETE FROM entries WHERE seq > 5`, `DELETE FROM texts WHERE seq > 5`)
	_, err := j.Intend(t.Context(), call(3))
	wantErr(t, err, journal.ErrRolledBack)
}

// TestCrashTail: a pin that is behind is no tampering, and Open mends it.
func TestCrashTail(t *testing.T) {
	w := story(t)
	pinHead(1, firstRoot(t, w))(t, w)
	report := w.mustVerify(t, journal.VerdictCrashTail)
	if report.Pinned != 1 || report.FirstBad() != 0 {
		t.Errorf("report %+v", report)
	}
	must(t, w.open(t).Close())
	w.mustVerify(t, journal.VerdictOK)
}

// TestOpenRefuses what it can see without reading all of the log.
func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		attack func(*testing.T, *world)
		want   error
	}{
		"trigger":                {statements(`CREATE TRIGGER x BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END`), journal.ErrTampered},
		"last body edited":       {statements(`UPDATE entries SET body = x'7b7d' WHERE seq = 8`), journal.ErrTampered},
		"last checkpoint edited": {statements(`UPDATE entries SET note = (SELECT note FROM entries WHERE seq = 6) WHERE seq = 8`), journal.ErrTampered},
		"row appended":           {appendWithOtherKey, journal.ErrTampered},
		"emptied":                {statements(`DELETE FROM entries`), journal.ErrTampered},
		"pin broken":             {pinBytes("x"), journal.ErrDamaged},
		"pin with another root":  {pinHead(4, [32]byte{1}), journal.ErrTampered},
		"tail cut":               {statements(cutTail...), journal.ErrRolledBack},
		"fresh database":         {fresh("journal.db"), journal.ErrTampered},
		"public key of another":  {fresh("journal.pub"), journal.ErrWrongKey},
		"public key is garbage": {func(t *testing.T, w *world) {
			must(t, os.WriteFile(filepath.Join(w.dir, "journal.pub"), []byte("x"), 0o600))
		}, journal.ErrDamaged},
		"another format":              {statements(`PRAGMA user_version=1`), journal.ErrDamaged},
		"database is another program": {statements(`PRAGMA application_id=1`), journal.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			w := story(t)
			c.attack(t, w)
			_, err := journal.Open(t.Context(), w.config())
			wantErr(t, err, c.want)
		})
	}
}
