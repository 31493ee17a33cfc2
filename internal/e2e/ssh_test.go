package e2e_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
	"golang.org/x/sys/unix"
)

// runs runs a command on a host with the operator's yes.
func runs(screen *terminal, a *agent, host, command string) pending {
	a.w.Helper()
	c := a.ssh(host, command)
	screen.answers("y")
	return c
}

// pub is a throw-away host key's public half, as a known_hosts line has it.
func pub(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "hostkeys", name+".pub"))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b))
	return f[0] + " " + f[1]
}

// A server with several host keys, of which one is known, in each way that a host
// is added; a wrong one is refused before the login (SSH-01).
func TestHostKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd(w.hostFile("host_rsa"), w.hostFile("host_ecdsa"), w.hostFile("host_ed25519"))
	w.ok(w.unlocking("credential", "add", "key", "--type", "ssh-key", "--target", "ssh://"+box.addr, "--from-file", box.key)...)
	name := knownhosts.Normalize(box.addr)
	hosts := map[string][]string{
		"scanned": {"--scan", "--yes"},
		"wrong":   {"--host-key", pub(t, "other_ed25519")},
		"hashed":  {"--known-hosts", w.file("hashed", knownhosts.HashHostname(name)+" "+pub(t, "host_ed25519")+"\n")},
	}
	for _, kind := range []string{"rsa", "ecdsa", "ed25519"} {
		hosts["flag-"+kind] = []string{"--host-key", pub(t, "host_"+kind)}
		hosts["file-"+kind] = []string{"--known-hosts", w.file("known_"+kind, name+" "+pub(t, "host_"+kind)+"\n")}
	}
	for host, flags := range hosts {
		add := append([]string{"host", "add", host, "--addr", box.addr, "--user", box.user, "--credential", "key"}, flags...)
		r := w.run(w.unlocking(add...)...)
		if r.code != 0 {
			t.Fatalf("%v: %+v", add, r)
		}
		if host == "scanned" && (strings.Count(r.errors, "SHA256:") != 3 || !strings.Contains(r.out, "pinned keys: 3")) {
			t.Errorf("--scan shows: %s%s", r.errors, r.out)
		}
	}
	w.fails(2, []string{"--yes"}, w.unlocking("host", "add", "unasked", "--addr", box.addr, "--user", box.user, "--credential", "key", "--scan")...)
	w.fails(2, []string{"no host key"}, w.unlocking("host", "add", "bare", "--addr", box.addr, "--user", box.user, "--credential", "key")...)
	w.fails(1, []string{"no credential is called"}, w.unlocking("host", "add", "x", "--addr", box.addr, "--user", box.user, "--credential", "nosuch", "--host-key", pub(t, "host_rsa"))...)
	w.fails(1, []string{"may not be used on"}, w.unlocking("host", "add", "x", "--addr", "127.0.0.1:1", "--user", box.user, "--credential", "key", "--host-key", pub(t, "host_rsa"))...)
	type info struct {
		Name     string
		HostKeys []string `json:"host_keys"`
	}
	if list := jsonOf[[]info](w, w.unlocking("host", "list")...); len(list) != len(hosts) {
		t.Errorf("host list: %+v", list)
	}
	if show := w.ok(w.unlocking("host", "show", "scanned")...); strings.Count(show, "SHA256:") != 3 {
		t.Errorf("host show: %s", show)
	}

	screen := w.serve()
	a := w.agent()
	for host := range hosts {
		if host == "wrong" {
			continue
		}
		if r := runs(screen, a, host, "echo ok").succeeds(); r.Fields["stdout"] != "ok\n" || r.Fields["exit_code"] != float64(0) {
			t.Errorf("%s: %v", host, r.Fields)
		}
	}
	before := box.logins()
	r := runs(screen, a, "wrong", "echo ok").refused("HOST_KEY_MISMATCH")
	if strings.Count(r.Text, "SHA256:") < 2 || r.Fields["side_effect_started"] != false {
		t.Errorf("a wrong host key: %s", r.Text)
	}
	if box.logins() != before {
		t.Error("it logged in in spite of a wrong host key")
	}
	w.verified()
}

