package e2e_test

import (
	"strings"
	"testing"
	"time"
)

// One yes covers the reads under one binding for one session; whatever changes
// things is asked about each time.
func TestSessionYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/v1/")
	screen := w.serve()
	a := w.agent()
	first, second := a.get(web.URL+"/v1/a"), a.get(web.URL+"/v1/b")
	shown := screen.answers("y")
	if !strings.Contains(shown, "for the rest of this session") || !strings.Contains(shown, "GET, HEAD and OPTIONS under "+web.URL+"/v1/") {
		t.Errorf("the screen does not say what a yes covers:\n%s", shown)
	}
	first.succeeds()
	second.succeeds() // it waited, and the yes covers it
	a.get(web.URL + "/v1/c?page=2").succeeds()
	screen.quiet()

	for range 2 {
		c := a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1/a", "body": "same"})
		screen.answers("y")
		c.succeeds()
	}
	outside := a.get(web.URL + "/v2/a") // no binding: asked about, and refused here
	if r := outside.wait(); !r.IsError {
		t.Errorf("a loopback address without a binding was reached: %v", r.Fields)
	}
	other := w.agent()
	c := other.get(web.URL + "/v1/a")
	screen.answers("n")
	c.refused("APPROVAL_DENIED")

	type grant struct{ ID, Kind, Scope string }
	grants := jsonOf[[]grant](w, w.unlocking("approvals", "list")...)
	if len(grants) != 1 || !strings.Contains(grants[0].Scope, web.URL) {
		t.Fatalf("approvals list: %+v", grants)
	}
	w.ok(w.unlocking("approvals", "revoke", grants[0].ID)...)
	c = a.get(web.URL + "/v1/a")
	screen.answers("y")
	c.succeeds()
	w.fails(1, []string{"no grant has the id"}, w.unlocking("approvals", "revoke", "nosuch")...)
	w.verified()
}

// "e" covers exactly this action again, and nothing that is near it (APR-40).
func TestExactYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	w.ok(w.unlocking("host", "add", "twin", "--addr", box.addr, "--user", box.user, "--credential", "box-key", "--host-key", box.hostKey)...)
	screen := w.serve()
	a := w.agent()
	for range 2 { // a plain yes is for this one call
		c := a.ssh("box", "true")
		screen.answers("y")
		c.succeeds()
	}
	c := a.ssh("box", "true")
	screen.answers("e")
	c.succeeds()
	a.ssh("box", "true").succeeds()
	screen.quiet()
	ran := w.drop() + "/case-APR-40-ran"
	for _, near := range []string{"true; touch " + ran, "true && touch " + ran, "true\ntouch " + ran, "true $(touch " + ran + ")", "true "} {
		c := a.ssh("box", near)
		screen.answers("n")
		c.refused("APPROVAL_DENIED")
	}
	c = a.ssh("twin", "true")
	screen.answers("n")
	c.refused("APPROVAL_DENIED")
	c = w.agent().ssh("box", "true")
	screen.answers("n")
	c.refused("APPROVAL_DENIED")
	w.absent(ran)
}

// A reason reaches the agent, and the same is then refused without asking.
func TestDenyWithReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	post := args{"method": "POST", "url": web.URL + "/v1", "body": "x"}
	c := a.begin("http_request", post)
	screen.answers("n use the staging API instead")
	c.refused("APPROVAL_DENIED", "use the staging API instead", "do_not_retry")
	a.begin("http_request", post).refused("APPROVAL_DENIED", "use the staging API instead")
	screen.quiet()
	got := w.activities("--status", "refused")
	if len(got) != 2 || got[0].Decision.Result != "denied" || got[0].Decision.By == "" {
		t.Errorf("journal: %+v", got)
	}
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	c = a.begin("http_request", args{"method": "DELETE", "url": web.URL + "/v1"})
	_, id := screen.reads()
	screen.types("b\n")
	screen.expect("blocks the session> ")
	screen.types("b\n")
	screen.expect("** " + id + ": denied, the session is blocked")
	c.refused("APPROVAL_DENIED")
	a.begin("list_targets", args{}).refused("APPROVAL_DENIED", "blocked")
}

