package e2e_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // a stray shell on the journal's database
)

// Killed at any moment of an add: the old entries are there, and only whole new
// ones (VLT-01).
func TestKilledWhileAdding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		w.credential(fmt.Sprintf("old-%d", i), "--type", "bearer", "--target", "https://old.example/")
	}
	secret := w.file("secret", w.canary("the added", random()))
	stored := map[string]bool{}
	longest := 400 * time.Millisecond
	for i := range 25 {
		name := fmt.Sprintf("new-%d", i)
		cmd := exec.Command(binary, w.unlocking("credential", "add", name, "--type", "bearer", "--target", "https://new.example/", "--from-file", secret)...)
		cmd.Env = w.operator()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(rand.N(longest), func() { _ = cmd.Process.Kill() })
		stored[name] = cmd.Wait() == nil
		stop.Stop()
	}
	type info struct {
		Name    string
		Targets []string
	}
	held := map[string]bool{}
	for _, c := range jsonOf[[]info](w, w.unlocking("credential", "list")...) {
		held[c.Name] = len(c.Targets) == 1
	}
	for i := range 3 {
		if !held[fmt.Sprintf("old-%d", i)] {
			t.Errorf("old-%d is lost", i)
		}
	}
	succeeded := 0
	for name, ok := range stored {
		if ok {
			succeeded++
		}
		if ok && !held[name] {
			t.Errorf("%s was reported as stored and is not there", name)
		}
	}
	t.Logf("%d of 25 adds came to their end, %d entries are held", succeeded, len(held))
	files, err := os.ReadDir(w.home)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, mode %v", f.Name(), err, info.Mode())
		}
	}
	w.verified()
}

// A home that cannot be written: a message, and the old vault as it was (VLT-01).
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.credential("old", "--type", "bearer", "--target", "https://old.example/")
	before := w.snapshot("vault.age", "identity.age")
	// Root writes in spite of modes, so the disk is full instead: no file may grow.
	add := fmt.Sprintf("ulimit -f 0; trap '' XFSZ; exec %s credential add new --type bearer --target https://new.example/ --from-file %s --passphrase-file %s", binary, w.pass, w.pass)
	cmd := exec.Command("sh", "-c", add)
	cmd.Env = w.operator()
	out, err := cmd.CombinedOutput()
	w.log.Write(out)
	if err == nil || len(out) == 0 {
		t.Errorf("an add without room: %v, %s", err, out)
	}
	if !equal(before, w.snapshot("vault.age", "identity.age")) {
		t.Error("the vault changed")
	}
	if list := w.ok(w.unlocking("credential", "list")...); !strings.Contains(list, "old") || strings.Contains(list, "new") {
		t.Errorf("list: %s", list)
	}
	w.verified()
}

// Writers at once: as many entries as successes, and what was removed stays so (VLT-02).
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/v1")
	screen.answers("y")
	c.succeeds()
	secret := w.file("secret", w.canary("the added", random()))
	const each = 6
	var wg sync.WaitGroup
	var mu sync.Mutex
	stored := map[string]bool{}
	for _, writer := range []string{"left", "right"} {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprintf("%s-%d", writer, i)
				r := w.run(w.unlocking("credential", "add", name, "--type", "bearer", "--target", "https://x.example/", "--from-file", secret)...)
				if r.code != 0 && !strings.Contains(r.errors, "try again") {
					t.Errorf("add %s: %+v", name, r)
				}
				mu.Lock()
				stored[name] = r.code == 0
				mu.Unlock()
				if i == 2 && r.code == 0 {
					w.ok(w.unlocking("credential", "remove", name, "--yes")...)
					mu.Lock()
					stored[name] = false
					mu.Unlock()
				}
			}
		})
	}
	for range 10 {
		a.get(web.URL + "/v1").succeeds()
	}
	wg.Wait()
	type info struct{ Name string }
	held := map[string]bool{}
	for _, c := range jsonOf[[]info](w, w.unlocking("credential", "list")...) {
		held[c.Name] = true
	}
	for name, ok := range stored {
		if held[name] != ok {
			t.Errorf("%s: stored %v, held %v", name, ok, held[name])
		}
	}
	w.verified()
}

// Four agents, a reader in a loop and a shell that holds the database: every call
// has its rows (JRN-02).
func TestWritersOfTheJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service()
	const agents, calls = 4, 25
	done := make(chan struct{})
	var wg, readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				w.ok("journal", "query", "-n", "5")
			}
		}
	})
	for range agents {
		wg.Go(func() {
			a := w.agent()
			for range calls {
				a.begin("list_targets", args{}).succeeds()
			}
		})
	}
	w.holdDatabase(2 * time.Second)
	w.credential("meanwhile", "--type", "bearer", "--target", "https://x.example/") // a second process that appends
	wg.Wait()
	close(done)
	readers.Wait()
	all := w.activities()
	if len(all) != agents*calls {
		t.Errorf("%d activities, want %d", len(all), agents*calls)
	}
	for _, x := range all {
		if x.Outcome.Status != "ok" {
			t.Errorf("activity %d: %+v", x.Seq, x.Outcome)
		}
	}
	w.verified()
}

// holdDatabase holds the write lock as a stray sqlite3 shell would.
func (w *world) holdDatabase(d time.Duration) {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.home, "journal.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		w.Fatal(err)
	}
	time.Sleep(d)
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		w.Fatal(err)
	}
}

// Signals end what waits for a passphrase, without a trace.
func TestInterruptAtThePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.snapshot(homeFiles...)
	p := w.onTerminal("serve", "serve")
	p.expect("Passphrase of the vault: ")
	poll(t, "echo off", func() bool { return !p.echoes() })
	p.types("\x03") // Ctrl-C
	if code := p.exit(patience); code == 0 {
		t.Error("exit code 0")
	}
	if mode, err := p.mode(); err == nil && mode.Lflag&unix.ECHO == 0 {
		t.Error("the terminal was left without echo")
	}
	if !equal(before, w.snapshot(homeFiles...)) {
		t.Error("something changed")
	}
}