// A bad line for another host is a warning; one for this host says what is wrong (SSH-03).
func TestKnownHostsWithBadLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd(w.hostFile("host_ed25519"))
	w.ok(w.unlocking("credential", "add", "key", "--type", "ssh-key", "--target", "ssh://"+box.addr, "--from-file", box.key)...)
	screen := w.serve()
	a := w.agent()
	for _, c := range []struct {
		name     string
		warnings int // at least
	}{{"badbase64_elsewhere", 1}, {"glued_then_good", 1}, {"v6_bracket_noport", 0}, {"ssh1_and_unknown_algo", 0}, {"crlf", 0}, {"bom", 0}} {
		file := w.knownHosts(c.name, box.addr)
		r := w.run(w.unlocking("host", "add", strings.ReplaceAll(c.name, "_", "-"), "--addr", box.addr, "--user", box.user, "--credential", "key", "--known-hosts", file)...)
		if r.code != 0 || strings.Contains(r.out, "warning") {
			t.Errorf("%s: %+v", c.name, r)
			continue
		}
		if n := strings.Count(r.errors, "warning: "); n < c.warnings || n > 0 && !strings.Contains(r.errors, file+":1") {
			t.Errorf("%s: warnings: %s", c.name, r.errors)
		}
		runs(screen, a, strings.ReplaceAll(c.name, "_", "-"), "echo ok").succeeds()
	}
	file := w.knownHosts("only_glued", box.addr)
	w.fails(1, []string{file + ":1"}, w.unlocking("host", "add", "glued", "--addr", box.addr, "--user", box.user, "--credential", "key", "--known-hosts", file)...)
}

// knownHosts writes a case's file for the address that the server has here.
func (w *world) knownHosts(name, addr string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cases", "SSH-03", "known_hosts."+name))
	if err != nil {
		w.Fatal(err)
	}
	return w.file("known_hosts."+name, strings.ReplaceAll(string(b), "[127.0.0.1]:2222", knownhosts.Normalize(addr)))
}

// Keys damaged by pasting are mended and log in, or refused at once (SSH-04).
func TestPastedKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join("testdata", "cases", "SSH-04")
	good, err := os.ReadFile(filepath.Join(dir, "key.good"))
	if err != nil {
		t.Fatal(err)
	}
	w.plantKey("pasted key", string(good))
	box := w.sshd()
	public, err := os.ReadFile(filepath.Join(dir, "key.good.pub"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.dir, "authorized_keys"), public)
	parsed, _, _, _, err := ssh.ParseAuthorizedKey(public)
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := ssh.FingerprintSHA256(parsed)
	screen := w.serve()
	a := w.agent()
	files, err := filepath.Glob(filepath.Join(dir, "key.*"))
	if err != nil || len(files) < 12 {
		t.Fatal(err, files)
	}
	refusedWith := map[string]string{"public_by_mistake": "public key"}
	stored := 0
	for i, file := range files {
		kind := strings.TrimPrefix(filepath.Base(file), "key.")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("key-%d", i)
		add := []string{"credential", "add", name, "--type", "ssh-key", "--target", "ssh://" + box.addr}
		byFile := w.run(w.unlocking(append(add, "--from-file", w.file("pasted", string(text)))...)...)
		if i%3 == 0 { // the text takes the same way whichever way it came in
			add[2] = name + "-stdin"
			byStdin := w.runWith(string(text), w.unlocking(add...)...)
			if byFile.code != byStdin.code || byFile.errors != byStdin.errors {
				t.Errorf("%s: by file %+v, by stdin %+v", kind, byFile, byStdin)
			}
		}
		if byFile.code != 0 {
			word := refusedWith[kind]
			if kind == "good.pub" {
				word = "public key"
			}
			if byFile.code != 1 || strings.Count(byFile.errors, "executor: ") != 1 || !strings.Contains(byFile.errors, word) {
				t.Errorf("%s is refused with: %+v", kind, byFile)
			}
			if kind == "good" || kind == "crlf" || kind == "no_final_newline" {
				t.Errorf("%s is refused: %s", kind, byFile.errors)
			}
			continue
		}
		stored++
		if !strings.Contains(byFile.errors, fingerprint) {
			t.Errorf("%s: the fingerprint is not that of the good key: %s", kind, byFile.errors)
		}
		w.ok(w.unlocking("host", "add", name, "--addr", box.addr, "--user", box.user, "--credential", name, "--host-key", box.hostKey)...)
		if r := runs(screen, a, name, "echo ok").succeeds(); r.Fields["stdout"] != "ok\n" {
			t.Errorf("%s: %v", kind, r.Fields)
		}
	}
	if stored < 3 {
		t.Errorf("only %d of %d forms are taken", stored, len(files))
	}
	w.verified()
}

