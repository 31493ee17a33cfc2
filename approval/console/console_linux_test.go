package console_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"executor/approval"
	"executor/approval/console"
	"executor/internal/action"
	"executor/internal/secret"
)

var sizes = []struct{ cols, rows int }{{80, 24}, {30, 10}, {200, 50}}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		typed  string
		want   error
		reason string
		grants int
	}{
		{"y\r", nil, "", 0},
		{"e\n", nil, "", 1},
		{"n\n", approval.ErrDenied, "", 0},
		{"n not today\n", approval.ErrDenied, "not today", 0},
		{"yx\x7f\n", nil, "", 0},
		{"nonsense\x15y\n", nil, "", 0},
		{"\x1b[A\x1b[6~y\n", nil, "", 0},
	} {
		t.Run(fmt.Sprintf("%q", c.typed), func(t *testing.T) {
			b := newBench(t, 80, 24, nil)
			call := b.ask(request("uptime"))
			b.pages()
			b.types(c.typed)
			got := b.got(call)
			if !errors.Is(got.err, c.want) || got.Reason != c.reason || got.Basis != approval.BasisAsked {
				t.Errorf("got %+v", got)
			}
			if n := len(b.desk.Grants()); n != c.grants {
				t.Errorf("%d grants, want %d", n, c.grants)
			}
			b.until("** ")
		})
	}
}

func TestOnlyAWholeExactLineIsAnAnswer(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	call := b.ask(request("uptime"))
	b.pages()
	for _, typed := range []string{"yes\n", "Y\n", "y \n", "yy\n", "n\x00x\n", "\n", "nope\n", "y\xff\n", "{}\n", "\x04\n", " \n", strings.Repeat("y", 2000) + "\n"} {
		b.types(typed)
		b.until("answer")
		b.prompt()
		b.waits(call)
	}
	b.types("y\n")
	if got := b.got(call); got.err != nil {
		t.Errorf("got %+v", got)
	}
}

// APR-01: escape codes in a request erase the real command and paint another.
func TestEscapeCodesShowAsText(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	for command, want := range map[string][]string{
		"touch ./case-APR-01-ran #\x1b[2K\r\x1b[1A\x1b[2K$ uptime   (read only, safe)\x1b[8m": {
			`touch ./case-APR-01-ran #\x1b[2K\r\x1b[1A\x1b[2K$ uptime`, "control characters"},
		"uptime\b\b\b\b\b\bdf -h \x9b31m":                  {`uptime\x08\x08\x08\x08\x08\x08df -h \x9b31m`, "control characters"},
		"uptime\r\nExecutor: approved by operator [y]\n> ": {`  | uptime\r`, "  | Executor: approved by operator [y]", "3 lines", "control character"},
		"x\u202Etxt.exe\u200b":                             {`x\u202etxt.exe\u200b`, "reverses the order", "invisible"},
	} {
		b.forget()
		call := b.ask(request(command))
		b.pages()
		text := b.rendered()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q: no %q on the screen:\n%s", command, w, text)
			}
		}
		cleanBytes(t, b.written())
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "Executor") || strings.HasPrefix(line, "$ ") {
				t.Errorf("the request wrote a line of its own: %q", line)
			}
		}
		b.types("n\n")
		b.got(call)
		b.until("** ")
	}
}

