package journal_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"executor/journal"
)

// says is what a report found, in one line.
func says(r journal.Report) string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s@%d %s", f.Verdict, f.Seq, f.What))
	}
	return string(r.Verdict) + ": " + strings.Join(out, "; ")
}

// TestAMarkBeyondTheEnd would keep every later call out of the lookups, and of what
// is walked behind them: Verify, Open and a Journal that has the file open tell.
func TestAMarkBeyondTheEnd(t *testing.T) {
	far := `INSERT INTO lookups VALUES (0, x'', 1000000)`
	for name, planted := range map[string]string{"alone": "", "with a lookup to come": `INSERT INTO lookups VALUES (1, x'41', 500)`,
		"with a call to come": `INSERT INTO calls VALUES ('session-1', 500, 'intent', NULL, NULL)`} {
		w := story(t)
		w.sql(t, fillLookups, fillCalls, far)
		if planted != "" {
			w.sql(t, planted)
		}
		if r := w.verify(t, journal.VerifyOptions{}); r.Verdict != journal.VerdictTampered {
			t.Errorf("%s: %s", name, says(r))
		}
		_, err := journal.Open(t.Context(), w.config())
		if err == nil {
			t.Fatalf("%s: opened", name)
		}
		wantErr(t, err, journal.ErrTampered)
	}
	w := newWorld(t)
	j := w.open(t)
	w.sql(t, far)
	var err error
	for n := 0; err == nil && n < 600; n++ {
		_, err = j.Intend(t.Context(), call(n))
	}
	if err == nil {
		t.Fatal("the mark was believed")
	}
	wantErr(t, err, journal.ErrTampered)
}

// TestRedactionsThatOverlap: of two that take out the same text one does, nothing
// else in the commit of the other suffers, and Verify sees no tampering.
func TestRedactionsThatOverlap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := w.open(t), w.open(t)
	openSession(t, one, "session-1", "c")
	const n = 15
	for i := range n {
		if _, err := one.Intend(t.Context(), call(i)); err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var intents sync.WaitGroup
	for c := range 3 {
		intents.Go(func() {
			for i := 1; !stop.Load(); i++ {
				if _, err := one.Intend(context.Background(), call(1000000*(c+1)+i)); err != nil {
					t.Errorf("an intent beside them: %v", err)
					return
				}
			}
		})
	}
	for i := range n {
		var both sync.WaitGroup
		for j, fields := range map[*journal.Journal][]string{one: {"raw_args"}, other: {"raw_args", "downstream_target"}} {
			both.Go(func() {
				_, err := j.Redact(context.Background(), journal.Redaction{ID: call(i).ActivityID, Fields: fields, Reason: "x"})
				if err != nil && !errors.Is(err, journal.ErrBusy) { // a reader may keep the -wal
					t.Errorf("redacting %d: %v", i, err)
				}
			})
		}
		both.Wait()
		a, err := w.reader(t).Activity(t.Context(), call(i).ActivityID)
		must(t, err)
		if strings.Join(a.Redacted, " ") != "downstream_target normalized_args raw_args" {
			t.Errorf("%d: redacted %v", i, a.Redacted)
		}
	}
	stop.Store(true)
	intents.Wait()
	must(t, one.Close())
	must(t, other.Close())
	w.mustVerify(t, journal.VerdictOK)
}

// TestVerifyWhileRedacting: what goes while the log is read is no tampering.
func TestVerifyWhileRedacting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.open(t)
	openSession(t, j, "session-1", "c")
	const n = 800
	var fill sync.WaitGroup
	for c := range 32 {
		fill.Go(func() {
			for i := c; i < n; i += 32 {
				a := call(i)
				a.DownstreamTarget = fmt.Sprint("t", i)
				if _, err := j.Intend(context.Background(), a); err != nil {
					t.Error(err)
				}
			}
		})
	}
	fill.Wait()
	var done atomic.Bool
	var taking sync.WaitGroup
	taking.Go(func() {
		defer done.Store(true)
		for i := range n / 3 {
			_, err := j.Redact(context.Background(), journal.Redaction{ID: call(i).ActivityID, Reason: "x",
				Fields: []string{"downstream_target", "credential", "action_digest"}})
			if err != nil && !errors.Is(err, journal.ErrBusy) {
				t.Error(err)
			}
		}
	})
	runs := 0
	for began := time.Now(); !done.Load() && time.Since(began) < 20*time.Second; runs++ {
		if r := w.verify(t, journal.VerifyOptions{}); r.Verdict != journal.VerdictOK && r.Verdict != journal.VerdictCrashTail {
			t.Error(says(r))
			break
		}
	}
	taking.Wait()
	if runs < 2 {
		t.Errorf("only %d verifications beside the redactions", runs)
	}
}

const copyRow = `, time, latest, behind, kind, activity_id || 'x', session_id, of, tool, revision, decision, status, count, hashes, note, body FROM entries WHERE seq = `

