package journal_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"executor/internal/secret"
	"executor/journal"
)

// A world is a journal on a real disk, which tests corrupt.
type world struct {
	dir string
	key *secret.Secret
	now func() time.Time
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return newWorldIn(t, dir)
}

func newWorldIn(t testing.TB, dir string) *world {
	t.Helper()
	key, err := journal.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir: dir, key: key, now: time.Now}
	if err := journal.Create(t.Context(), w.config()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) config() journal.Config {
	return journal.Config{Dir: w.dir, Key: w.key, Clock: w.now, Rand: rand.Reader, Reserve: 1 << 20}
}

func (w *world) open(t testing.TB) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), w.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func (w *world) reader(t testing.TB) *journal.Reader {
	t.Helper()
	r, err := journal.OpenReader(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func (w *world) verify(t testing.TB, opt journal.VerifyOptions) journal.Report {
	t.Helper()
	report, err := journal.Verify(t.Context(), w.dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (w *world) mustVerify(t testing.TB, verdicts ...journal.Verdict) journal.Report {
	t.Helper()
	report := w.verify(t, journal.VerifyOptions{})
	for _, v := range verdicts {
		if report.Verdict == v {
			return report
		}
	}
	t.Fatalf("verdict %q, want one of %q; findings %+v", report.Verdict, verdicts, report.Findings)
	return report
}

// sql runs statements on a second connection, as somebody with a shell would.
func (w *world) sql(t testing.TB, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "journal.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// copyTo copies the closed journal's files.
func (w *world) copyTo(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func call(n int) journal.Activity {
	id := fmt.Sprintf("0198a000-0000-7000-8000-%012d", n)
	digest := fmt.Sprintf("sha256:%064x", n)
	return journal.Activity{
		ActivityID: id, SessionID: "session-1", Tool: "http_request", SchemaRevision: 1, RevisionEvidence: "served",
		ContractDigest: "sha256:" + strings.Repeat("c", 64),
		RawArgs:        fmt.Sprintf(`{"method": "POST", "url": "https://api.example.com/v1/items/%d", "body": "%s"}`, n, strings.Repeat("x", 150)),
		NormalizedArgs: json.RawMessage(fmt.Sprintf(`{"body":"%s","method":"POST","url":"https://api.example.com/v1/items/%d"}`, strings.Repeat("x", 150), n)),
		ActionDigest:   digest,
		HandlerBuild: journal.Build{Version: "v0.1.0", VCSRevision: strings.Repeat("a", 40),
			BinarySHA256: strings.Repeat("b", 64)},
		Credential: &journal.Credential{Name: "api", Version: 3},
		Decision: journal.Decision{Result: journal.Allowed, Level: "call", By: "console", Basis: "asked",
			ApprovalID: "ap-1", ShownDigest: digest, ApprovalDigest: "sha256:" + strings.Repeat("d", 64)},
		DownstreamTarget: "https://api.example.com",
		KnownTool:        true,
	}
}

func okOutcome() (journal.Outcome, json.RawMessage) {
	status := 200
	return journal.Outcome{Status: journal.OK, SideEffectStarted: true, HTTPStatus: &status, Bytes: 512,
		ResponseSHA256: strings.Repeat("e", 64), DurationMS: 12}, json.RawMessage(`{"address":"192.0.2.7:443","protocol":"h2"}`)
}

func run(t testing.TB, j *journal.Journal, a journal.Activity) {
	t.Helper()
	if _, err := j.Intend(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	o, downstream := okOutcome()
	if _, err := j.Settle(t.Context(), a.ActivityID, a.SessionID, o, downstream); err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Fatalf("got error %v, want one that is %v", err, w)
		}
	}
}

func collect[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var out []T
	for x, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

func openSession(t testing.TB, j *journal.Journal, id, client string) {
	t.Helper()
	err := j.OpenSession(context.WithoutCancel(t.Context()), journal.Session{SessionID: id, Transport: "stdio", SameUID: true,
		Client: journal.Client{Name: client, Version: "1.2.3", Protocol: "2025-11-25"},
		Peer:   json.RawMessage(`{"uid":1000,"pid":42,"exe":"/usr/bin/node"}`)})
	if err != nil {
		t.Fatal(err)
	}
}

func countRows(t testing.TB, w *world, query string, into *int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(into); err != nil {
		t.Fatal(err)
	}
}

// allTexts lists every value of the side table.
func (w *world) allTexts(t testing.TB) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
	must(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT action_digest, downstream_target, credential, client_name, tool, rest FROM texts`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var columns [5][]byte
		var rest []byte
		must(t, rows.Scan(&columns[0], &columns[1], &columns[2], &columns[3], &columns[4], &rest))
		values, err := journal.TextValues(columns, rest)
		must(t, err)
		out = append(out, values...)
	}
	must(t, rows.Err())
	return out
}

// longRead holds a read of the whole log on a connection of its own.
func (w *world) longRead(t testing.TB) *sql.Tx {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
	must(t, err)
	t.Cleanup(func() { db.Close() })
	tx, err := db.Begin()
	must(t, err)
	var n int
	must(t, tx.QueryRow(`SELECT count(*) FROM entries`).Scan(&n))
	return tx
}