// Two consoles show one request, and one answer counts.
func TestTwoConsoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen, second := w.serve(), w.approve()
	a := w.agent()
	post := func(body string) pending {
		return a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": body})
	}
	c := post("one")
	_, id := screen.reads()
	if _, other := second.reads(); other != id {
		t.Errorf("ids differ: %s and %s", id, other)
	}
	second.types("y\n")
	second.expect("** " + id + ": allowed")
	screen.expect("** " + id + ": allowed at ")
	c.succeeds()
	screen.types("y\n")
	screen.expect(id + " allowed at ") // too late, and told so
	if n := len(web.requests()); n != 1 {
		t.Errorf("%d requests for one answer", n)
	}
	if by := w.last().Decision.By; !strings.Contains(by, "pts/") {
		t.Errorf("answered by %q", by)
	}

	c = post("two") // both at once
	_, id = screen.reads()
	second.reads()
	screen.types("y\n")
	second.types("n not this\n")
	r := c.wait()
	poll(t, "both told", func() bool {
		return strings.Contains(screen.fresh(), "** "+id) && strings.Contains(second.fresh(), "** "+id)
	})
	if n := len(web.requests()); r.IsError != (n == 1) {
		t.Errorf("the agent was told error %v, and %d requests went out", r.IsError, n)
	}
	second.hangup()
	poll(t, "the second console's end", func() bool { return !second.running() })
	c = post("three")
	screen.answers("y")
	c.succeeds()
	w.verified()
}

// Two requests at once: one after the other, each answer for its own (APR-04).
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve("--approval-limit", "3s")
	a := w.agent()
	file := func(name string) string { return w.drop() + "/case-APR-04-" + name }
	first := a.ssh("box", "touch "+file("first"))
	_, id1 := screen.reads()
	second := a.ssh("box", "touch "+file("second"))
	poll(t, "two requests", func() bool { return strings.Contains(w.ok("status"), "2 waiting") })
	screen.types("n\n")
	screen.expect("** " + id1 + ": denied")
	shown := screen.answers("y")
	if strings.Contains(shown, id1) || !strings.Contains(shown, file("second")) {
		t.Errorf("the second prompt:\n%s", shown)
	}
	first.refused("APPROVAL_DENIED")
	second.succeeds()
	w.absent(file("first"))
	w.present(file("second"))

	third := a.ssh("box", "touch "+file("third"))
	screen.reads()
	fourth := a.ssh("box", "touch "+file("fourth"))
	third.refused("APPROVAL_EXPIRED", "approval expired, not run")
	screen.answers("y") // its time began when it was shown
	fourth.succeeds()
	w.absent(file("third"))
	w.present(file("fourth"))
}

// What nobody answers expires; a late yes runs nothing (APR-06), and after it the
// consoles count as away until a key is pressed.
func TestExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve("--approval-limit", "2s")
	a := w.agent()
	c := a.get(web.URL + "/v1")
	_, id := screen.reads()
	began := time.Now()
	r := c.refused("APPROVAL_EXPIRED", "approval expired, not run")
	if strings.Contains(r.Text, "will ") {
		t.Errorf("the message promises something: %s", r.Text)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a limit of 2 s took %s", took)
	}
	screen.expect("** " + id + ": expired, nothing was run")
	screen.expect("away: ")
	elapsed(t, 2*time.Second, "a call while away", func() { a.get(web.URL + "/v1").refused("NO_APPROVER") })
	screen.types("y\n")
	screen.expect(id + " expired, nothing was run")
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	got := w.activities("-n", "2")
	if got[0].Outcome.Status != "refused" || got[0].Decision.Result != "expired" {
		t.Errorf("journal: %+v", got[0])
	}
	c = a.get(web.URL + "/v1") // a key was pressed: back
	screen.answers("y")
	c.succeeds()
}

// An item that is edited while its request is on the screen ends the request (APR-03).
func TestChangedSinceShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	c := a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": "x"})
	_, id := screen.reads()
	if r := w.runWith(w.canary("api, rotated", random()), w.unlocking("credential", "rotate", "api")...); r.code != 0 {
		t.Fatalf("rotate: %+v", r)
	}
	screen.expect("** " + id + ": changed since it was shown, nothing was run")
	c.refused("CHANGED_SINCE_SHOWN", "retry_later")
	screen.types("y\n")
	screen.expect(id + " changed since it was shown")
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	if got := w.last(); got.Decision.Result != "changed" || got.Outcome.Status != "refused" {
		t.Errorf("journal: %+v", got)
	}

	c = a.ssh("box", "true") // the host goes, another change does not matter
	_, id = screen.reads()
	w.credential("unrelated", "--type", "bearer", "--target", "https://other.example/")
	if !c.open() {
		t.Error("a change of something else ended the request")
	}
	w.ok(w.unlocking("host", "remove", "box", "--yes")...)
	screen.expect("** " + id + ": changed since it was shown")
	c.refused("CHANGED_SINCE_SHOWN")
	if n := box.logins(); n != 0 {
		t.Errorf("%d logins", n)
	}
}

