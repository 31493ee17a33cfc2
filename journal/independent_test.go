package journal_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/journal"

	"github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// TestIndependentVerifier rebuilds the tree from the stored bodies with another
// library and has it check our checkpoints, inclusion proofs and consistency
// proofs, over the hashes as they are stored.
func TestIndependentVerifier(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	for n := range 12 {
		run(t, j, call(n))
	}
	newest, err := j.Checkpoint(t.Context())
	must(t, err)
	size, root, err := j.Head(t.Context())
	must(t, err)
	must(t, j.Close())

	pub, err := os.ReadFile(filepath.Join(w.dir, "journal.pub"))
	must(t, err)
	v, err := note.NewVerifier(strings.TrimSpace(string(pub)))
	must(t, err)
	cp, _, _, err := log.ParseCheckpoint(newest, v.Name(), v)
	if err != nil || int64(cp.Size) != size || !bytes.Equal(cp.Hash, root[:]) {
		t.Fatalf("checkpoint %+v, %v", cp, err)
	}

	bodies, notes, stored := w.rows(t)
	rf := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	tree := rf.NewEmptyRange(0)
	roots := make([][]byte, len(bodies)+1)
	for i, body := range bodies {
		must(t, tree.Append(rfc6962.DefaultHasher.HashLeaf(body), nil))
		roots[i+1], err = tree.GetRootHash(nil)
		must(t, err)
		cp, _, _, err := log.ParseCheckpoint(notes[i], v.Name(), v)
		if err != nil || cp.Size != uint64(i+1) || !bytes.Equal(cp.Hash, roots[i+1]) {
			t.Fatalf("checkpoint of %d entries: %+v, %v", i+1, cp, err)
		}
	}
	for n := range size {
		p, err := tlog.ProveRecord(size, n, stored)
		must(t, err)
		must(t, proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(n), uint64(size),
			rfc6962.DefaultHasher.HashLeaf(bodies[n]), hashes(p), root[:]))
		if n == 0 {
			continue
		}
		c, err := tlog.ProveTree(size, n, stored)
		must(t, err)
		must(t, proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(n), uint64(size), hashes(c), roots[n], root[:]))
	}
	if err := proof.VerifyInclusion(rfc6962.DefaultHasher, 3, uint64(size), rfc6962.DefaultHasher.HashLeaf(bodies[4]), nil, root[:]); err == nil {
		t.Error("the verifier accepts anything")
	}
}

func hashes[T ~[]tlog.Hash](p T) [][]byte {
	out := make([][]byte, len(p))
	for i := range p {
		out[i] = p[i][:]
	}
	return out
}

// rows reads bodies, checkpoints and stored hashes as they lie in the database.
func (w *world) rows(t *testing.T) (bodies, notes [][]byte, stored tlog.HashReaderFunc) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db"))
	must(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT body, note, hashes FROM entries ORDER BY seq`)
	must(t, err)
	defer rows.Close()
	var flat [][]byte // in the order of tlog.StoredHashIndex
	for rows.Next() {
		var body, note, h []byte
		must(t, rows.Scan(&body, &note, &h))
		bodies, notes = append(bodies, body), append(notes, note)
		for ; len(h) > 0; h = h[32:] {
			flat = append(flat, h[:32])
		}
	}
	must(t, rows.Err())
	return bodies, notes, func(ids []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(ids))
		for i, id := range ids {
			out[i] = tlog.Hash(flat[id])
		}
		return out, nil
	}
}

// TestSaltedHashExample is the worked example of the package doc.
func TestSaltedHashExample(t *testing.T) {
	salt := []byte("0123456789abcdef")
	if got, want := journal.SaltedHash(salt, "raw_args", []byte("{}")), saltedExample; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
