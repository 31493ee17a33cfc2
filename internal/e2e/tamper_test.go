package e2e_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was done to the journal behind the program's back is found by verify, and
// a serve does not start on a log that is older than its pin.
func TestTamperedJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	serve, _ := w.service()
	a := w.agent()
	for range 3 {
		a.begin("list_targets", args{}).succeeds()
	}
	a.in.Close()
	a.exit(patience)
	serve.signal(os.Interrupt)
	serve.exit(patience)
	w.verified()
	path := filepath.Join(w.home, "journal.db")
	w.sql("PRAGMA wal_checkpoint(TRUNCATE)")
	good := w.read(path)
	pin := w.read(filepath.Join(w.home, "journal.pin"))
	for name, statement := range map[string]string{
		"a body altered":   `UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '"ok"', '"no"') AS BLOB) WHERE kind = 'outcome'`,
		"a column altered": `UPDATE entries SET status = 'refused' WHERE status = 'ok'`,
		"a text altered":   `UPDATE texts SET downstream_target = CAST('other' AS BLOB) WHERE downstream_target IS NOT NULL`,
		"an entry removed": `DELETE FROM entries WHERE seq = (SELECT max(seq) - 2 FROM entries)`,
		"the tail cut":     `DELETE FROM entries WHERE seq > (SELECT max(seq) - 2 FROM entries)`,
		"an entry twice":   `UPDATE entries SET body = (SELECT body FROM entries WHERE seq = 1) WHERE seq = 2`,
	} {
		if w.sql(statement) == 0 {
			t.Errorf("%s: nothing was changed", name)
		}
		w.sql("PRAGMA wal_checkpoint(TRUNCATE)")
		if r := w.run("journal", "verify"); r.code != 10 {
			t.Errorf("%s: exit code %d\n%s%s", name, r.code, r.out, r.errors)
		}
		w.restore(good, pin)
	}
	w.verified()

	// An old copy of the whole database, put back.
	w.credential("api", "--type", "bearer", "--target", "https://api.example/")
	w.sql("PRAGMA wal_checkpoint(TRUNCATE)")
	newer, newerPin := w.read(path), w.read(filepath.Join(w.home, "journal.pin"))
	w.restore(good, newerPin)
	if r := w.run("journal", "verify"); r.code != 10 {
		t.Errorf("rolled back: %+v", r)
	}
	w.fails(10, nil, w.unlocking("serve")...)
	w.fails(10, nil, w.unlocking("credential", "list")...)
	w.restore(newer, newerPin)
	w.verified()
	var report struct{ Verdict string }
	if err := json.Unmarshal([]byte(w.ok("journal", "verify", "-o", "json")), &report); err != nil || report.Verdict == "" {
		t.Errorf("verify -o json: %v %+v", err, report)
	}
	if r := w.run("journal", "verify", "--key", strings.Replace(string(w.read(filepath.Join(w.home, "journal.pub"))), "A", "B", 1)); r.code == 0 {
		t.Error("verify by another key finds it intact")
	}
}

// restore puts the files of the journal back.
func (w *world) restore(db, pin []byte) {
	w.Helper()
	path := filepath.Join(w.home, "journal.db")
	for _, extra := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + extra) // mostly not there
	}
	w.write(path, db)
	w.write(filepath.Join(w.home, "journal.pin"), pin)
}

// sql runs a statement on the journal's database, past the program, and returns
// how many rows it changed.
func (w *world) sql(statement string) int64 {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.home, "journal.db"))
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	r, err := db.Exec(statement)
	if err != nil {
		w.Fatalf("%s: %v", statement, err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		w.Fatal(err)
	}
	return n
}