// A server that offers keyboard-interactive only takes the password there (SSH-05).
func TestKeyboardInteractive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	password := w.canary("login", random())
	s := newPrompting(w, password)
	w.store("login", password, "--type", "ssh-password", "--target", "ssh://"+s.addr)
	wrong := w.credential("mistaken", "--type", "ssh-password", "--target", "ssh://"+s.addr)
	for _, name := range []string{"login", "mistaken"} {
		w.ok(w.unlocking("host", "add", name, "--addr", s.addr, "--user", "me", "--credential", name, "--host-key", s.hostKey)...)
	}
	screen := w.serve()
	a := w.agent()
	if r := runs(screen, a, "login", "true").succeeds(); r.Fields["exit_code"] != float64(0) {
		t.Errorf("login: %v", r.Fields)
	}
	if got := s.answers(); len(got) != 1 || got[0] != password {
		t.Errorf("%d answers of keyboard-interactive", len(got))
	}
	runs(screen, a, "mistaken", "true").refused("SSH_AUTH_FAILED", "keyboard-interactive")
	if got := s.answers(); len(got) != 2 || got[1] != wrong {
		t.Errorf("%d answers in all, one attempt each is due", len(got))
	}
	w.verified()
}

// prompting is an SSH server that asks for the password by keyboard-interactive only.
type prompting struct {
	addr, hostKey string
	mu            sync.Mutex
	said          []string
}

func newPrompting(w *world, password string) *prompting {
	w.Helper()
	_, private := w.newKey("")
	signer, err := ssh.ParsePrivateKey([]byte(private))
	if err != nil {
		w.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	s := &prompting{addr: l.Addr().String(), hostKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))}
	config := &ssh.ServerConfig{KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		got, err := ask("", "", []string{"Password: "}, []bool{false})
		if err != nil || len(got) != 1 {
			return nil, fmt.Errorf("no answer: %w", err)
		}
		s.mu.Lock()
		s.said = append(s.said, got[0])
		s.mu.Unlock()
		if got[0] != password {
			return nil, fmt.Errorf("wrong")
		}
		return nil, nil
	}}
	config.AddHostKey(signer)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { serveTrue(c, config) })
		}
	})
	w.Cleanup(func() { l.Close(); wg.Wait() })
	return s
}

func (s *prompting) answers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.said...)
}

// serveTrue lets every command exit with 0.
func serveTrue(c net.Conn, config *ssh.ServerConfig) {
	defer c.Close()
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for nc := range channels {
		ch, reqs, err := nc.Accept()
		if err != nil {
			return
		}
		for r := range reqs {
			_ = r.Reply(r.Type == "exec", nil)
			if r.Type == "exec" {
				_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ N uint32 }{0}))
				ch.Close()
			}
		}
	}
}

