package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var homeFiles = []string{"vault.age", "identity.age", "journal.db", "journal.pin", "journal.pub"}

// A wrong passphrase: exit code 3, one sentence, nothing changed.
func TestWrongPassphrase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wrong := w.file("wrong", w.canary("a wrong passphrase", "nearly the "+random())+"\n")
	before := w.snapshot(homeFiles...)
	for _, command := range [][]string{
		{"serve"}, {"credential", "list"}, {"credential", "rotate", "api", "--from-file", w.pass}, {"host", "list"},
		{"credential", "add", "api", "--type", "bearer", "--target", "https://a.example/", "--from-file", w.pass},
	} {
		r := w.fails(3, []string{"wrong passphrase"}, append(command, "--passphrase-file", wrong)...)
		if strings.Count(r.errors, "executor: ") != 1 || r.out != "" {
			t.Errorf("%v says more than one sentence:\n%s%s", command, r.out, r.errors)
		}
	}
	typed := w.onTerminal("serve", "serve")
	typed.hidden("Passphrase of the vault: ", "mistyped")
	if code := typed.exit(patience); code != 3 {
		t.Errorf("serve: exit code %d", code)
	}
	if !equal(before, w.snapshot(homeFiles...)) {
		t.Error("something changed")
	}
	w.fails(1, nil, "serve", "--passphrase-file", filepath.Join(w.dir, "nosuch"))
	w.fails(2, []string{"no terminal"}, "serve")
}

// A vault that is cut, altered, older than the journal knows, or missing loads
// nothing and is not rewritten.
func TestDamagedVault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.home, "vault.age")
	w.credential("one", "--type", "bearer", "--target", "https://one.example/")
	older := w.read(path)
	w.credential("two", "--type", "bearer", "--target", "https://two.example/")
	good := w.read(path)
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	other := newWorld(t)
	foreign := other.read(filepath.Join(other.home, "vault.age"))
	for name, c := range map[string]struct {
		content []byte
		code    int
		word    string
	}{
		"cut":      {good[:len(good)/2], 10, "damaged"},
		"empty":    {nil, 10, "damaged"},
		"appended": {append(bytes.Clone(good), 'x'), 10, "damaged"},
		"altered":  {flipped, 10, "damaged"},
		"foreign":  {foreign, 10, "damaged"},
		"older":    {older, 10, "rolled back"},
	} {
		w.write(path, c.content)
		before := w.snapshot(homeFiles...)
		for _, command := range [][]string{{"serve"}, {"credential", "list"}, {"credential", "add", "new", "--type", "bearer", "--target", "https://new.example/", "--from-file", w.pass}} {
			r := w.run(w.unlocking(command...)...)
			if r.code != c.code || !strings.Contains(r.errors, c.word) {
				t.Errorf("%s vault, %v: %+v, want code %d and %q", name, command, r, c.code, c.word)
			}
		}
		if !equal(before, w.snapshot(homeFiles...)) {
			t.Errorf("%s vault: something was written", name)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"serve"}, {"credential", "list"}} {
		w.fails(1, []string{"vault.age", "missing"}, w.unlocking(command...)...)
	}
	w.absent(path)
	w.write(path, good)
	if out := w.ok(w.unlocking("credential", "list")...); !strings.Contains(out, "two") {
		t.Errorf("the vault put back: %s", out)
	}
}

// A vault that is damaged under a running serve is not taken, and says so.
func TestVaultDamagedUnderServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/v1")
	screen.answers("y")
	c.succeeds()
	path := filepath.Join(w.home, "vault.age")
	good := w.read(path)
	w.write(path, good[:len(good)-20])
	w.fails(10, []string{"damaged"}, w.unlocking("credential", "remove", "api", "--yes")...)
	a.get(web.URL + "/v1").succeeds() // what was loaded still holds
	w.write(path, good)
	w.ok(w.unlocking("credential", "remove", "api", "--yes")...)
	a.begin("http_request", args{"method": "GET", "url": web.URL + "/v1", "credential": "api"}).refused("CREDENTIAL_NOT_BOUND")
}

func (w *world) read(path string) []byte {
	w.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func (w *world) write(path string, b []byte) {
	w.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		w.Fatal(err)
	}
}

// Two serves on one home: the second says so and harms nothing.
func TestTwoServes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service()
	a := w.agent()
	w.fails(1, []string{"another executor serve is running"}, w.unlocking("serve")...)
	a.begin("list_targets", args{}).succeeds()
	w.ok("status")
	w.agent().begin("list_targets", args{}).succeeds()
}

// Modes that are too wide are refused with the command that mends them.
func TestWideModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, mode := range map[string]os.FileMode{"": 0o755, "vault.age": 0o640, "identity.age": 0o604, "journal.db": 0o644, "journal.pin": 0o660} {
		path := filepath.Join(w.home, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		w.chmod(path, mode)
		for _, command := range [][]string{{"serve"}, {"credential", "list"}} {
			r := w.fails(1, []string{"mode", "chmod "}, w.unlocking(command...)...)
			_, mend, _ := strings.Cut(r.errors, "mend it with: ")
			mend, _, _ = strings.Cut(mend, "\n")
			if command[0] == "serve" {
				continue
			}
			if out, err := exec.Command("sh", "-c", mend).CombinedOutput(); err != nil {
				t.Errorf("%q: the command does not mend it: %v %s", mend, err, out)
			}
		}
		if got, err := os.Stat(path); err != nil || got.Mode() != info.Mode() {
			t.Errorf("%s: mode %v after the command, want %v", name, got.Mode(), info.Mode())
		}
		w.ok(w.unlocking("credential", "list")...)
	}
}

