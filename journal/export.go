package journal

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"executor/internal/strictjson"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// proofFormat names the form of an Export.
const proofFormat = "executor-journal-proof-v1"

// tlogProof is the first line of a C2SP tlog-proof.
const tlogProof = "c2sp.org/tlog-proof@v1"

// An Export is one record that can be checked without the journal: each of its
// entries as it is stored, with an inclusion proof (RFC 6962, section 2.1.1) in
// the form of C2SP tlog-proof, which ends with the signed checkpoint. Key is the
// verifier key that lay beside the log, and proves nothing.
type Export struct {
	Format  string        `json:"format"`
	Key     string        `json:"key"`
	Entries []ProvedEntry `json:"entries"`
}

// A ProvedEntry is an entry's body, its texts and its proof.
type ProvedEntry struct {
	Body  string                `json:"body"`
	Texts map[string]ProvedText `json:"texts"`
	Proof string                `json:"proof"`
}

// A ProvedText is a text with its salt in base64, and its value, in base64 where
// it is not UTF-8; or, where it was redacted, nothing but its hash in base64.
// Whoever hands an export on may withhold a text in the same way, or the outcome;
// they cannot change either.
type ProvedText struct {
	Salt   string `json:"salt,omitempty"`
	Value  string `json:"value,omitempty"`
	Base64 string `json:"value_base64,omitempty"`
	Hash   string `json:"hash,omitempty"`
}

// Export proves the record of one activity, by its id or a prefix, under the
// newest checkpoint. ErrNotFound, ErrAmbiguous as Activity.
func (r *Reader) Export(ctx context.Context, id string) (Export, error) {
	a, err := r.Activity(ctx, id)
	if err != nil {
		return Export{}, err
	}
	tx, err := r.db.BeginTx(ctx, nil) // one state of the log for all
	if err != nil {
		return Export{}, storeError("exporting", err)
	}
	defer tx.Rollback()
	h, err := scanHead(tx.QueryRowContext(ctx, selectHead))
	if err != nil {
		return Export{}, err
	}
	vkey, key, err := readVerifier(r.dir)
	if err == nil {
		err = h.check(ctx, tx, key)
	}
	if err != nil {
		return Export{}, err
	}
	out := Export{Format: proofFormat, Key: vkey}
	seqs, err := out.read(ctx, tx, a.ActivityID)
	if err != nil {
		return Export{}, err
	}
	for i, seq := range seqs {
		if out.Entries[i].Proof, err = prove(ctx, tx, h, seq); err != nil {
			return Export{}, err
		}
	}
	return out, nil
}

// read takes the entries of an activity as they are stored, and returns their seqs.
func (out *Export) read(ctx context.Context, q querier, activityID string) ([]int64, error) {
	rows, err := q.QueryContext(ctx, `SELECT e.seq, e.body, `+textColumnsOfT+` FROM entries AS e LEFT JOIN texts AS t ON t.seq = e.seq WHERE e.activity_id = ? ORDER BY e.seq`, activityID)
	if err != nil {
		return nil, storeError("exporting", err)
	}
	defer rows.Close()
	var seqs []int64
	for rows.Next() {
		var seq int64
		var raw []byte
		var stored textRow
		if err := rows.Scan(append([]any{&seq, &raw}, stored.targets()...)...); err != nil {
			return nil, storeError("exporting", err)
		}
		list, err := stored.texts()
		if err != nil {
			return nil, fmt.Errorf("%w: entry %d: %v", ErrTampered, seq, err)
		}
		seqs = append(seqs, seq)
		out.Entries = append(out.Entries, ProvedEntry{Body: string(raw), Texts: provedTexts(list)})
	}
	if err := rows.Err(); err != nil {
		return nil, storeError("exporting", err)
	}
	return seqs, rows.Close()
}

