package journal_test

import (
	"bytes"
	"crypto/ed25519"
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"executor/internal/secret"
	"executor/journal"
)

// TestDocExamples makes the journal of the package doc and looks its lines up there.
func TestDocExamples(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	must(t, os.Mkdir(dir, 0o700))
	w := &world{dir: dir, key: secret.New(make([]byte, ed25519.SeedSize)),
		now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }}
	must(t, journal.Create(t.Context(), w.config()))
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	must(t, err)
	defer db.Close()
	var body, note string
	must(t, db.QueryRow(`SELECT CAST(body AS TEXT), CAST(note AS TEXT) FROM entries WHERE seq = 1`).Scan(&body, &note))
	pub, err := os.ReadFile(filepath.Join(dir, "journal.pub"))
	must(t, err)
	pin, err := os.ReadFile(filepath.Join(dir, "journal.pin"))
	must(t, err)
	doc, err := os.ReadFile("doc.go")
	must(t, err)
	for _, example := range []string{body, note, string(pub), string(pin), saltedExample, commitmentExample, restExample(t)} {
		for line := range strings.SplitSeq(strings.TrimSpace(example), "\n") {
			if line != "" && !bytes.Contains(doc, []byte("//\t"+line+"\n")) && !bytes.Contains(doc, []byte(" "+line+"\n")) {
				t.Errorf("the package doc lacks %q", line)
			}
		}
	}
}

// restExample is the text of the package doc as it is stored.
func restExample(t *testing.T) string {
	t.Helper()
	rest := append([]byte("\x08raw_args0123456789abcdef"), 2, '{', '}')
	again, err := journal.Rest(rest)
	must(t, err)
	return hex.EncodeToString(again)
}
