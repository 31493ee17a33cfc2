package sshrun_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/executor/sshrun"
	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/secret"
)

// newKey makes a key of a user, and returns its lease and its public half as a file.
func newKey(t testing.TB, raw any, name string) (*executor.Lease, ssh.Signer, string) {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(raw, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pub")
	if err := os.WriteFile(file, ssh.MarshalAuthorizedKey(signer.PublicKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	return &executor.Lease{Meta: policy.Credential{Name: name, Version: 1, Type: policy.SSHKey}, Secret: secret.New(pem.EncodeToMemory(block))}, signer, file
}

func edKey(t testing.TB, name string) (*executor.Lease, ssh.Signer, string) {
	t.Helper()
	_, raw, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newKey(t, raw, name)
}

// certify makes a user certificate for a key, as a line.
func certify(t testing.TB, ca ssh.Signer, key ssh.PublicKey, principal string, from, until time.Time) string {
	t.Helper()
	c := &ssh.Certificate{
		Key: key, CertType: ssh.UserCert, KeyId: "deploy@ci", ValidPrincipals: []string{principal},
		ValidAfter: uint64(from.Unix()), ValidBefore: uint64(until.Unix()),
		Permissions: ssh.Permissions{Extensions: map[string]string{"permit-pty": ""}},
	}
	if err := c.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(c)))
}

// Two real servers in a row, each with its own host key and its own user's key.
func TestARealJumpHost(t *testing.T) {
	jumpLease, _, jumpKeys := edKey(t, "jump")
	lease, _, keys := edKey(t, "inner")
	jumpAddr, login := sshdWith(t, "AuthorizedKeysFile "+jumpKeys)
	addr, _ := sshdWith(t, "AuthorizedKeysFile "+keys)
	r := runner(t, sshrun.Config{})
	pinned := pin(hostSigner(t, "host_ed25519"))
	a := command(addr, login, "echo $SSH_CONNECTION", lease, pinned)
	a.Hops = append(command(jumpAddr, login, "", jumpLease, pin(hostSigner(t, "host_rsa"))).Hops, a.Hops...)
	lease.Hops = []*executor.Lease{jumpLease}
	got := run(t.Context(), r, a, lease)
	_, port, _ := net.SplitHostPort(addr)
	if got.err != nil || !strings.Contains(string(got.Stdout), " "+port+"\n") {
		t.Fatalf("%v %+v", got.err, got.SSHResponse)
	}
	f := runFile(t.Context(), r, fileOp(a, action.ReadFile, "/proc/version"), lease)
	if f.err != nil || f.Facts["reused"] != true {
		t.Errorf("a file over the same way: %v %+v", f.err, f.FileResponse)
	}

	// Each hop is judged by its own pin, and logged in to with its own key.
	wrong := *a
	wrong.Hops = append([]action.Hop{}, a.Hops...)
	wrong.Hops[0].HostKeys = []string{pin(hostSigner(t, "other_ed25519"))}
	run(t.Context(), r, &wrong, lease).refused(t, executor.HostKeyMismatch, jumpAddr)
	swapped := *a
	swapped.Hops = []action.Hop{a.Hops[0], a.Hops[1]}
	swapped.Hops[0].Credential, swapped.Hops[1].Credential = a.Hops[1].Credential, a.Hops[0].Credential
	swap := *jumpLease
	swap.Hops = []*executor.Lease{lease}
	run(t.Context(), r, &swapped, &swap).refused(t, executor.SSHAuthFailed)
}

func TestThreeJumpHostsAndIPv6(t *testing.T) {
	l := keyLease(t)
	key := hostSigner(t, "host_ed25519")
	var a *action.SSH
	var servers []*server
	for i := range 4 {
		s := newServer(t, key)
		addr := s.start(t)
		servers = append(servers, s)
		next := command(addr, "u", "x", l, pin(key))
		if i > 0 {
			next.Hops = append(a.Hops, next.Hops...)
			l.Hops = append(l.Hops, keyLease(t))
		}
		a = next
	}
	r := runner(t, sshrun.Config{})
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	for i, s := range servers {
		if n := len(s.seen(&s.commands)); s.loggedIn() != 1 || (n == 1) != (i == 3) {
			t.Errorf("server %d: %d logins, %d commands", i, s.loggedIn(), n)
		}
	}

	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 on this machine: %v", err)
	}
	ln.Close()
	_, login := sshdWith(t, "ListenAddress [::1]:"+strings.TrimPrefix(ln.Addr().String(), "[::1]:"), "AuthorizedKeysFile "+copyTo(t, t.TempDir(), "testdata/key.good.pub"))
	one := keyLease(t)
	run(t.Context(), r, command(ln.Addr().String(), login, "echo six", one, pin(key)), one).ok(t, "six\n")
}