// TestHostileRows: what somebody wrote into the file ends no process and no loop.
func TestHostileRows(t *testing.T) {
	t.Run("a seq far away", func(t *testing.T) {
		w := story(t)
		w.sql(t, `INSERT INTO entries SELECT 1 << 44`+copyRow+`8`, `INSERT INTO lookups VALUES (0, x'', 1 << 44)`,
			`INSERT INTO lookups VALUES (1, x'41', 1 << 44)`)
		w.mustVerify(t, journal.VerdictTampered)
	})
	t.Run("the last seq there is", func(t *testing.T) {
		w := story(t)
		w.sql(t, `INSERT INTO entries SELECT 9223372036854775807`+copyRow+`7`)
		r, n := w.reader(t), 0
		for _, err := range r.Activities(t.Context(), journal.Filter{}) {
			must(t, err)
			if n++; n > 100 {
				t.Fatal("the same activities come round and round")
			}
		}
		if _, err := r.Export(t.Context(), call(1).ActivityID); err == nil {
			t.Error("exported under a head that does not hold")
		}
		if got := collect(t, r.Activities(t.Context(), journal.Filter{After: math.MaxInt64})); len(got) != 0 {
			t.Errorf("%d activities after the last seq", len(got))
		}
		w.mustVerify(t, journal.VerdictTampered)
	})
	t.Run("outcomes swapped", func(t *testing.T) {
		w := story(t)
		w.sql(t, `UPDATE entries SET body = (SELECT body FROM entries AS o WHERE o.seq = 10 - entries.seq) WHERE seq IN (4, 6)`)
		_, err := w.reader(t).Activity(t.Context(), call(1).ActivityID)
		wantErr(t, err, journal.ErrTampered)
		w.mustVerify(t, journal.VerdictTampered)
	})
	t.Run("a generation that is none", func(t *testing.T) {
		w := story(t)
		j := w.open(t)
		w.sql(t, `UPDATE entries SET kind = 'vault.generation' WHERE seq = 2`)
		_, _, err := j.LastGeneration(t.Context())
		wantErr(t, err, journal.ErrTampered)
	})
	for name, statement := range map[string]string{
		"an empty value in a column": `UPDATE texts SET client_name = x'' WHERE seq = 3`,
		"an empty checkpoint":        `UPDATE entries SET note = x'' WHERE seq = 3`,
		"texts of nothing":           `INSERT INTO texts (seq, rest) VALUES (1, x'')`,
	} {
		t.Run(name, func(t *testing.T) {
			w := story(t)
			w.sql(t, statement)
			w.mustVerify(t, journal.VerdictTampered)
		})
	}
}

// TestRunsBehindRefusals: refused calls of the same action do not hide that it ran.
func TestRunsBehindRefusals(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	run(t, j, call(1))
	var refusals sync.WaitGroup
	for c := range 20 {
		refusals.Go(func() {
			for i := c; i < 1000; i += 20 {
				a := call(1000 + i)
				a.ActionDigest, a.Outcome.Status = call(1).ActionDigest, journal.Refused
				if _, err := j.Refuse(context.Background(), a, 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	refusals.Wait()
	if runs, err := j.RanBefore(t.Context(), call(1).ActionDigest); err != nil || runs.Count != 1 || runs.LastStatus != journal.OK {
		t.Errorf("%+v, %v", runs, err)
	}
}

// TestRepinWithoutADatabase leaves nothing behind.
func TestRepinWithoutADatabase(t *testing.T) {
	w := story(t)
	head := journal.Head{Size: 8, From: "the vault"}
	must(t, os.Remove(filepath.Join(w.dir, "journal.db")))
	must(t, os.Remove(filepath.Join(w.dir, "journal.pin")))
	_, err := journal.Repin(t.Context(), w.config(), []journal.Head{head})
	wantErr(t, err, journal.ErrMissing)
	if _, err := os.Lstat(filepath.Join(w.dir, "journal.pin")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a pin of nothing was made: %v", err)
	}
}

// TestProofOfOneEntryTwice: each entry of an export stands there once, in order.
func TestProofOfOneEntryTwice(t *testing.T) {
	w := story(t)
	x, err := w.reader(t).Export(t.Context(), call(2).ActivityID)
	must(t, err)
	for name, entries := range map[string][]journal.ProvedEntry{
		"twice":         {x.Entries[0], x.Entries[0], x.Entries[1]},
		"outcome twice": {x.Entries[0], x.Entries[1], x.Entries[1]},
	} {
		again := x
		again.Entries = entries
		file, err := json.Marshal(again)
		must(t, err)
		_, _, err = journal.VerifyProof(file, x.Key)
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		wantErr(t, err, journal.ErrTampered)
	}
}

// TestRedactedBySQL: what was taken out is NULL, whether it had a column or not.
func TestRedactedBySQL(t *testing.T) {
	w, j := grave(t)
	_, err := j.Redact(t.Context(), journal.Redaction{ID: call(2).ActivityID, Fields: []string{"raw_args", "downstream_target"}, Reason: "x"})
	must(t, err)
	var got []byte
	must(t, w.reader(t).SQL(t.Context(), "SELECT raw_args IS NULL, downstream_target IS NULL FROM activity WHERE seq = 5", func(_ []string, row []driver.Value) error {
		got = fmt.Append(got, row)
		return nil
	}))
	if !bytes.Equal(got, []byte("[][1 1]")) {
		t.Errorf("got %s", got)
	}
}