// A time limit ends the remote command, or says that it may still run (SSH-08).
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	sleep := fmt.Sprintf("sleep 30008.%d", os.Getpid())
	c := a.begin("ssh_exec", args{"host": "box", "command": "echo early; exec " + sleep, "timeout_s": 2})
	screen.answers("y")
	began := time.Now()
	r := c.refused("UPSTREAM_TIMEOUT")
	if took := r.at.Sub(began); took > 4*time.Second {
		t.Errorf("a limit of 2 s took %s", took)
	}
	if r.Fields["side_effect_started"] != true || r.Fields["stdout"] != "early\n" {
		t.Errorf("result: %v", r.Fields)
	}
	gone := false
	for end := time.Now().Add(5 * time.Second); !gone && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		gone = len(processes(sleep)) == 0
	}
	if told := r.Fields["may_still_run"] == true; !gone && !told {
		t.Errorf("the command runs on and the result does not say so: %v", r.Fields)
	}
	if box.signals && !gone {
		t.Error("the server passes signals on, and the command runs on")
	}
	box.ends(sleep)
	if got := w.status("timeout"); got.Outcome.ErrorCode != "UPSTREAM_TIMEOUT" {
		t.Errorf("journal: %+v", got.Outcome)
	}
	w.verified()
}

// serve is killed while a remote command runs: unknown, and the command's end is
// the server's business once the connection is gone.
func TestKilledDuringCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	sleep := fmt.Sprintf("sleep 30009.%d", os.Getpid())
	runs(screen, a, "box", "exec "+sleep)
	poll(t, "the remote command", func() bool { return len(processes(sleep)) == 1 })
	screen.signal(unix.SIGKILL)
	screen.exit(patience)
	for _, pid := range processes(sleep) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	w.service()
	if got := w.last(); got.Outcome.Status != "unknown" {
		t.Errorf("journal: %+v", got.Outcome)
	}
	w.verified()
}

// Standard input arrives whole; a variable that the server refuses fails the call
// before the command.
func TestCommandInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	input := strings.Repeat("line of input\n", 3000) + "\x01é"
	c := a.begin("ssh_exec", args{"host": "box", "command": "cat", "stdin": input})
	_, id, _ := screen.prompt()
	for complete := false; !complete; {
		screen.types(" ")
		_, _, complete = screen.prompt()
	}
	screen.types("y\n")
	screen.expect("** " + id + ": allowed")
	if r := c.succeeds(); r.Fields["stdout"] != input {
		t.Errorf("%d bytes of input came back as %d", len(input), len(fmt.Sprint(r.Fields["stdout"])))
	}
	ran := w.drop() + "/ran"
	c = a.begin("ssh_exec", args{"host": "box", "command": "touch " + ran, "env": args{"LD_PRELOAD": "x"}})
	screen.answers("y")
	if r := c.wait(); !r.IsError || r.Fields["side_effect_started"] == true {
		t.Errorf("a variable that the server refuses: %v", r.Fields)
	}
	w.absent(ran)
	c = a.begin("ssh_exec", args{"host": "box", "command": "kill -KILL $$"})
	screen.answers("y")
	if r := c.succeeds(); r.Fields["signal"] != "KILL" || r.Fields["exit_code"] != nil {
		t.Errorf("a command that a signal ended: %v", r.Fields)
	}
	w.verified()
}

// A background job that holds the output does not hold the call (SSH-09).
func TestBackgroundJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	box := w.sshd()
	box.register("box")
	screen := w.serve()
	a := w.agent()
	sleep := fmt.Sprintf("sleep 1230%d", os.Getpid())
	c := runs(screen, a, "box", "nohup "+sleep+" & echo started")
	elapsed(t, 10*time.Second, "a command with a background job", func() {
		r := c.succeeds()
		if out, _ := r.Fields["stdout"].(string); r.Fields["exit_code"] != float64(0) || !strings.HasPrefix(out, "started") {
			t.Errorf("result: %v", r.Fields)
		}
		if r.Fields["channel_left_open"] != true {
			t.Errorf("the result does not say that the channel was open: %v", r.Fields)
		}
	})
	runs(screen, a, "box", "echo next").succeeds()
	for _, pid := range processes(sleep) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