// APR-02: the end is on the screen when the answer is taken.
func TestTheEndWasShown(t *testing.T) {
	var long strings.Builder
	for i := range 400 {
		fmt.Fprintf(&long, "echo step-%03d ok && ", i)
	}
	long.WriteString("touch ./case-APR-02-ran")
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			b := newBench(t, size.cols, size.rows, nil)
			call := b.ask(request(long.String()))
			first := b.prompt()
			if strings.Contains(first, "Space: next") {
				b.types("y\n")
				b.until("read it to the end")
				b.prompt()
				b.waits(call)
			}
			pages := b.pages()
			last := pages[len(pages)-1]
			whole := strings.Join(strings.Fields(ungutter(strings.Join(pages, "\n"))), "")
			for _, want := range []string{fmt.Sprintf("%dcharacters", long.Len()), "step-000ok&&echostep-001", "step-200", "touch./case-APR-02-ran"} {
				if !strings.Contains(whole, want) {
					t.Errorf("%q is on no page", want)
				}
			}
			if !strings.Contains(last, "nothing") {
				t.Errorf("the end is not on the last page:\n%s", last)
			}
			b.types("y\n")
			if got := b.got(call); got.err != nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Every page fits the window: what is on it is all on the screen at once.
func TestAPageFitsTheWindow(t *testing.T) {
	for _, size := range sizes {
		b := newBench(t, size.cols, size.rows, nil)
		r := request(strings.Repeat("a long line that wraps, ", 100))
		r.Level, r.Scope = action.Session, &approval.Scope{Key: "k", Text: "everything under https://api.example.com/v1/"}
		b.ask(r)
		for i, page := range b.pages() {
			if !strings.Contains(page, "== ") || !strings.Contains(strings.TrimRight(page, " \n"), ">") {
				t.Errorf("%v: page %d does not show its head and its prompt:\n%s", size, i+1, page)
			}
		}
	}
}

// The answers stand on one page, whatever stands before them.
func TestTheAnswersStandTogether(t *testing.T) {
	for n := range 24 {
		b := newBench(t, 80, 24, nil)
		b.ask(request(strings.Repeat("a line\n", n)))
		pages := b.pages()
		last := pages[len(pages)-1]
		last = last[strings.LastIndex(last, "== "):] // what is above it is the page before
		for _, want := range []string{"Your answer", "y: yes", "n, n REASON", "nothing is run"} {
			if !strings.Contains(last, want) {
				t.Errorf("behind %d lines %q is not on the last page:\n%s", n, want, last)
			}
		}
		b.end()
	}
}

func TestTypeAheadIsThrownAway(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	for range 20 {
		b.types("y\n")
		b.until("no request is waiting")
	}
	b.types("y")
	call := b.ask(request("uptime"))
	b.prompt()
	b.types("\n") // ends a line whose y was typed before
	b.until("an answer is a line")
	b.prompt()
	b.waits(call)
	b.types("n\n")
	b.got(call)
	b.until("** ")
	b.forget()
	two := b.ask(request(strings.Repeat("x ", 700)))
	b.until("page 1 of 2")
	b.prompt()
	b.types(" y\n") // only the space is younger than the page it is typed at
	b.until("page 2 of 2")
	b.prompt()
	b.types("z\n")
	b.until("no answer")
	b.prompt()
	b.waits(two)
}

// What is typed while the passphrase is checked waits in the kernel, and is
// thrown away there.
func TestTypedWhileThePassphraseIsChecked(t *testing.T) {
	checking, typed := make(chan bool), make(chan bool)
	b := newBench(t, 80, 24, func(o *console.Options, _ *approval.Config) {
		o.Passphrase = func(*secret.Secret) error {
			checking <- true
			<-typed
			return errors.New("wrong passphrase")
		}
	})
	r := request("reboot")
	r.Level = action.Presence
	call := b.ask(r)
	b.pages()
	b.types("y\n")
	b.until("passphrase> ")
	b.types("guess\n")
	<-checking
	b.poll("the reader holds some keys and the kernel the rest", func() bool {
		b.types("y\n")
		time.Sleep(5 * time.Millisecond)
		return b.unread() >= 4
	})
	close(typed)
	b.until("wrong passphrase")
	b.prompt()
	b.types("z\n")
	b.until("no answer")
	b.prompt()
	if strings.Contains(b.written(), "passphrase>") {
		t.Error("a y that was typed before the prompt counted")
	}
	b.waits(call)
}

// APR-04: one prompt after the other, each with its id; the answers go where they belong.
func TestTwoAtOnce(t *testing.T) {
	for _, answers := range [][2]string{{"n\n", "y\n"}, {"y\n", "n\n"}} {
		b := newBench(t, 80, 24, nil)
		calls := [2]<-chan reply{}
		for i, what := range []string{"touch first", "touch second"} {
			calls[i] = b.ask(request(what))
			b.poll("queued", func() bool { return len(b.desk.Queue().Open) == i+1 })
		}
		b.prompt()
		if text := b.rendered(); strings.Contains(text, "touch second") {
			t.Errorf("both are on the screen:\n%s", text)
		}
		b.types(answers[0])
		first := b.got(calls[0])
		b.until("touch second")
		b.prompt()
		b.types(answers[1])
		second := b.got(calls[1])
		if (first.err == nil) != (answers[0] == "y\n") || (second.err == nil) != (answers[1] == "y\n") || first.ApprovalID == second.ApprovalID {
			t.Errorf("%q: first %+v, second %+v", answers, first, second)
		}
	}
}

// A request goes away while its answer is half typed: the rest of it does not
// approve the next one.
func TestAnAnswerThatWasBegunForAnother(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	first := b.ask(request("first"))
	b.prompt()
	second := b.ask(request("second"))
	b.poll("queued", func() bool { return len(b.desk.Queue().Open) == 2 })
	b.types("y")
	b.until("y")
	other, err := b.desk.Attach(approval.Attachment{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := other.Next(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	other.Shown(b.ctx, e.ID)
	if err := other.Answer(b.ctx, approval.Answer{ID: e.ID, Digest: e.Prompt.Digest, Verdict: approval.No}); err != nil {
		t.Fatal(err)
	}
	b.got(first)
	b.until("command: second")
	b.prompt()
	b.types("y\n")
	b.until("another request")
	b.prompt()
	b.waits(second)
	b.types("y\n")
	if got := b.got(second); got.err != nil {
		t.Errorf("got %+v", got)
	}
}

// APR-06: a late yes runs nothing and says so.
func TestALateYes(t *testing.T) {
	b := newBench(t, 80, 24, func(_ *console.Options, c *approval.Config) { c.Limit = 300 * time.Millisecond })
	call := b.ask(request("uptime"))
	if got := b.got(call); !errors.Is(got.err, approval.ErrExpired) {
		t.Errorf("got %+v", got)
	}
	b.until("expired, nothing was run")
	b.until("away")
	b.types("y\n")
	b.until("expired, nothing was run")
	b.poll("awake", func() bool { return !b.desk.Queue().Away })
}

func TestPresenceAsksForThePassphrase(t *testing.T) {
	asked := 0
	b := newBench(t, 80, 24, func(o *console.Options, _ *approval.Config) {
		o.Passphrase = func(s *secret.Secret) error {
			asked++
			return s.Use(func(p []byte) error {
				if string(p) != "open sesame" {
					return errors.New("wrong passphrase")
				}
				return nil
			})
		}
	})
	r := request("reboot")
	r.Level = action.Presence
	call := b.ask(r)
	b.pages()
	b.types("e\n")
	b.until("no answer")
	b.prompt()
	for typed, want := range map[string]string{"wrong\n": "wrong passphrase", "\n": "no passphrase"} {
		b.types("y\n")
		b.until("passphrase> ")
		b.types(typed)
		b.until(want)
		b.prompt()
		b.waits(call)
	}
	b.types("y\n")
	b.until("passphrase> ")
	b.types("open sesame\n")
	if got := b.got(call); got.err != nil || got.Level != action.Presence {
		t.Errorf("got %+v", got)
	}
	b.until("allowed")
	if strings.Contains(b.written(), "sesame") || asked != 2 {
		t.Errorf("asked %d times, written:\n%s", asked, b.written())
	}
}

func TestPresenceWithoutACheckIsOnlyDenied(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	r := request("reboot")
	r.Level = action.Presence
	call := b.ask(r)
	b.pages()
	b.types("y\n")
	b.until("no passphrase can be checked here")
	b.prompt()
	b.waits(call)
	b.types("n\n")
	if got := b.got(call); !errors.Is(got.err, approval.ErrDenied) {
		t.Errorf("got %+v", got)
	}
}

func TestBlockAsksOnceMore(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	call := b.ask(request("uptime"))
	b.pages()
	b.types("b\n")
	b.until("b again")
	b.types("y\n")
	b.until("not blocked")
	b.prompt()
	b.waits(call)
	b.types("b\n")
	b.until("b again")
	b.types("b\n")
	if got := b.got(call); !errors.Is(got.err, approval.ErrDenied) || !b.desk.Blocked("s1") {
		t.Errorf("got %+v", got)
	}
}

// A person is called by this program's own words: nothing of the request but its
// id leaves the screen's plain lines.
func TestBellAndNote(t *testing.T) {
	for name, c := range map[string]struct {
		bell, note bool
		want       string
	}{
		"neither": {false, false, ""}, "bell": {true, false, "\a"},
		"note": {false, true, "\x1b]9;executor: approval ID is waiting\a"},
		"both": {true, true, "\a\x1b]9;executor: approval ID is waiting\a"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 80, 24, func(o *console.Options, _ *approval.Config) { o.Bell, o.Note = c.bell, c.note })
			r := request("uptime \x1b]9;pwned\a")
			r.Tool = "tool\x1b]9;pwned\a"
			b.ask(r)
			b.prompt()
			id := b.desk.Queue().Open[0].ID
			out := b.written()
			if got, _, _ := strings.Cut(out[strings.Index(out, "appear here")+len("appear here"):], "=="); strings.Trim(got, "\r\n") != strings.ReplaceAll(c.want, "ID", id) {
				t.Errorf("before the request: %q", got)
			}
			if n := strings.Count(out, "\x1b"); n != strings.Count(c.want, "\x1b") {
				t.Errorf("%d escape characters: %q", n, out)
			}
		})
	}
}

func TestTheScreenSaysWhatABlockEnds(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	var calls []<-chan reply
	for i := range 12 {
		r := request(fmt.Sprint("flood ", i))
		r.SessionID, r.Client = fmt.Sprint("s", i%3), "flooder"
		calls = append(calls, b.ask(r))
		b.poll("queued", func() bool { return len(b.desk.Queue().Open) == i+1 })
	}
	b.pages()
	b.forget()
	b.types("n\n")
	b.until("== ")
	b.pages()
	if text := strings.Join(strings.Fields(b.rendered()), " "); !strings.Contains(text, "b: block the session and 2 more of this client") {
		t.Errorf("the screen:\n%s", b.rendered())
	}
	b.types("b\n")
	b.until("b again")
	b.types("b\n")
	for _, c := range calls {
		if got := b.got(c); !errors.Is(got.err, approval.ErrDenied) {
			t.Errorf("%+v", got)
		}
	}
}

func TestASessionYesSaysWhatItCovers(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	r := request("/v1/me")
	r.Level, r.Scope = action.Session, &approval.Scope{Key: "k", Text: "GET, HEAD, OPTIONS under https://api.example.com/v1/ with api version 3"}
	call := b.ask(r)
	b.pages()
	if text := b.rendered(); !strings.Contains(text, "  | GET, HEAD, OPTIONS under https://api.example.com/v1/ with api version 3") {
		t.Errorf("the scope is not on the screen:\n%s", text)
	}
	b.types("y\n")
	b.got(call)
	if g := b.desk.Grants(); len(g) != 1 || g[0].Scope != r.Scope.Text {
		t.Errorf("grants %+v", g)
	}
}

// A resized window starts again, and the end must be shown again.
func TestResize(t *testing.T) {
	type size struct{ cols, rows int }
	for _, c := range []struct {
		from, to size
		signal   bool
	}{
		{size{200, 50}, size{40, 12}, true}, {size{200, 50}, size{40, 12}, false}, {size{40, 12}, size{60, 24}, true}, {size{40, 12}, size{60, 24}, false},
	} {
		b := newBench(t, c.from.cols, c.from.rows, nil)
		call := b.ask(request(strings.Repeat("long ", 250)))
		b.pages()
		b.forget()
		b.size(t, c.to.cols, c.to.rows)
		if c.signal {
			b.resized <- unix.SIGWINCH
		} else {
			b.types("y\n")
		}
		b.until("the window changed")
		b.until("page 1 of")
		b.prompt()
		b.types("y\n")
		b.until("read it to the end")
		b.prompt()
		b.waits(call)
		b.pages()
		b.types("y\n")
		if got := b.got(call); got.err != nil {
			t.Errorf("got %+v", got)
		}
	}
}

func TestATinyWindowApprovesNothing(t *testing.T) {
	for _, size := range []struct{ cols, rows int }{{12, 24}, {80, 3}} {
		b := newBench(t, size.cols, size.rows, nil)
		call := b.ask(request("uptime"))
		b.prompt()
		b.types("y\n")
		b.prompt()
		b.waits(call)
		b.types("n\n")
		if got := b.got(call); !errors.Is(got.err, approval.ErrDenied) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestActivityStaysOutOfARequest(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	b.desk.Say("first line\x1b[2J")
	b.until(`first line\x1b[2J`)
	call := b.ask(request("uptime"))
	b.prompt()
	b.desk.Say("second line")
	b.types("zzz\n")
	b.until("no answer")
	b.prompt()
	if strings.Contains(b.written(), "second line") {
		t.Error("a line of activity came into the request")
	}
	b.types("y\n")
	b.got(call)
	b.until("second line")
}

func TestACallerThatLeavesAndComesBack(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	ctx, cancel := context.WithCancel(b.ctx)
	go b.desk.Ask(ctx, request("uptime"))
	b.prompt()
	b.forget()
	cancel()
	b.until("caller gone")
	b.prompt()
	b.types("y\n")
	b.until("takes no answer")
	b.prompt()
	b.forget()
	call := b.ask(request("uptime"))
	b.until("asked again")
	b.prompt()
	b.types("y\n")
	if got := b.got(call); got.err != nil {
		t.Errorf("got %+v", got)
	}
}

// APR-05 (c): the terminal hangs up while a request is open.
func TestHangup(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	call := b.ask(request("uptime"))
	b.prompt()
	start := time.Now()
	b.master.Close()
	if got := b.got(call); !errors.Is(got.err, approval.ErrNoApprover) || time.Since(start) > 5*time.Second {
		t.Errorf("after %v: %+v", time.Since(start), got)
	}
	if err := b.end(); !errors.Is(err, console.ErrHangup) {
		t.Errorf("Run: %v", err)
	}
}

// APR-42: the mode is put back, whatever was on the screen.
func TestTheModeIsPutBackAndNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("executor/approval/console_test.newScreen.func1"))
	b := newBench(t, 80, 24, nil)
	call := b.ask(request("uptime"))
	b.prompt()
	if m := b.mode(); m.Lflag&(unix.ECHO|unix.ICANON) != 0 || m.Lflag&unix.ISIG == 0 {
		t.Error("the console is not reading key by key, or signals are off")
	}
	if err := b.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
	b.got(call)
	if m := b.mode(); *m != *b.before {
		t.Errorf("mode %+v, before %+v", m, b.before)
	}
}

func TestOnceEndsAfterOneRequest(t *testing.T) {
	b := newBench(t, 80, 24, func(o *console.Options, _ *approval.Config) { o.Once = true })
	call := b.ask(request("uptime"))
	b.prompt()
	b.types("y\n")
	b.got(call)
	select {
	case err := <-b.ended:
		b.ended <- err
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Run goes on")
	}
}

func TestATwinConsoleSeesItGo(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	other, err := b.desk.Attach(approval.Attachment{Name: "console on pts/9"})
	if err != nil {
		t.Fatal(err)
	}
	b.ask(request("uptime"))
	b.prompt()
	e, err := other.Next(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	other.Shown(b.ctx, e.ID)
	b.forget()
	if err := other.Answer(b.ctx, approval.Answer{ID: e.ID, Digest: e.Prompt.Digest, Verdict: approval.Yes}); err != nil {
		t.Fatal(err)
	}
	b.until("allowed at console on pts/9")
}

// Two consoles on two terminals, one yes typed at each at the same time.
func TestTwoTerminalsAnswerAtOnce(t *testing.T) {
	b := newBench(t, 80, 24, nil)
	two := newScreen(t, 80, 24)
	seat, err := b.desk.Attach(approval.Attachment{Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := console.New(console.Options{Terminal: two.slave})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(b.ctx, seat) }()
	call := b.ask(request("uptime"))
	b.prompt()
	b.poll("the other prompt", func() bool { return strings.HasSuffix(two.written(), "> ") })
	two.forget()
	b.forget()
	go two.master.WriteString("n\n")
	go b.master.WriteString("y\n")
	got := b.got(call)
	if (got.err == nil) != (got.By == "terminal") {
		t.Errorf("got %+v", got)
	}
	b.until("** ")
	b.poll("the other's end", func() bool { return strings.Contains(two.written(), "** ") })
	b.stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, f := range []*os.File{nil, r, null} {
		if _, err := console.New(console.Options{Terminal: f}); !errors.Is(err, console.ErrNotTerminal) {
			t.Errorf("New on %v: %v", f, err)
		}
	}
}

// failing is a seat whose connection breaks.
type failing struct{ *approval.Seat }

func (failing) Next(context.Context) (approval.Event, error) {
	return approval.Event{}, io.ErrUnexpectedEOF
}

func TestABrokenSeatEndsTheConsole(t *testing.T) {
	s := newScreen(t, 80, 24)
	seat, err := approval.NewDesk(approval.Config{}).Attach(approval.Attachment{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := console.New(console.Options{Terminal: s.slave})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), failing{seat}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Run: %v", err)
	}
}