// A socket path that the kernel cannot take is said to be that.
func TestSocketPathTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	short := w.home
	w.home = filepath.Join(w.dir, strings.Repeat("long/", 25)+"home")
	w.fails(1, []string{"socket path is too long", "--home"}, w.unlocking("init")...)
	w.absent(filepath.Join(w.dir, "long"))
	if err := os.MkdirAll(filepath.Dir(w.home), 0o700); err != nil {
		t.Fatal(err)
	}
	w.rename(short, w.home)
	for _, command := range [][]string{w.unlocking("serve"), {"mcp"}, {"status"}, {"lock"}} {
		if r := w.fails(1, []string{"socket path is too long", "--home"}, command...); r.out != "" && command[0] != "serve" {
			t.Errorf("%v: stdout: %s", command, r.out)
		}
	}
	w.credential("api", "--type", "bearer", "--target", "https://api.example/")
	w.verified()
}

// The journal cannot be written: nothing runs, and approval is not asked for (JRN-01).
func TestJournalNotWritable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	post := args{"method": "POST", "url": web.URL + "/v1", "body": "x"}
	db, away := filepath.Join(w.home, "journal.db"), filepath.Join(w.dir, "journal.db")
	refusals := func(how string) {
		t.Helper()
		elapsed(t, 5*time.Second, how, func() {
			a.begin("http_request", post).refused("JOURNAL_UNAVAILABLE", "journal unavailable, action not run")
			a.ssh("box", "true").refused("JOURNAL_UNAVAILABLE", "journal unavailable, action not run")
		})
		screen.quiet()
		if len(web.requests()) != 0 || box.logins() != 0 {
			t.Errorf("%s: something ran", how)
		}
	}
	w.rename(db, away)
	refusals("the file is gone")
	if err := os.Mkdir(db, 0o700); err != nil {
		t.Fatal(err)
	}
	refusals("a directory stands in its place")
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	w.write(db, w.read(away))
	refusals("another file stands in its place")
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	w.rename(away, db)
	c := a.begin("http_request", post)
	screen.answers("y")
	c.succeeds()
	if len(web.requests()) != 1 {
		t.Errorf("%d requests", len(web.requests()))
	}
	w.verified()
}

// The journal fails between the question and the yes: the yes runs nothing.
func TestJournalLostWhilePending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": "x"})
	_, id := screen.reads()
	db := filepath.Join(w.home, "journal.db")
	w.rename(db, db+".away")
	screen.types("y\n")
	screen.expect("** " + id)
	c.refused("JOURNAL_UNAVAILABLE")
	w.rename(db+".away", db)
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Killed in the middle of an action: unknown after the next start, never repeated.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/slow?ms=60000")
	screen.answers("y")
	poll(t, "the request", func() bool { return len(web.requests()) == 1 })
	if got := w.last(); got.Outcome.Status != "running" {
		t.Errorf("while it runs: %+v", got.Outcome)
	}
	screen.signal(unix.SIGKILL)
	screen.exit(patience)
	if code := a.exit(5 * time.Second); code == 0 || !c.open() {
		t.Errorf("mcp after the daemon was killed: exit code %d", code)
	}
	if r := w.run("journal", "verify"); r.code != 0 {
		t.Errorf("verify after a crash: %+v", r)
	}
	_, out := w.service()
	if !strings.Contains(out.String(), "unknown") {
		t.Errorf("serve does not say what it found: %s", out)
	}
	if got := w.last(); got.Outcome.Status != "unknown" {
		t.Errorf("after the next start: %+v", got.Outcome)
	}
	if out := w.ok("journal", "query", "sessions", "-o", "json"); strings.Count(out, `"close_reason": "recovered after a crash"`) != 1 {
		t.Errorf("the session that was lost is not closed: %s", out)
	}
	if out := w.ok(w.unlocking("credential", "list")...); !strings.Contains(out, "api") {
		t.Errorf("the credential is lost: %s", out)
	}
	if n := len(web.requests()); n != 1 {
		t.Errorf("%d requests: it was repeated", n)
	}
	w.verified()
}

// SIGTERM drains: a call in flight is answered, one that waits is refused, new
// ones are not taken.
func TestDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/slow?ms=1500")
	screen.answers("y")
	poll(t, "the request", func() bool { return len(web.requests()) == 1 })
	waiting := a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": "x"})
	_, id := screen.reads()
	screen.signal(unix.SIGTERM)
	screen.expect("** " + id + ": executor is shutting down, nothing was run")
	if r := c.succeeds(); r.Fields["body"] != "done" {
		t.Errorf("the call in flight: %v", r.Fields)
	}
	waiting.refused("DRAINING", "retry_later")
	if code := screen.exit(patience); code != 0 {
		t.Errorf("serve: exit code %d", code)
	}
	a.exit(5 * time.Second)
	if mode, err := screen.mode(); err == nil && mode.Lflag&unix.ECHO == 0 {
		t.Error("the terminal's mode was not put back")
	}
	all := w.activities()
	if len(all) != 2 || all[0].Outcome.Status != "ok" || all[1].Outcome.Status != "refused" && all[1].Outcome.Status != "cancelled" {
		t.Errorf("journal: %+v", all)
	}
	type session struct {
		Closed      *time.Time
		CloseReason string `json:"close_reason"`
	}
	if s := jsonOf[[]session](w, "journal", "query", "sessions"); len(s) != 1 || s[0].Closed == nil {
		t.Errorf("sessions: %+v", s)
	}
	if n := len(web.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	w.verified()
}
