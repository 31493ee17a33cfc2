package journal_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/journal"

	"github.com/google/go-cmp/cmp"
	"github.com/transparency-dev/formats/log"
	tlogproof "github.com/transparency-dev/formats/proof"
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

// TestExportsByAnotherLibrary: what is exported is checked by another library and
// by VerifyProof, which takes nothing that was changed.
func TestExportsByAnotherLibrary(t *testing.T) {
	w := story(t)
	r := w.reader(t)
	x, err := r.Export(t.Context(), call(2).ActivityID)
	must(t, err)
	pub, err := os.ReadFile(filepath.Join(w.dir, "journal.pub"))
	must(t, err)
	key := strings.TrimSpace(string(pub))
	v, err := note.NewVerifier(key)
	must(t, err)
	if len(x.Entries) != 2 || x.Key != key {
		t.Fatalf("exported %+v", x)
	}
	for i, e := range x.Entries {
		var p tlogproof.TLogProof
		must(t, p.Unmarshal([]byte(e.Proof)))
		cp, _, _, err := log.ParseCheckpoint(p.Checkpoint, v.Name(), v)
		must(t, err)
		var path [][]byte
		for _, h := range p.Hashes {
			path = append(path, h[:])
		}
		if p.Index != uint64(4+i) || cp.Size != 8 {
			t.Errorf("index %d in %d", p.Index, cp.Size)
		}
		must(t, proof.VerifyInclusion(rfc6962.DefaultHasher, p.Index, cp.Size, rfc6962.DefaultHasher.HashLeaf([]byte(e.Body)), path, cp.Hash))
	}

	file, err := json.Marshal(x)
	must(t, err)
	got, proven, err := journal.VerifyProof(file, key)
	must(t, err)
	want, err := r.Activity(t.Context(), call(2).ActivityID)
	must(t, err)
	want.KnownTool = true
	if d := cmp.Diff(want, got); d != "" || proven.Size != 8 || len(proven.Seqs) != 2 {
		t.Errorf("proved %+v; record (-want +got):\n%s", proven, d)
	}
	other, err := journal.VerifierKey(newWorld(t).key)
	must(t, err)
	_, _, err = journal.VerifyProof(file, other)
	wantErr(t, err, journal.ErrWrongKey)
	_, _, err = journal.VerifyProof(file, "nonsense")
	wantErr(t, err, journal.ErrInvalid)
	for name, c := range map[string]struct {
		old, new string
		want     error
	}{
		"body":       {`\"revision_evidence\":\"served\"`, `\"revision_evidence\":\"forged\"`, journal.ErrTampered},
		"text":       {`items/2`, `items/3`, journal.ErrTampered},
		"index":      {`index 4`, `index 6`, journal.ErrTampered},
		"beyond":     {`index 4`, `index 8`, journal.ErrInvalid},
		"size":       {`\n8\n`, `\n9\n`, journal.ErrWrongKey},
		"form":       {`tlog-proof@v1`, `tlog-proof@v2`, journal.ErrInvalid},
		"duplicates": {`"format"`, `"key":"x","format"`, journal.ErrInvalid},
		"salt":       {`"salt":"`, `"salt":"A`, journal.ErrInvalid},
	} {
		changed := bytes.Replace(file, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(changed, file) {
			t.Fatalf("%s: %q is not in the file", name, c.old)
		}
		_, _, err := journal.VerifyProof(changed, key)
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		wantErr(t, err, c.want)
	}

	j := w.open(t)
	_, err = j.Redact(t.Context(), journal.Redaction{ID: call(2).ActivityID, Fields: []string{"raw_args"}, Reason: "x"})
	must(t, err)
	x, err = r.Export(t.Context(), call(2).ActivityID)
	must(t, err)
	file, err = json.Marshal(x)
	must(t, err)
	if got, _, err := journal.VerifyProof(file, key); err != nil || got.RawArgs != "" || len(got.Redacted) != 2 {
		t.Errorf("a redacted record proves %+v, %v", got, err)
	}
	hash := x.Entries[0].Texts["raw_args"].Hash
	for name, c := range map[string]struct {
		text journal.ProvedText
		want error
	}{
		"another hash":     {journal.ProvedText{Hash: x.Entries[0].Texts["normalized_args"].Hash}, journal.ErrTampered},
		"value beside it":  {journal.ProvedText{Hash: hash, Value: "{}"}, journal.ErrInvalid},
		"half a hash":      {journal.ProvedText{Hash: hash[:20]}, journal.ErrInvalid},
		"nothing in place": {journal.ProvedText{}, journal.ErrInvalid},
	} {
		x.Entries[0].Texts["raw_args"] = c.text
		file, err = json.Marshal(x)
		must(t, err)
		_, _, err := journal.VerifyProof(file, key)
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		wantErr(t, err, c.want)
	}
}

// TestSaltedHashExample is the worked example of the package doc.
func TestSaltedHashExample(t *testing.T) {
	salt := []byte("0123456789abcdef")
	hash, inBody := journal.SaltedHash(salt, "raw_args", []byte("{}"))
	if got := base64.StdEncoding.EncodeToString(hash[:]); got != saltedExample || inBody != commitmentExample {
		t.Errorf("got %s and %s, want %s and %s", got, inBody, saltedExample, commitmentExample)
	}
	own := sha256.Sum256(append([]byte("0123456789abcdefraw_args\x00"), "{}"...))
	all := sha256.Sum256(append([]byte("\x08raw_args"), own[:]...))
	if own != hash || base64.RawStdEncoding.EncodeToString(all[:]) != inBody {
		t.Errorf("the formula of the package doc gives %x and %x", own, all)
	}
}
