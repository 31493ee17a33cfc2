package journal_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"executor/journal"
)

// TestNothingIsUpdatedOrDeleted reads every string of the package: SQL that
// changes or removes rows has no place in an append-only log. A redaction changes
// the side table and what is looked up in it, and never an entry.
func TestNothingIsUpdatedOrDeleted(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)\b(update|delete\s+from|replace\s+into|insert\s+or|truncate|drop|alter|vacuum|on\s+conflict|writable_schema)\b`)
	redaction := map[string]bool{
		"UPDATE texts SET (": true, "DELETE FROM lookups WHERE field = ? AND value = ? AND seq = ?": true,
	}
	read := 0
	for _, file := range sources(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			must(t, err)
			read++
			if s == "PRAGMA wal_checkpoint(TRUNCATE)" { // the file, not a row
				return true
			}
			if file == "redact.go" && redaction[s] {
				delete(redaction, s)
				return true
			}
			if forbidden.MatchString(s) {
				t.Errorf("%s: %q", file, s)
			}
			return true
		})
	}
	if read < 100 || !forbidden.MatchString("UPDATE entries") || !forbidden.MatchString("delete  from x") {
		t.Errorf("read %d strings: the test sees nothing", read)
	}
	if len(redaction) != 0 {
		t.Errorf("no longer there: %v", redaction)
	}
}

func sources(t *testing.T) (files []string) {
	t.Helper()
	all, err := filepath.Glob("*.go")
	must(t, err)
	for _, f := range all {
		if !strings.HasSuffix(f, "_test.go") {
			files = append(files, f)
		}
	}
	return files
}

// TestTextStaysInTheTexts plants a canary in every text field and looks for it
// in everything but the side table, and in each entry for the plain digests.
func TestTextStaysInTheTexts(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	const canary = "CANARY"
	c := func(s string) string { return canary + "-" + s }
	quoted := func(s string) json.RawMessage { return json.RawMessage(`{"x":"` + c(s) + `"}`) }
	a := call(1)
	a.RawArgs, a.NormalizedArgs, a.ActionDigest, a.DownstreamTarget = c("raw"), quoted("normalized"), c("action"), c("target")
	a.Decision.By, a.Decision.Basis, a.Decision.ShownDigest, a.Decision.ApprovalDigest = c("by"), c("basis"), c("shown"), c("approval")
	a.Credential.Name = c("credential")
	refused := a
	refused.ActivityID, refused.Tool, refused.KnownTool, refused.Outcome.Status = "other", c("tool"), false, journal.Refused
	if _, err := j.Intend(ctx, a); err != nil {
		t.Fatal(err)
	}
	o, _ := okOutcome()
	o.ResponseSHA256 = c("response")
	if _, err := j.Settle(ctx, a.ActivityID, a.SessionID, o, quoted("downstream")); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Refuse(ctx, refused, 1); err != nil {
		t.Fatal(err)
	}
	must(t, j.OpenSession(ctx, journal.Session{SessionID: "session-1", Peer: quoted("peer"),
		Client: journal.Client{Name: c("name"), Version: c("version"), Protocol: c("protocol")}}))
	must(t, j.AddGrant(ctx, "session-1", journal.Grant{ID: "g", Scope: c("scope"), By: c("by")}))
	must(t, j.EndGrant(ctx, "session-1", "g", c("ended by")))
	must(t, j.CloseSession(ctx, "session-1", c("reason")))
	must(t, j.RecordChange(ctx, journal.Change{Action: "host.add", By: c("by"), Detail: quoted("detail")}))
	must(t, j.RecordGeneration(ctx, 1, "mac", c("detail")))
	must(t, j.Close())

	planted := 0
	for _, value := range w.allTexts(t) {
		planted += strings.Count(value, canary)
	}
	if want := 9 + 2 + 10 + 4 + 2 + 1 + 1 + 2 + 1; planted != want {
		t.Errorf("%d canaries in the texts, want %d: some field is not kept there", planted, want)
	}
	stray := 0
	countRows(t, w, `SELECT count(*) FROM entries WHERE instr(CAST(body AS TEXT), 'CANARY') OR instr(coalesce(tool,'') || coalesce(session_id,'') ||
  coalesce(activity_id,'') || coalesce(decision,'') || coalesce(status,'') || kind || coalesce(CAST(note AS TEXT),''), 'CANARY')`, &stray)
	if stray != 0 {
		t.Errorf("%d entries hold text in the clear", stray)
	}
	for _, name := range []string{"journal.pub", "journal.pin"} {
		b, err := os.ReadFile(filepath.Join(w.dir, name))
		must(t, err)
		if bytes.Contains(b, []byte(canary)) {
			t.Errorf("%s holds text", name)
		}
	}
	w.mustVerify(t, journal.VerdictOK)
}

// TestPlainDigestsAreNotInBodies: a digest of a short text is the text, to whoever can guess.
func TestPlainDigestsAreNotInBodies(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	run(t, j, call(1))
	must(t, j.Close())
	found := 0
	for _, digest := range []string{call(1).ActionDigest, call(1).Decision.ApprovalDigest, strings.Repeat("e", 64)} {
		countRows(t, w, fmt.Sprintf(`SELECT count(*) FROM entries WHERE instr(CAST(body AS TEXT), '%s')`, digest), &found)
		if found != 0 {
			t.Errorf("%s is in %d bodies", digest, found)
		}
		if !slices.Contains(w.allTexts(t), digest) {
			t.Errorf("%s is in no text", digest)
		}
	}
}

// TestEveryTextHasItsOwnSalt: a salt that is shared stays behind when the
// neighbour is taken out, and makes guesses at it checkable.
func TestEveryTextHasItsOwnSalt(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	run(t, j, call(1))
	run(t, j, call(2))
	must(t, j.Close())
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
	must(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT rest FROM texts`)
	must(t, err)
	defer rows.Close()
	texts, seen := 0, map[string]bool{}
	for rows.Next() {
		var rest []byte
		must(t, rows.Scan(&rest))
		list, err := journal.Salts(rest)
		must(t, err)
		for _, salt := range list {
			seen[salt] = true
			texts++
		}
	}
	must(t, rows.Err())
	salts := len(seen)
	if texts < 20 || salts != texts {
		t.Errorf("%d texts have %d salts", texts, salts)
	}
}