// The terminal hangs up while a request waits on it (APR-05 c).
func TestHangupWhilePending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	w.service()
	console := w.approve()
	a := w.agent()
	c := a.get(web.URL + "/v1")
	console.reads()
	console.hangup()
	elapsed(t, 5*time.Second, "refusal after a hang-up", func() { c.refused("NO_APPROVER") })
	once := w.onTerminal("approve --once", w.unlocking("approve", "--once", "nosuch")...)
	once.expect("no such open request")
	if code := once.exit(patience); code != 1 {
		t.Errorf("approve --once of an id that is not there: exit code %d", code)
	}
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
}

func TestHangupOfServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/v1")
	screen.reads()
	screen.hangup()
	elapsed(t, 5*time.Second, "refusal after a hang-up", func() {
		if r := c.wait(); !r.IsError {
			t.Error("the call was carried out")
		}
	})
	if code := screen.exit(patience); code != 0 {
		t.Errorf("serve whose terminal hung up: exit code %d", code)
	}
	if n := len(web.requests()); n != 0 {
		t.Errorf("%d requests went out", n)
	}
	w.verified()
}

// Lines on the agent's own stdin never answer (APR-05 d).
func TestAgentsLinesNeverAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/v1")
	_, id := screen.reads()
	for range 5 {
		a.line("y")
		a.line("{}")
		a.line(id + " y")
	}
	poll(t, "an error for each line", func() bool { return len(a.replies("null")) == 15 })
	for _, m := range a.replies("null") {
		if m.Error == nil || m.Error.Code != -32700 && m.Error.Code != -32600 {
			t.Errorf("reply to a stray line: %+v", m)
		}
	}
	a.request("ping", nil)
	if !c.open() || len(web.requests()) != 0 {
		t.Error("a line on stdin answered the request")
	}
	screen.types("n\n")
	c.refused("APPROVAL_DENIED")
}

// Level presence takes the passphrase with every yes.
func TestPresence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/", "--approval", "presence")
	screen := w.serve()
	a := w.agent()
	c := a.get(web.URL + "/v1")
	shown, id := screen.reads()
	if !strings.Contains(shown, "presence") || strings.Contains(shown, "e: yes, and exactly") {
		t.Errorf("the screen:\n%s", shown)
	}
	screen.types("e\n")
	screen.expect("that is no answer")
	screen.reads()
	screen.types("y\n")
	screen.expect("passphrase> ")
	screen.types("not the passphrase\n")
	screen.expect("not accepted: ")
	screen.reads()
	if !c.open() {
		t.Fatal("a wrong passphrase settled the request")
	}
	screen.types("y\n")
	screen.expect("passphrase> ")
	screen.types(w.phrase + "\n")
	screen.expect("** " + id + ": allowed")
	c.succeeds()
	c = a.get(web.URL + "/v1") // and again for the next one
	screen.answers("n")
	c.refused("APPROVAL_DENIED")
	if n := len(web.requests()); n != 1 {
		t.Errorf("%d requests, one was allowed", n)
	}
}

// A client that floods gets refusals at once, and the others their turn.
func TestFlood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve()
	a := w.agent()
	var calls []pending
	for i := range 70 {
		calls = append(calls, a.begin("http_request", args{"method": "POST", "url": web.URL + "/v1", "body": strings.Repeat("x", i)}))
	}
	screen.reads()
	limited := 0
	poll(t, "refusals beyond the limits", func() bool {
		limited = 0
		for _, c := range calls {
			if !c.open() && c.wait().Fields["error_code"] == "LIMIT_EXCEEDED" {
				limited++
			}
		}
		return limited >= 50
	})
	a.request("ping", nil)
	if limited > 69 || len(web.requests()) != 0 {
		t.Errorf("%d of 70 were refused, %d ran", limited, len(web.requests()))
	}
	a.in.Close()
	a.exit(patience)
	w.verified()
}
