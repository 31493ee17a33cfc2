package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files on a real server, by way of a jump host: written with a yes that showed
// them whole, read and listed with one yes a session, replaced only if they are
// what was read; and the mark by which a command's processes are found.
func TestFilesOverSSH(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	drop := w.drop()
	w.ok(w.unlocking("credential", "add", "key", "--type", "ssh-key", "--target", "ssh://"+box.addr, "--from-file", box.key)...)
	for _, h := range [][]string{{"gate"}, {"box", "--jump", "gate"}} {
		w.ok(w.unlocking(append([]string{"host", "add", h[0], "--addr", box.addr, "--user", box.user, "--credential", "key", "--host-key", box.hostKey}, h[1:]...)...)...)
	}
	screen := w.serve()
	a := w.agent()

	path := filepath.Join(drop, "notes.txt")
	c := a.begin("ssh_write_file", args{"host": "box", "path": path, "content": "first\n", "mode": "0640"})
	shown := screen.answers("y")
	for _, words := range []string{"notes.txt", "by way of: " + box.user + "@" + box.addr, "content text, 6 characters", "| first", "6 bytes, sha256:", "mode: 0640"} {
		if !strings.Contains(shown, words) {
			t.Errorf("the screen does not show %q:\n%s", words, shown)
		}
	}
	c.succeeds()
	if b, err := os.ReadFile(path); err != nil || string(b) != "first\n" {
		t.Errorf("the file holds %q, %v", b, err)
	}

	c = a.begin("ssh_read_file", args{"host": "box", "path": path})
	screen.answers("y")
	digest := c.succeeds().Fields["sha256"]
	if again := a.begin("ssh_read_file", args{"host": "box", "path": path}).succeeds(); again.Fields["content"] != "first\n" || again.Fields["sha256"] != digest {
		t.Errorf("read again: %v", again.Fields)
	}
	c = a.begin("ssh_list_dir", args{"host": "box", "path": drop})
	screen.answers("y")
	if r := c.succeeds(); r.Fields["total"] != float64(1) {
		t.Errorf("listed: %v", r.Fields)
	}

	replace := args{"host": "box", "path": path, "content": "second\n", "overwrite": true, "expected_sha256": digest}
	c = a.begin("ssh_write_file", args{"host": "box", "path": path, "content": "second\n"})
	screen.answers("y")
	c.refused("INVALID_ARGUMENTS", "there is already a file", "nothing was done")
	c = a.begin("ssh_write_file", replace)
	screen.answers("y")
	c.succeeds()
	c = a.begin("ssh_write_file", replace)
	screen.answers("y")
	c.refused("INVALID_ARGUMENTS", "its digest is another")
	if b, err := os.ReadFile(path); err != nil || string(b) != "second\n" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	a.begin("ssh_read_file", args{"host": "box", "path": "/etc/../etc/passwd"}).refused("INVALID_ARGUMENTS", "'..'")

	r := runs(screen, a, "box", "echo $EXECUTOR_ACTIVITY").succeeds()
	if r.Fields["stdout"] != r.Fields["activity_id"].(string)+"\n" {
		t.Errorf("the mark: %v", r.Fields)
	}
	w.verified()
}