// TestSyncComesBeforeTheAnswer watches the system calls of a process that
// appends: between two acknowledgements the -wal is synced.
func TestSyncComesBeforeTheAnswer(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("the order of system calls can only be seen with strace, which is not installed")
	}
	w := newWorld(t)
	cmd, out := w.prepare(t, 0, 3, 1)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd.Args = append([]string{strace, "-f", "-y", "-s", "40", "-e", "trace=fsync,fdatasync,write", "-o", trace}, cmd.Args...)
	cmd.Path = strace
	must(t, cmd.Start())
	for out.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Skipf("strace cannot trace here: %v", err)
	}
	b, err := os.ReadFile(trace)
	must(t, err)
	synced, answers := false, 0
	for line := range strings.Lines(string(b)) {
		switch {
		case strings.Contains(line, "sync(") && strings.Contains(line, "journal.db-wal>"):
			synced = true
		case strings.Contains(line, `"intent `) || strings.Contains(line, `"outcome `):
			if !synced {
				t.Errorf("answered before a sync: %s", line)
			}
			synced = false
			answers++
		}
	}
	if answers != 6 {
		t.Errorf("saw %d answers, want 6; trace:\n%s", answers, b)
	}
}

// TestPinNeverGoesBack: of two processes, the one that committed first may come second to the pin.
func TestPinNeverGoesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pin")
	must(t, os.WriteFile(path, journal.FormatPin(5, [32]byte{5}), 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	one, other := journal.Pinner(f), journal.Pinner(f)
	for _, step := range []struct {
		pin      func(int64, [32]byte) error
		to, want int64
	}{{one, 3, 5}, {one, 5, 5}, {one, 9, 9}, {one, 8, 9}, {other, 8, 9}, {other, 11, 11}, {one, 10, 11}, {one, 12, 12}, {one, 12, 12}} {
		must(t, step.pin(step.to, [32]byte{byte(step.to)}))
		b, err := os.ReadFile(path)
		must(t, err)
		if want := journal.FormatPin(step.want, [32]byte{byte(step.want)}); !bytes.Equal(b, want) {
			t.Errorf("to %d: pin is %q, want %q", step.to, b, want)
		}
	}
	must(t, f.Truncate(0))
	wantErr(t, journal.Pinner(f)(20, [32]byte{}), journal.ErrDamaged)
	must(t, os.WriteFile(path, []byte("torn"), 0o600))
	wantErr(t, one(20, [32]byte{}), journal.ErrDamaged)
}
