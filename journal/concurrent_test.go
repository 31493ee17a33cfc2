package journal_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"executor/internal/secret"
	"executor/journal"
)

// childEnv makes this test binary a process that appends: its value is
// "DIR SEED FIRST COUNT CALLERS". COUNT 0 goes on until it is killed. Each line of its
// output is an activity whose intent or outcome was acknowledged.
const childEnv = "EXECUTOR_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		if err := child(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(spec string) error {
	var dir, seed string
	var first, count, callers int
	if _, err := fmt.Sscan(spec, &dir, &seed, &first, &count, &callers); err != nil {
		return err
	}
	raw, err := hex.DecodeString(seed)
	if err != nil {
		return err
	}
	w := &world{dir: dir, key: secret.New(raw), now: time.Now}
	ctx := context.Background()
	j, err := journal.Open(ctx, w.config())
	if err != nil {
		return err
	}
	fmt.Println("open")
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for c := range callers {
		wg.Go(func() {
			for i := c; (count == 0 || i < count) && errs[c] == nil; i += callers {
				errs[c] = acknowledge(ctx, j, call(first+i))
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, j.Close())...)
}

func acknowledge(ctx context.Context, j *journal.Journal, a journal.Activity) error {
	if _, err := j.Intend(ctx, a); err != nil {
		return err
	}
	fmt.Println("intent", a.ActivityID)
	o, downstream := okOutcome()
	if _, err := j.Settle(ctx, a.ActivityID, a.SessionID, o, downstream); err != nil {
		return err
	}
	fmt.Println("outcome", a.ActivityID)
	return nil
}

// start runs a child on w.
func (w *world) start(t testing.TB, first, count, callers int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd, out := w.prepare(t, first, count, callers)
	must(t, cmd.Start())
	return cmd, out
}

func (w *world) prepare(t testing.TB, first, count, callers int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	var seed string
	must(t, w.key.Use(func(b []byte) error { seed = hex.EncodeToString(b); return nil }))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d %d", childEnv, w.dir, seed, first, count, callers))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	return cmd, bufio.NewScanner(out)
}

// TestGroupCommit: concurrent callers lose nothing, get distinct seqs, and share commits.
func TestGroupCommit(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	const callers, each = 32, 10
	var mu sync.Mutex
	seqs := map[int64]string{}
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			last := int64(0)
			for i := range each {
				a := call(c*each + i)
				seq, err := j.Intend(t.Context(), a)
				if err != nil || seq <= last {
					t.Errorf("seq %d after %d, %v", seq, last, err)
					return
				}
				last = seq
				mu.Lock()
				seqs[seq] = a.ActivityID
				mu.Unlock()
				o, downstream := okOutcome()
				if _, err := j.Settle(t.Context(), a.ActivityID, a.SessionID, o, downstream); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, a := range collect(t, w.reader(t).Activities(t.Context(), journal.Filter{})) {
		if seqs[a.Seq] != a.ActivityID || a.Outcome.Status != journal.OK {
			t.Errorf("entry %d is %s (%s), was acknowledged as %q", a.Seq, a.ActivityID, a.Outcome.Status, seqs[a.Seq])
		}
		delete(seqs, a.Seq)
	}
	if len(seqs) != 0 {
		t.Errorf("%d acknowledged entries are gone", len(seqs))
	}
	report := w.mustVerify(t, journal.VerdictOK)
	if report.Size != 1+2*callers*each || report.Checkpoints >= report.Size/2 {
		t.Errorf("%d entries under %d checkpoints: commits were not shared", report.Size, report.Checkpoints)
	}
}

// TestOneBatchOneOutcome: of callers that settle one activity in one commit, one
// succeeds, and those beside them are not harmed.
func TestOneBatchOneOutcome(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	if _, err := j.Intend(t.Context(), call(1)); err != nil {
		t.Fatal(err)
	}
	unlock := w.lock(t) // whoever comes now waits for the same commit, or the next
	const callers = 20
	settled, begun := make(chan error, callers), make(chan error, callers)
	for n := range callers {
		go func() {
			o, _ := okOutcome()
			_, err := j.Settle(t.Context(), call(1).ActivityID, "session-1", o, nil)
			settled <- err
		}()
		go func() {
			_, err := j.Intend(t.Context(), call(100+n))
			begun <- err
		}()
	}
	time.Sleep(50 * time.Millisecond) // lets them gather; the test holds without it
	unlock()
	succeeded := 0
	for range callers {
		must(t, <-begun)
		if err := <-settled; err == nil {
			succeeded++
		} else {
			wantErr(t, err, journal.ErrDuplicate)
		}
	}
	if succeeded != 1 {
		t.Errorf("%d callers settled one activity", succeeded)
	}
	if report := w.mustVerify(t, journal.VerdictOK); report.Size != 3+callers || report.Checkpoints > 10 {
		t.Errorf("%d entries under %d checkpoints", report.Size, report.Checkpoints)
	}
}

// TestVerifyWhileWriting: what a writer is about to do is no finding.
func TestVerifyWhileWriting(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	var wg sync.WaitGroup
	for c := range 4 {
		wg.Go(func() {
			for n := range 60 {
				if _, err := j.Intend(t.Context(), call(c*100000+n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	last := int64(0)
	for last < 1+4*60 && !t.Failed() {
		report := w.mustVerify(t, journal.VerdictOK, journal.VerdictCrashTail)
		if report.FirstBad() != 0 || report.Size < last {
			t.Errorf("report %+v", report)
		}
		last = report.Size
	}
	wg.Wait()
	w.mustVerify(t, journal.VerdictOK)
}

// TestFourProcesses is JRN-02: four processes append 50 calls each while the log
// is read in a loop and one connection holds BEGIN IMMEDIATE for 3 s.
func TestFourProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var cmds []*exec.Cmd
	var wg sync.WaitGroup
	lines := make([]int, 4)
	for p := range 4 {
		cmd, out := w.start(t, p*100, 50, 2)
		cmds = append(cmds, cmd)
		if !out.Scan() || out.Text() != "open" {
			t.Fatalf("child %d did not open: %q", p, out.Text())
		}
		wg.Go(func() {
			for out.Scan() {
				lines[p]++
			}
		})
	}
	r := w.reader(t)
	unlock := w.lock(t)
	reads := 0
	for start := time.Now(); time.Since(start) < 3*time.Second; reads++ {
		collect(t, r.Activities(t.Context(), journal.Filter{N: 20}))
	}
	if reads < 3 { // one that had waited for the lock would have waited for all of it
		t.Errorf("%d reads in the 3 s of the lock", reads)
	}
	unlock()
	wg.Wait()
	for p, cmd := range cmds {
		if err := cmd.Wait(); err != nil || lines[p] != 100 {
			t.Errorf("process %d: %v, acknowledged %d of 100", p, err, lines[p])
		}
	}
	all := collect(t, r.Activities(t.Context(), journal.Filter{Match: journal.Match{Status: []string{journal.OK}}}))
	if len(all) != 200 {
		t.Errorf("%d activities with start and outcome, want 200", len(all))
	}
	w.mustVerify(t, journal.VerdictOK)
}

// lock takes the write lock on a connection of its own.
func (w *world) lock(t testing.TB) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "journal.db")+"?_pragma=busy_timeout(20000)")
	must(t, err)
	conn, err := db.Conn(t.Context())
	must(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	return func() {
		_, err := conn.ExecContext(t.Context(), "ROLLBACK")
		must(t, errors.Join(err, conn.Close(), db.Close()))
	}
}

// TestReadersDoNotHoldTheWriterUp: beside a reader that never lets go, and then
// beside one that follows and one that queries without a pause, appends are as
// quick as a disk is, and under those two the -wal stays small.
func TestReadersDoNotHoldTheWriterUp(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	run(t, j, call(1))
	held := w.longRead(t)
	appendSome := func(from int) (times []time.Duration) {
		for n := range 20 {
			start := time.Now()
			if _, err := j.Intend(t.Context(), call(from+n)); err != nil {
				t.Fatal(err)
			}
			times = append(times, time.Since(start))
		}
		return times
	}
	if d := median(appendSome(100)); d > 50*time.Millisecond {
		t.Errorf("an append takes %v beside a reader that holds its read", d)
	}
	must(t, held.Rollback())

	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	r, next := w.reader(t), int64(0)
	for _, read := range []func() error{
		func() (err error) { _, next, err = r.Tail(ctx, next); return err },
		func() error {
			for _, err := range r.Activities(ctx, journal.Filter{N: 5}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		w.glance(t, 8*time.Millisecond), w.glance(t, 5*time.Millisecond), w.glance(t, 3*time.Millisecond),
	} {
		readers.Go(func() {
			for ctx.Err() == nil {
				if err := read(); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var times []time.Duration
	largest := int64(0)
	big := strings.Repeat("x", 1<<20)
	for n := range 44 { // 44 MB in all, of which the -wal may keep less
		a := call(1000 + n)
		a.RawArgs = big
		if _, err := j.Intend(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if n%20 == 19 {
			times = append(times, appendSome(10000+100*n)...)
		}
		st, err := os.Stat(filepath.Join(w.dir, "journal.db-wal"))
		must(t, err)
		largest = max(largest, st.Size())
	}
	stop()
	readers.Wait()
	if d := median(times); d > 50*time.Millisecond {
		t.Errorf("an append takes %v beside our readers", d)
	}
	if largest > 32<<20 {
		t.Errorf("the -wal grew to %d bytes", largest)
	}
	t.Logf("append p50 %v, largest -wal %d bytes", median(times), largest)
}

// glance is a read that is held for a while: several at once leave the log no
// moment without a reader.
func (w *world) glance(t *testing.T, d time.Duration) func() error {
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "journal.db")+"?_pragma=busy_timeout(5000)")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		var n int
		err = tx.QueryRow(`SELECT max(seq) FROM entries`).Scan(&n)
		time.Sleep(d)
		return errors.Join(err, tx.Rollback())
	}
}

// TestLockForTooLong: a lock that outlasts the wait of 10 s refuses, leaves
// nothing behind, and the next call works.
func TestLockForTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.open(t)
	unlock := w.lock(t)
	start := time.Now()
	_, err := j.Intend(t.Context(), call(1))
	wantErr(t, err, journal.ErrBusy, journal.ErrUnavailable)
	if d := time.Since(start); d < 8*time.Second || d > 20*time.Second {
		t.Errorf("refused after %v, want about 10 s", d)
	}
	unlock()
	_, err = w.reader(t).Activity(t.Context(), call(1).ActivityID)
	wantErr(t, err, journal.ErrNotFound)
	run(t, j, call(1))
	w.mustVerify(t, journal.VerdictOK)
}

// Kills: lanes of rounds each, 160 in all.
const (
	killLanes  = 4
	killRounds = 40
)

// TestKill kills processes that append under load, again and again: nothing
// that was acknowledged is lost, and verify raises no false alarm.
func TestKill(t *testing.T) {
	t.Parallel()
	var kills, kept atomic.Int64
	t.Run("lanes", func(t *testing.T) {
		for lane := range killLanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				k := killing{w: newWorld(t), acknowledged: map[string]bool{}}
				for round := range killRounds {
					k.round(t, round)
					kills.Add(1)
				}
				k.settle(t)
				kept.Add(int64(len(k.acknowledged)))
			})
		}
	})
	if kills.Load() < 150 {
		t.Errorf("%d kills, want 150 at least", kills.Load())
	}
	t.Logf("%d acknowledgements over %d kills", kept.Load(), kills.Load())
}

// A killing is one journal whose writers die.
type killing struct {
	w            *world
	acknowledged map[string]bool
}

// round lets a process append until some of its entries are acknowledged, and
// kills it amid others.
func (k *killing) round(t *testing.T, round int) {
	cmd, out := k.w.start(t, round*100000, 0, 8)
	if !out.Scan() || out.Text() != "open" {
		t.Fatalf("round %d: the journal did not open after a kill: %q", round, out.Text())
	}
	var jitter [1]byte
	rand.Read(jitter[:])
	for range 1 + int(jitter[0])/8 {
		if !out.Scan() {
			t.Fatalf("round %d: ended by itself", round)
		}
		k.acknowledged[out.Text()] = true
	}
	must(t, cmd.Process.Kill())
	for out.Scan() {
		if what, id, ok := strings.Cut(out.Text(), " "); ok && len(id) == len(call(1).ActivityID) {
			k.acknowledged[what+" "+id] = true
		}
	}
	cmd.Wait() // it was killed
	if round%4 != 3 {
		return // the next round opens what this one left, and the log is verified then
	}
	report := k.w.mustVerify(t, journal.VerdictOK, journal.VerdictCrashTail)
	if len(report.Findings) > 1 {
		t.Fatalf("round %d: findings %+v", round, report.Findings)
	}
}

// settle looks for everything that was acknowledged.
func (k *killing) settle(t *testing.T) {
	j := k.w.open(t)
	if _, err := j.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, a := range collect(t, k.w.reader(t).Activities(t.Context(), journal.Filter{})) {
		found[a.ActivityID] = a.Outcome.Status
	}
	for line := range k.acknowledged {
		what, id, _ := strings.Cut(line, " ")
		status, ok := found[id]
		if !ok || status == journal.Running || what == "outcome" && status != journal.OK {
			t.Errorf("%s was acknowledged and reads %q", line, status)
		}
	}
	if report := k.w.mustVerify(t, journal.VerdictOK); report.Unsettled != 0 {
		t.Errorf("%d intents are unsettled after recovery", report.Unsettled)
	}
}
