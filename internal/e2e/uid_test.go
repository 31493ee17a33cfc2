package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// stranger is a uid that nobody has.
const stranger = 4712

// An agent under another uid is served only where the operator allows it, at a
// socket outside the home, and reaches nothing else.
func TestAgentOfAnotherUID(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("starting a process under another uid needs root")
	}
	w := newWorld(t)
	w.chmod(w.dir, 0o711)
	socket := filepath.Join(w.drop(), "agents.sock")
	as := func(cmd *exec.Cmd) {
		cmd.Args = []string{binary, "mcp", "--socket", socket}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	}
	serve, out := w.service("--agent-socket", socket)
	a := w.startMCP(as)
	a.line(caseLines(t, "MCP-03/init-2025-06-18.jsonl")[0])
	if code := a.exit(patience); code == 0 || a.transcript.String() != "" {
		t.Errorf("a uid that is not allowed: exit code %d, it read %s", code, a.transcript)
	}
	poll(t, "a line that names the uid", func() bool { return strings.Contains(out.String(), "--allow-uid 4712") })
	serve.signal(unix.SIGTERM)
	serve.exit(patience)

	w.service("--agent-socket", socket, "--allow-uid", "4712")
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("the agents' socket: %v, %v", err, info)
	}
	a = w.startMCP(as)
	a.line(caseLines(t, "MCP-03/init-2025-06-18.jsonl")[0])
	if m := a.reply("0"); m.Error != nil {
		t.Fatalf("initialize: %+v", m.Error)
	}
	a.next = 1
	a.begin("list_targets", args{}).succeeds()
	a.in.Close()
	a.exit(patience)
	type session struct {
		SameUID bool `json:"same_uid"`
		Peer    struct{ UID int }
	}
	if s := jsonOf[[]session](w, "journal", "query", "sessions"); len(s) != 1 || s[0].SameUID || s[0].Peer.UID != stranger {
		t.Errorf("sessions: %+v", s)
	}
	for _, file := range []string{"operator.sock", "journal.db", "vault.age"} {
		cmd := exec.Command("test", "-e", filepath.Join(w.home, file))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
		if cmd.Run() == nil {
			t.Errorf("%s can be reached", file)
		}
	}
}

// Auto-lock locks by itself.
func TestAutoLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/")
	screen := w.serve("--auto-lock", "2s")
	a := w.agent()
	screen.expect("locked: ")
	a.get(web.URL + "/v1").refused("VAULT_LOCKED")
	w.ok(w.unlocking("unlock")...)
	w.fails(2, []string{"--auto-lock"}, w.unlocking("serve", "--auto-lock", "-1s")...)
	w.fails(2, []string{"--approval-limit"}, w.unlocking("serve", "--approval-limit", "11m")...)
}

// serve leaves no core file, and its memory is closed to other processes of the uid.
func TestServeIsUndumpable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	serve, _ := w.service()
	proc := fmt.Sprintf("/proc/%d/", serve.cmd.Process.Pid)
	if limits := string(w.read(proc + "limits")); !regexp.MustCompile(`Max core file size +0 +0 `).MatchString(limits) {
		t.Errorf("core files are possible:\n%s", limits)
	}
	info, err := os.Stat(proc + "environ")
	if err != nil {
		t.Fatal(err)
	}
	// proc(5): the files of an undumpable process belong to root.
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
		t.Errorf("%senviron belongs to uid %d", proc, owner)
	}
}
