package journal_test

import (
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"executor/journal"

	"github.com/google/go-cmp/cmp"
)

// ledger makes a journal whose counts are known: of deploy one call ran at
// revision 2, one was adapted from 1, three were refused as stale, two of them
// in session-1, where a later one ran.
func ledger(t *testing.T) *journal.Reader {
	t.Helper()
	w := newWorld(t)
	day := 0
	w.now = func() time.Time { return time.Date(2026, 11, 28, 12, day, 0, 0, time.UTC) }
	j := w.open(t)
	openSession(t, j, "session-1", "claude-code")
	openSession(t, j, "session-2", "cursor")
	deploy := func(n int, session string) journal.Activity {
		a := call(n)
		a.SessionID, a.Tool, a.SchemaRevision = session, "deploy", 2
		return a
	}
	refuse := func(n int, session string, times int) {
		a := deploy(n, session)
		a.Decision, a.Outcome = journal.Decision{}, journal.Outcome{Status: journal.Refused, ErrorCode: "STALE_TOOL_SCHEMA"}
		if _, err := j.Refuse(t.Context(), a, times); err != nil {
			t.Fatal(err)
		}
	}
	refuse(1, "session-1", 2)
	refuse(2, "session-2", 1)
	run(t, j, deploy(3, "session-1"))
	day = 24 * 60
	adapted := deploy(4, "session-2")
	adapted.SessionID, adapted.Adapter, adapted.DeclaredRevision = "session-3", "region: us-east", 1
	adapted.Decision.Basis, adapted.Decision.ShownDigest = "session grant", ""
	run(t, j, adapted)
	run(t, j, call(5))
	return w.reader(t)
}

func TestStats(t *testing.T) {
	r := ledger(t)
	for by, want := range map[string][]journal.Stat{
		"tool": {
			{Key: "deploy", Calls: 5, OK: 2, Refused: 3, Adapted: map[int]int64{1: 1}, Stale: 3, Repaired: 2, Person: 1},
			{Key: "http_request", Calls: 1, OK: 1, Adapted: map[int]int64{}, Person: 1},
		},
		"day": {
			{Key: "2026-11-28", Calls: 4, OK: 1, Refused: 3, Adapted: map[int]int64{}, Stale: 3, Repaired: 2, Person: 1},
			{Key: "2026-11-29", Calls: 2, OK: 2, Adapted: map[int]int64{1: 1}, Person: 1},
		},
		"client": {
			{Key: "", Calls: 1, OK: 1, Adapted: map[int]int64{1: 1}},
			{Key: "claude-code", Calls: 4, OK: 2, Refused: 2, Adapted: map[int]int64{}, Stale: 2, Repaired: 2, Person: 2},
			{Key: "cursor", Calls: 1, Refused: 1, Adapted: map[int]int64{}, Stale: 1},
		},
	} {
		got, err := r.Stats(t.Context(), by, journal.Filter{}, time.UTC)
		must(t, err)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("by %s (-want +got):\n%s", by, d)
		}
	}
	for _, by := range journal.StatKeys() {
		got, err := r.Stats(t.Context(), by, journal.Filter{}, time.UTC)
		must(t, err)
		total := int64(0)
		for _, s := range got {
			total += s.Calls
		}
		if total != 6 {
			t.Errorf("by %s: %d calls, want 6", by, total)
		}
	}
	_, err := r.Stats(t.Context(), "colour", journal.Filter{}, time.UTC)
	wantErr(t, err, journal.ErrInvalid)
}

func TestSQL(t *testing.T) {
	r := ledger(t)
	rows := func(query string) (out []string) {
		t.Helper()
		must(t, r.SQL(t.Context(), query, func(columns []string, row []driver.Value) error {
			if row != nil {
				out = append(out, strings.Trim(fmt.Sprint(row), "[]"))
			}
			return nil
		}))
		return out
	}
	for query, want := range map[string][]string{
		`SELECT tool, count(*), sum(count) FROM activity GROUP BY tool ORDER BY tool`:             {"deploy 4 5", "http_request 1 1"},
		`SELECT client, calls, refused FROM sessions ORDER BY seq`:                                {"claude-code 4 2", "cursor 1 1"},
		`SELECT json_extract(raw_args, '$.method') FROM activity WHERE status = 'ok' LIMIT 1`:     {"POST"},
		`SELECT time, level, http_status, side_effect_started, "by" FROM activity WHERE seq=6`:    {"2026-11-28T12:00:00.000000Z call 200 1 console"},
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3) SELECT i FROM n`: {"1", "2", "3"},
		`SELECT client FROM activity WHERE error_code = 'STALE_TOOL_SCHEMA' ORDER BY seq`:         {"claude-code", "cursor"},
	} {
		if d := cmp.Diff(want, rows(query)); d != "" {
			t.Errorf("%s (-want +got):\n%s", query, d)
		}
	}
}

// TestSQLOnlyReads: no statement writes here or anywhere else.
func TestSQLOnlyReads(t *testing.T) {
	w := story(t)
	r := w.reader(t)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.db")
	for _, query := range []string{
		`DELETE FROM entries`, `UPDATE entries SET body = x'00'`, `INSERT INTO texts (seq, rest) VALUES (99, x'')`,
		`CREATE VIEW v AS SELECT 1`, `CREATE TEMP TABLE t (x)`, `DROP VIEW activity`, `ATTACH '` + elsewhere + `' AS x`,
		`VACUUM INTO '` + elsewhere + `'`, `PRAGMA query_only = OFF`, `PRAGMA writable_schema = ON`, `PRAGMA journal_mode`,
		`BEGIN IMMEDIATE`, `SAVEPOINT x`, `REINDEX`, `ANALYZE`, `SELECT load_extension('x')`, `nonsense`, ``, `-- nothing`,
		`SELECT 1; DELETE FROM entries`, `SELECT * FROM nowhere`, `WITH x AS (SELECT 1) DELETE FROM entries`,
	} {
		err := r.SQL(t.Context(), query, func([]string, []driver.Value) error { return nil })
		if err == nil {
			t.Errorf("%s: was run", query)
			continue
		}
		wantErr(t, err, journal.ErrInvalid)
	}
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("a file was made")
	}
	if report := w.mustVerify(t, journal.VerdictOK); report.Size != 8 {
		t.Errorf("%d entries", report.Size)
	}
}
