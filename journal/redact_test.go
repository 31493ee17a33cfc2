package journal_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/journal"
)

const buried = "sk-BURIED-6f1d"

// grave makes a journal in which the arguments of call 2 hold what must go, in
// pages that the -wal and the free list have seen.
func grave(t *testing.T) (*world, *journal.Journal) {
	t.Helper()
	w := newWorld(t)
	j := w.open(t)
	openSession(t, j, "session-1", "claude-code")
	for n := range 100 {
		a := call(n)
		if n == 2 {
			a.RawArgs = `{"body": "` + buried + strings.Repeat(" and more", 3000) + `"}`
			a.NormalizedArgs = json.RawMessage(a.RawArgs)
			a.DownstreamTarget = "https://" + strings.ToLower(buried) + ".example.com"
		}
		if _, err := j.Intend(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	return w, j
}

// holds lists the files in which a value is.
func (w *world) holds(t *testing.T, value string) (files []string) {
	t.Helper()
	list, err := os.ReadDir(w.dir)
	must(t, err)
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
		must(t, err)
		if bytes.Contains(b, []byte(value)) {
			files = append(files, e.Name())
		}
	}
	return files
}

func TestRedactedValueIsInNoFile(t *testing.T) {
	w, j := grave(t)
	if files := w.holds(t, buried); len(files) == 0 {
		t.Fatal("the value is in no file: the test sees nothing")
	}
	seqs, err := j.Redact(t.Context(), journal.Redaction{ID: call(2).ActivityID, Fields: []string{"raw_args"}, Reason: "a key was pasted", By: "operator"})
	must(t, err)
	if len(seqs) != 1 || seqs[0] != 5 {
		t.Errorf("redacted %v, want [5]", seqs)
	}
	if files := w.holds(t, buried); files != nil {
		t.Errorf("the value is still in %v", files)
	}
	if files := w.holds(t, strings.ToLower(buried)); files == nil {
		t.Error("the target went too")
	}
	got, err := w.reader(t).Activity(t.Context(), call(2).ActivityID)
	must(t, err)
	if got.RawArgs != "" || got.NormalizedArgs != nil || strings.Join(got.Redacted, " ") != "normalized_args raw_args" || got.ActionDigest == "" {
		t.Errorf("read back %+v", got)
	}
	changes := collect(t, w.reader(t).Changes(t.Context(), journal.Filter{}))
	last := changes[len(changes)-1]
	if last.Action != "journal.redact" || last.By != "operator" || !strings.Contains(string(last.Detail), `"reason":"a key was pasted"`) || !strings.Contains(string(last.Detail), `"entry":5`) {
		t.Errorf("the redaction reads %+v", last)
	}
	if report := w.mustVerify(t, journal.VerdictOK); report.Redacted != 2 {
		t.Errorf("report %+v", report)
	}

	_, err = j.Redact(t.Context(), journal.Redaction{ID: call(2).ActivityID, Fields: []string{"downstream_target"}, Reason: "that too"})
	must(t, err)
	if files := w.holds(t, strings.ToLower(buried)); files != nil {
		t.Errorf("the target is still in %v", files)
	}
	w.mustVerify(t, journal.VerdictOK)
	run(t, j, call(1000))
	w.mustVerify(t, journal.VerdictOK)
}

// TestRedactingAgain: what was left in the -wal because of a reader goes when
// the reader has gone.
func TestRedactingAgain(t *testing.T) {
	t.Parallel()
	w, j := grave(t)
	tx := w.longRead(t)
	r := journal.Redaction{ID: call(2).ActivityID, Fields: []string{"raw_args"}, Reason: "x"}
	_, err := j.Redact(t.Context(), r)
	wantErr(t, err, journal.ErrBusy)
	if w.holds(t, buried) == nil {
		t.Error("the value is in no file: the reader held nothing")
	}
	must(t, tx.Rollback())
	seqs, err := j.Redact(t.Context(), r)
	must(t, err)
	if files := w.holds(t, buried); files != nil || seqs != nil {
		t.Errorf("the value is in %v, redacted again %v", files, seqs)
	}
	w.mustVerify(t, journal.VerdictOK)
}

func TestRedactRefuses(t *testing.T) {
	w, j := grave(t)
	for name, c := range map[string]struct {
		r    journal.Redaction
		want error
	}{
		"no reason": {journal.Redaction{ID: call(1).ActivityID, Fields: []string{"raw_args"}}, journal.ErrInvalid},
		"no field":  {journal.Redaction{ID: call(1).ActivityID, Reason: "x"}, journal.ErrInvalid},
		"a body":    {journal.Redaction{ID: call(1).ActivityID, Fields: []string{"tool; DROP"}, Reason: "x"}, journal.ErrInvalid},
		"nobody":    {journal.Redaction{ID: "nobody", Fields: []string{"raw_args"}, Reason: "x"}, journal.ErrNotFound},
		"not there": {journal.Redaction{ID: call(1).ActivityID, Fields: []string{"downstream"}, Reason: "x"}, journal.ErrNotFound},
		"ambiguous": {journal.Redaction{ID: call(1).ActivityID[:20], Fields: []string{"raw_args"}, Reason: "x"}, journal.ErrAmbiguous},
	} {
		_, err := j.Redact(t.Context(), c.r)
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		wantErr(t, err, c.want)
	}
	size := w.mustVerify(t, journal.VerdictOK).Size
	if size != 102 {
		t.Errorf("%d entries: a refusal wrote one", size)
	}
	seqs, err := j.Redact(t.Context(), journal.Redaction{ID: "session-1", Fields: []string{"client_name", "peer"}, Reason: "x"})
	must(t, err)
	if s, err := w.reader(t).Session(t.Context(), "session-1"); err != nil || s.Client.Name != "" || s.Peer != nil || len(seqs) != 1 {
		t.Errorf("session %+v, %v, entries %v", s, err, seqs)
	}
	w.mustVerify(t, journal.VerdictOK)
}

// TestRedactionUndone: a value that is put back, changed or not, and one that is
// taken out without an entry, are tampering.
func TestRedactionUndone(t *testing.T) {
	for name, c := range map[string]struct {
		change func(rest []byte) []byte
		says   string
	}{
		"as it was": {func(b []byte) []byte { return b }, `"raw_args" was redacted by entry 9 and is there again`},
		"changed":   {func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("POST"), []byte("PUT ")) }, "its texts are not what was hashed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := story(t)
			var before []byte
			editTexts(5, func(rest []byte) []byte { before = bytes.Clone(rest); return rest })(t, w)
			j := w.open(t)
			_, err := j.Redact(t.Context(), journal.Redaction{ID: call(2).ActivityID, Fields: []string{"raw_args"}, Reason: "x"})
			must(t, err)
			must(t, j.Close())
			w.mustVerify(t, journal.VerdictOK)
			editTexts(5, func([]byte) []byte { return c.change(before) })(t, w)
			report := w.mustVerify(t, journal.VerdictTampered)
			var said []string
			for _, f := range report.Findings {
				said = append(said, f.What)
			}
			if report.FirstBad() != 5 || !strings.Contains(strings.Join(said, "\n"), c.says) {
				t.Errorf("findings %+v", report.Findings)
			}
		})
	}
}