func TestUserCertificates(t *testing.T) {
	ca := hostSigner(t, "ca")
	addr, login := sshdWith(t, "AuthorizedKeysFile none", "TrustedUserCAKeys "+copyTo(t, t.TempDir(), "testdata/hostkeys/ca.pub"))
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r := runner(t, sshrun.Config{})
	ed, edSigner, _ := edKey(t, "ed")
	rs, rsSigner, _ := newKey(t, rsaKey, "rs")
	do := func(l *executor.Lease) result {
		return run(t.Context(), r, command(addr, login, "echo in", l, pin(hostSigner(t, "host_ed25519"))), l)
	}
	do(ed).refused(t, executor.SSHAuthFailed, "authentication failed (server offers: publickey")
	for name, c := range map[string]struct {
		lease *executor.Lease
		key   ssh.Signer
	}{"ed25519": {ed, edSigner}, "rsa": {rs, rsSigner}} {
		with := func(version int, ca ssh.Signer, principal string, from, until time.Duration) *executor.Lease {
			l := *c.lease
			l.Meta.Version = version
			l.Meta.Certificate = certify(t, ca, c.key.PublicKey(), principal, now.Add(from), now.Add(until))
			return &l
		}
		t.Run(name, func(t *testing.T) {
			do(with(2, ca, login, -time.Hour, time.Hour)).ok(t, "in\n")
			do(with(3, ca, login, -2*time.Hour, -time.Hour)).refused(t, executor.SSHAuthFailed, "the certificate of credential", "expired at", "nobody was logged in")
			do(with(4, ca, login, time.Hour, 2*time.Hour)).refused(t, executor.SSHAuthFailed, "is not valid before")
			do(with(5, ca, "somebody-else", -time.Hour, time.Hour)).refused(t, executor.SSHAuthFailed, "authentication failed")
			do(with(6, hostSigner(t, "other_ed25519"), login, -time.Hour, time.Hour)).refused(t, executor.SSHAuthFailed)
		})
	}
}

// The mark is in the environment of everything that a command starts.
func TestTheMarkFindsTheProcess(t *testing.T) {
	keys := "AuthorizedKeysFile " + copyTo(t, t.TempDir(), "testdata/key.good.pub")
	for _, c := range []struct{ accept, name string }{
		{"AcceptEnv EXECUTOR_*", "EXECUTOR_ACTIVITY"},
		{"AcceptEnv LANG LC_*", "LC_EXECUTOR_ACTIVITY"}, // as Debian ships it
		{"AcceptEnv LANG", ""},
	} {
		addr, login := sshdWith(t, keys, c.accept)
		l := keyLease(t)
		l.Activity = "0198c0de-77aa"
		r := runner(t, sshrun.Config{})
		for range 2 { // the second time the server's answer is known
			got := run(t.Context(), r, command(addr, login, "env | grep EXECUTOR; true", l, pin(hostSigner(t, "host_rsa"))), l)
			want, marker := "", any(nil)
			if c.name != "" {
				want = c.name + "=0198c0de-77aa\n"
				marker = c.name + "=0198c0de-77aa"
			}
			got.ok(t, want)
			if got.Facts["marker"] != marker {
				t.Errorf("%s: recorded as %v", c.accept, got.Facts["marker"])
			}
		}
		if c.name == action.MarkerFallback {
			continue // found like the first
		}
		line := "sleep 30" + fmt.Sprint(200+len(c.name))
		t.Cleanup(func() { endAll(t, line) })
		// The shell ignores TERM, so that the process may outlive the call.
		a := command(addr, login, "trap '' TERM; "+line+"; true", l, pin(hostSigner(t, "host_rsa")))
		a.Limits.Timeout = time.Second
		got := run(t.Context(), r, a, l)
		if !got.MayStillRun {
			continue // this server delivers KILL
		}
		_, find, ok := strings.Cut(got.Note, "with: ")
		if !ok {
			t.Fatalf("note %q", got.Note)
		}
		out := run(t.Context(), r, command(addr, login, find, l, pin(hostSigner(t, "host_rsa"))), l)
		pids := processes(t, line)
		if len(pids) == 0 {
			t.Fatalf("%s: %q does not run", c.accept, line)
		}
		if c.name == "" && strings.Contains(string(out.Stdout), line) {
			continue // by its command line the shell is found, not what it started
		}
		if !strings.Contains(string(out.Stdout), fmt.Sprint(pids[0])) {
			t.Errorf("%s: %s\nprinted %q, want pid %d", c.accept, find, out.Stdout, pids[0])
		}
	}
}

// The server's own default limits (MaxSessions 10, MaxStartups 10:30:100).
func TestFiftyAtOnce(t *testing.T) {
	addr, login := sshd(t)
	var dials atomic.Int32
	r := runner(t, sshrun.Config{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}})
	l := keyLease(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			got := run(t.Context(), r, command(addr, login, fmt.Sprintf("sleep 0.2; echo %d", i), l, pin(hostSigner(t, "host_ed25519"))), l)
			if got.err != nil || string(got.Stdout) != fmt.Sprintln(i) || got.started != 1 {
				t.Errorf("%d: %v %+v", i, got.err, got.SSHResponse)
			}
		})
	}
	wg.Wait()
	if n := dials.Load(); n > 6 {
		t.Errorf("%d connections for 50 commands", n)
	}
}

func TestAnInvalidCertificateIsNotShown(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	addr := s.start(t)
	l, signer, _ := edKey(t, "ed")
	l.Meta.Certificate = certify(t, hostSigner(t, "ca"), signer.PublicKey(), "u", time.Unix(0, 0), time.Unix(1000, 0))
	run(t.Context(), runner(t, sshrun.Config{}), command(addr, "u", "x", l, pin(key)), l).refused(t, executor.SSHAuthFailed, "expired at 1970-01-01T00:16:40Z")
	if got := s.seen(&s.attempts); len(got) != 0 {
		t.Errorf("attempts %q", got)
	}
	then := func() time.Time { return time.Unix(500, 0) }
	run(t.Context(), runner(t, sshrun.Config{Now: then}), command(addr, "u", "x", l, pin(key)), l).ok(t, "ran x\n")
}