func prove(ctx context.Context, q querier, h head, seq int64) (string, error) {
	hashes, err := tlog.ProveRecord(h.size, seq-1, tlog.HashReaderFunc(func(ids []int64) ([]tlog.Hash, error) { return readHashes(ctx, q, ids) }))
	if err != nil {
		return "", fmt.Errorf("proving entry %d: %w", seq, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nindex %d\n", tlogProof, seq-1)
	for _, x := range hashes {
		fmt.Fprintln(&b, x)
	}
	return b.String() + "\n" + h.note, nil
}

func provedTexts(list texts) map[string]ProvedText {
	out := make(map[string]ProvedText, len(list))
	for _, x := range list {
		p := ProvedText{Salt: base64.StdEncoding.EncodeToString(x.salt)}
		switch {
		case x.taken != nil:
			p = ProvedText{Hash: base64.StdEncoding.EncodeToString(x.taken[:])}
		case utf8.Valid(x.value):
			p.Value = string(x.value)
		default:
			p.Base64 = base64.StdEncoding.EncodeToString(x.value)
		}
		out[x.field] = p
	}
	return out
}

// VerifyProof checks an Export against a verifier key that is known from
// elsewhere. It reads nothing but file. The record it returns is made of what was
// proved. ErrInvalid: the key or the file is malformed. ErrTampered: it does not
// prove what it says. ErrWrongKey: its checkpoint is signed by another key.
func VerifyProof(file []byte, key string) (Activity, Proven, error) {
	v, err := note.NewVerifier(key)
	if err != nil {
		return Activity{}, Proven{}, fmt.Errorf("trusted verifier key: %w: %v", ErrInvalid, err)
	}
	var x Export
	if err := strictjson.Decode(file, &x); err != nil {
		return Activity{}, Proven{}, fmt.Errorf("%w: no exported record: %v", ErrInvalid, err)
	}
	if x.Format != proofFormat || len(x.Entries) == 0 {
		return Activity{}, Proven{}, fmt.Errorf("%w: no exported record: format %q", ErrInvalid, x.Format)
	}
	var out Proven
	var rows []row
	for i, e := range x.Entries {
		r, size, err := e.check(v)
		if err != nil {
			return Activity{}, Proven{}, err
		}
		if i > 0 && (r.ActivityID != rows[0].ActivityID || r.Seq <= rows[i-1].Seq) {
			return Activity{}, Proven{}, fmt.Errorf("%w: its entries are not those of one activity, each once and in order", ErrTampered)
		}
		out.Size, rows = max(out.Size, size), append(rows, r)
		out.Seqs = append(out.Seqs, r.Seq)
	}
	if k := rows[0].Kind; k != kindIntent && k != kindRefused {
		return Activity{}, Proven{}, fmt.Errorf("%w: it does not begin with an intent", ErrTampered)
	}
	a := rows[0].activity()
	for _, r := range rows[1:] {
		r.settle(&a)
	}
	return a, out, nil
}

// Proven says which entries were proved to be in a log of what size.
type Proven struct {
	Seqs []int64 `json:"entries"`
	Size int64   `json:"size"`
}

// check checks one entry and returns it with the size of the log that it is in.
func (e ProvedEntry) check(v note.Verifier) (row, int64, error) {
	b, at, err := decodeBody([]byte(e.Body))
	if err != nil {
		return row{}, 0, err
	}
	index, hashes, c, err := parseTlogProof(e.Proof, v)
	if err != nil {
		return row{}, 0, err
	}
	if b.Seq != index+1 {
		return row{}, 0, fmt.Errorf("%w: the body is that of entry %d, the proof is for %d", ErrTampered, b.Seq, index+1)
	}
	if err := tlog.CheckRecord(hashes, c.size, c.root, index, tlog.RecordHash([]byte(e.Body))); err != nil {
		return row{}, 0, fmt.Errorf("%w: entry %d is not in the log that was signed", ErrTampered, b.Seq)
	}
	var list texts
	for _, field := range slices.Sorted(maps.Keys(e.Texts)) {
		x, err := e.Texts[field].text(field)
		if err != nil {
			return row{}, 0, err
		}
		list = append(list, x)
	}
	if list.commitment() != b.Texts {
		return row{}, 0, fmt.Errorf("%w: the texts of entry %d are not what was hashed", ErrTampered, b.Seq)
	}
	return newRow(b, at, list), c.size, nil
}

func (t ProvedText) text(field string) (text, error) {
	if t.Hash != "" {
		hash, err := base64.StdEncoding.DecodeString(t.Hash)
		if err != nil || len(hash) != len(textHash{}) || t != (ProvedText{Hash: t.Hash}) {
			return text{}, fmt.Errorf("%w: the hash of %q", ErrInvalid, field)
		}
		taken := textHash(hash)
		return text{field: field, taken: &taken}, nil
	}
	salt, err := base64.StdEncoding.DecodeString(t.Salt)
	if err != nil || len(salt) != saltSize {
		return text{}, fmt.Errorf("%w: the salt of %q", ErrInvalid, field)
	}
	value := []byte(t.Value)
	if t.Base64 != "" {
		if value, err = base64.StdEncoding.DecodeString(t.Base64); err != nil || t.Value != "" {
			return text{}, fmt.Errorf("%w: the value of %q", ErrInvalid, field)
		}
	}
	return text{field: field, salt: salt, value: value}, nil
}

// parseTlogProof reads a C2SP tlog-proof and checks its checkpoint's signature.
func parseTlogProof(s string, v note.Verifier) (index int64, hashes tlog.RecordProof, c checkpoint, err error) {
	bad := func(what string) (int64, tlog.RecordProof, checkpoint, error) {
		return 0, nil, checkpoint{}, fmt.Errorf("%w: proof: %s", ErrInvalid, what)
	}
	head, signed, ok := strings.Cut(s, "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || len(lines) < 2 || len(lines) > 2+64 || lines[0] != tlogProof {
		return bad("its form")
	}
	number, ok := strings.CutPrefix(lines[1], "index ")
	index, err = strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || index < 0 || strconv.FormatInt(index, 10) != number {
		return bad("its index")
	}
	for _, line := range lines[2:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			return bad("a hash")
		}
		hashes = append(hashes, h)
	}
	c, err = openNote(Note{Text: bytes.Clone([]byte(signed)), From: "the checkpoint"}, v)
	if err != nil {
		return 0, nil, checkpoint{}, err
	}
	if index >= c.size {
		return bad("its index is beyond the log")
	}
	return index, hashes, c, nil
}
