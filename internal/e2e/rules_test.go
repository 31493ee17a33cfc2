package e2e_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A night with nobody there: rules alone decide, what they do not name is refused
// at once, and a rule's calls stay counted when serve is started again.
func TestANightWithRulesAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box, web := w.sshd(), newAPI(t)
	box.register("box")
	w.credential("api", "--type", "bearer", "--target", web.URL+"/v1/")
	w.ok(w.unlocking("rule", "add", "night", "--method", "GET", "--target", web.URL+"/v1/read/", "--approval", "none", "--for", "8h", "--max-calls", "3")...)
	w.ok(w.unlocking("rule", "add", "say", "--tool", "ssh_exec", "--host", "box", "--argv", "echo *", "--approval", "none")...)
	w.ok(w.unlocking("rule", "add", "never", "--host", "box", "--argv", "reboot", "--approval", "deny")...)
	serve, _ := w.service()
	a := w.agent()
	for range 2 {
		a.get(web.URL + "/v1/read/a").succeeds()
	}
	if got := w.last().Decision; got.Level != "none" || !strings.HasPrefix(got.Basis, "rule night version 1: GET under "+web.URL+"/v1/read/") {
		t.Errorf("decision %+v", got)
	}
	a.ssh("box", "echo hello").succeeds()
	a.ssh("box", "reboot").refused("DENIED_BY_RULE")
	ran := w.drop() + "/rule-ran"
	for _, near := range []string{"echo a; touch " + ran, "echo $(touch " + ran + ")", "echo a\ntouch " + ran, "echo a > " + ran, "echo -n", "echo a b", "LC_ALL=C echo a"} {
		a.ssh("box", near).refused("NO_APPROVER")
	}
	a.begin("ssh_exec", args{"host": "box", "command": "echo a", "env": args{"LD_PRELOAD": "/tmp/x"}}).refused("NO_APPROVER")
	a.begin("ssh_exec", args{"host": "box", "command": "echo a", "stdin": "x"}).refused("NO_APPROVER")
	for _, path := range []string{"/v1/readonly", "/v1/admin"} {
		a.get(web.URL + path).refused("NO_APPROVER")
	}
	a.get(web.URL + "/v1/read/../admin").refused("INVALID_ARGUMENTS")
	w.absent(ran)
	if serve.signal(unix.SIGKILL); serve.exit(patience) == 0 {
		t.Error("serve was not killed")
	}
	w.service()
	a = w.agent()
	a.get(web.URL + "/v1/read/a").succeeds()
	a.get(web.URL + "/v1/read/a").refused("NO_APPROVER")
	if list := w.ok(w.unlocking("rule", "list")...); !strings.Contains(list, "used up") {
		t.Errorf("rule list:\n%s", list)
	}
	// While serve runs, a rule goes as it came.
	w.ok(w.unlocking("rule", "remove", "say", "--yes")...)
	a.ssh("box", "echo hello").refused("NO_APPROVER")
	w.verified()
}

// A yes at level session on a host covers what its rule covers there, until the
// rule goes (APR-40).
func TestASessionYesOnAHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	w.ok(w.unlocking("rule", "add", "say", "--tool", "ssh_exec", "--host", "box", "--argv", "echo *", "--approval", "session")...)
	screen := w.serve()
	a := w.agent()
	c := a.ssh("box", "echo one")
	if shown := strings.Join(strings.Fields(screen.answers("y")), " "); !strings.Contains(shown, "rule say version 1: tool ssh_exec, on box: echo *") {
		t.Errorf("the screen does not name the rule:\n%s", shown)
	}
	c.succeeds()
	a.ssh("box", "echo 'two words'").succeeds()
	a.begin("ssh_exec", args{"host": "box", "argv": []string{"echo", "$HOME; id"}}).succeeds()
	screen.quiet()
	ran := w.drop() + "/rule-ran"
	for _, near := range []string{"echo one && touch " + ran, "echo `touch " + ran + "`", "echo one two"} {
		c := a.ssh("box", near)
		screen.answers("n")
		c.refused("APPROVAL_DENIED")
	}
	w.absent(ran)
	c = w.agent().ssh("box", "echo one")
	screen.answers("n")
	c.refused("APPROVAL_DENIED")
	w.ok(w.unlocking("rule", "remove", "say", "--yes")...)
	if grants := w.ok(w.unlocking("approvals", "list", "-o", "json")...); strings.Contains(grants, "rule say") {
		t.Errorf("a yes outlived its rule: %s", grants)
	}
	c = a.ssh("box", "echo three")
	screen.answers("n")
	c.refused("APPROVAL_DENIED")
	w.verified()
}
