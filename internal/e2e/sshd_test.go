package e2e_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

const sshdPath = "/usr/sbin/sshd"

// An sshd is OpenSSH's server on a loopback port.
type sshd struct {
	w       *world
	addr    string
	user    string
	hostKey string // "TYPE BASE64"
	key     string // file with the client's private key
	log     *capture
	// signals: a signal of the client reaches the remote command. OpenSSH refuses
	// that to root ("session signalling requires privilege separation").
	signals bool
}

// sshd starts a server for a user of its own, if the machine lets the test make
// one up, else for the user of the test. Host keys are the files named, or a fresh one.
func (w *world) sshd(hostKeys ...string) *sshd {
	w.Helper()
	needs(w, "OpenSSH's sshd", sshdPath)
	if os.Getuid() != 0 || exec.Command("unshare", "--mount", "true").Run() != nil {
		return w.sshdAsMe(hostKeys...)
	}
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		w.Fatal(err)
	}
	made := w.file("passwd", string(passwd)+"tester:x:4711:4711::/tmp:/bin/sh\n")
	w.chmod(made, 0o644)
	s := &sshd{w: w, user: "tester", signals: true}
	s.start(hostKeys, "unshare", "--mount", "sh", "-c", `mount --bind "$0" /etc/passwd && exec "$@"`, made)
	return s
}

// sshdAsMe starts a server for the user of the test.
func (w *world) sshdAsMe(hostKeys ...string) *sshd {
	w.Helper()
	needs(w, "OpenSSH's sshd", sshdPath)
	me, err := user.Current()
	if err != nil {
		w.Fatal(err)
	}
	s := &sshd{w: w, user: me.Username, signals: os.Getuid() != 0}
	s.start(hostKeys)
	return s
}

func (s *sshd) start(hostKeys []string, under ...string) {
	w := s.w
	w.Helper()
	s.log = w.capture("log of sshd")
	if os.Getuid() == 0 { // Debian's sshd wants its directory for privilege separation
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			w.Fatal(err)
		}
	}
	pub, private := w.newKey("client key")
	s.key = w.file("client_key", private)
	authorized := w.file("authorized_keys", string(ssh.MarshalAuthorizedKey(pub)))
	w.chmod(authorized, 0o644)
	w.chmod(w.dir, 0o711) // the server reads that file as the user
	if len(hostKeys) == 0 {
		host, hostPrivate := w.newKey("")
		s.hostKey = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(host)))
		hostKeys = []string{w.file("host_key", hostPrivate)}
	}
	s.addr = freeAddr(w)
	_, port, _ := net.SplitHostPort(s.addr)
	config := fmt.Sprintf(`Port %s
ListenAddress 127.0.0.1
AuthorizedKeysFile %s
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
LogLevel VERBOSE
Subsystem sftp internal-sftp
AcceptEnv EXECUTOR_ACTIVITY
`, port, authorized)
	for _, k := range hostKeys {
		config += "HostKey " + k + "\n"
	}
	argv := append(under, sshdPath, "-D", "-e", "-f", w.file("sshd_config", config))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	p := w.follow("sshd", cmd, func(p *process) { _ = p.cmd.Process.Kill() })
	poll(w, "sshd listening", func() bool {
		if !p.running() {
			w.Fatalf("sshd ended at once: %s", s.log)
		}
		return strings.Contains(s.log.String(), "Server listening")
	})
}

// ends waits for the end of a remote command that was signalled, where the
// server passes signals on; where not, the test ends it.
func (s *sshd) ends(command string) {
	s.w.Helper()
	if s.signals {
		within(s.w, 3*time.Second, "the remote command's end", func() bool { return len(processes(command)) == 0 })
	}
	for _, pid := range processes(command) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (w *world) chmod(path string, mode os.FileMode) {
	w.Helper()
	if err := os.Chmod(path, mode); err != nil {
		w.Fatal(err)
	}
}

// drop is a directory in which remote commands may leave files.
func (w *world) drop() string {
	w.Helper()
	path := filepath.Join(w.dir, "drop")
	if err := os.MkdirAll(path, 0o777); err != nil {
		w.Fatal(err)
	}
	w.chmod(path, 0o777)
	return path
}

// freeAddr is a loopback address that nobody listens on.
func freeAddr(w *world) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newKey makes a key pair. With a name, the private one is a planted secret.
func (w *world) newKey(name string) (ssh.PublicKey, string) {
	w.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		w.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		w.Fatal(err)
	}
	text := string(pem.EncodeToMemory(block))
	if name != "" {
		w.plantKey(name, text)
	}
	return signer.PublicKey(), text
}

// plantKey makes the lines of a private key secrets to be searched for, but the
// first ones, which hold the public key too.
func (w *world) plantKey(name, text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines[3 : len(lines)-1] {
		if len(line) >= 16 {
			w.canary(fmt.Sprintf("%s line %d", name, i+3), line)
		}
	}
}

// logins counts the logins that the server saw.
func (s *sshd) logins() int { return strings.Count(s.log.String(), "Accepted ") }

// register stores the client key and the host under the name.
func (s *sshd) register(name string, flags ...string) {
	w := s.w
	w.Helper()
	w.ok(w.unlocking("credential", "add", name+"-key", "--type", "ssh-key", "--target", "ssh://"+s.addr, "--from-file", s.key)...)
	w.ok(w.unlocking(append([]string{"host", "add", name, "--addr", s.addr, "--user", s.user, "--credential", name + "-key", "--host-key", s.hostKey}, flags...)...)...)
}

// hostFile copies one of the throw-away host keys to where sshd takes it.
func (w *world) hostFile(name string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "hostkeys", name))
	if err != nil {
		w.Fatal(err)
	}
	return w.file(name, string(b))
}

// processes are the ids of those whose command line is exactly the words.
func processes(command string) (pids []int) {
	want := strings.ReplaceAll(command, " ", "\x00") + "\x00"
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && string(b) == want {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}
