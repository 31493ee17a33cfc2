package sshrun_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/executor/sshrun"
	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "c4nary-Pa55word-8f1e"

func runner(t *testing.T, cfg sshrun.Config) *sshrun.Runner {
	t.Helper()
	r := sshrun.New(cfg)
	t.Cleanup(r.Close)
	return r
}

func keyLease(t testing.TB) *executor.Lease {
	t.Helper()
	b, err := os.ReadFile("testdata/key.good")
	if err != nil {
		t.Fatal(err)
	}
	return &executor.Lease{Meta: policy.Credential{Name: "k", Version: 1, Type: policy.SSHKey}, Secret: secret.New(b)}
}

func passwordLease(p string) *executor.Lease {
	return &executor.Lease{Meta: policy.Credential{Name: "k", Version: 1, Type: policy.SSHPassword}, Secret: secret.New([]byte(p))}
}

func command(addr, user, line string, l *executor.Lease, pins ...string) *action.SSH {
	cred := &action.Credential{Name: l.Meta.Name, Version: l.Meta.Version, Type: l.Meta.Type, Slot: "ssh authentication"}
	return &action.SSH{
		Host: "web-1", Command: line,
		Hops:   []action.Hop{{Address: addr, User: user, HostKeys: pins, Credential: cred}},
		Limits: action.Limits{Timeout: 20 * time.Second, MaxBytes: 1 << 20},
	}
}

// result is what one Run gave.
type result struct {
	*executor.SSHResponse
	err     error
	started int
	took    time.Duration
}

func run(ctx context.Context, r *sshrun.Runner, a *action.SSH, l *executor.Lease) result {
	n := 0
	begin := time.Now()
	resp, err := r.Run(ctx, a, l, func() { n++ })
	out := result{err: err, started: n, took: time.Since(begin)}
	out.SSHResponse, _ = resp.(*executor.SSHResponse)
	return out
}

func (r result) code() executor.Code {
	var e *executor.RunError
	if errors.As(r.err, &e) {
		return e.Code
	}
	return ""
}

func (r result) message() string {
	var e *executor.RunError
	if errors.As(r.err, &e) {
		return e.Message
	}
	return ""
}

func (r result) ok(t *testing.T, stdout string) {
	t.Helper()
	if r.err != nil || r.Exit == nil || *r.Exit != 0 || string(r.Stdout) != stdout || r.started != 1 {
		t.Fatalf("err %v, response %+v, started %d; want exit 0 and %q", r.err, r.SSHResponse, r.started, stdout)
	}
}

func (r result) refused(t *testing.T, code executor.Code, words ...string) {
	t.Helper()
	if r.code() != code || r.started != 0 {
		t.Fatalf("err %v, started %d; want %s, not started", r.err, r.started, code)
	}
	for _, w := range words {
		if !strings.Contains(r.message(), w) {
			t.Errorf("message %q has no %q", r.message(), w)
		}
	}
	if strings.Contains(fmt.Sprintf("%v %+v", r.err, r.SSHResponse), canary) {
		t.Errorf("the password is in the error: %v", r.err)
	}
}

func TestCommandIsSentByteForByte(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	line := "printf '%s' \"$HOME\"\n\ttrue; é \xff"
	a := command(addr, "deploy", line, l, pin(key))
	a.Env = []action.EnvVar{{Name: "A", Value: "1 2"}}
	run(t.Context(), r, a, l).ok(t, "ran "+line+"\n")
	if got := s.seen(&s.commands); len(got) != 1 || got[0] != line {
		t.Errorf("the server got %q", got)
	}
	if got := s.seen(&s.env); len(got) != 1 || got[0] != "A=1 2" {
		t.Errorf("environment %q", got)
	}
}

func TestHostKeyCases(t *testing.T) {
	rsa, ecdsa, ed := hostSigner(t, "host_rsa"), hostSigner(t, "host_ecdsa"), hostSigner(t, "host_ed25519")
	ca, other := pin(hostSigner(t, "ca")), hostSigner(t, "other_ed25519")
	all := []ssh.Signer{rsa, ecdsa, ed}
	cert := func(name string) []ssh.Signer { return []ssh.Signer{certSigner(t, name), rsa, ecdsa} }
	fp := func(s ssh.Signer) string { return ssh.FingerprintSHA256(s.PublicKey()) }
	for name, c := range map[string]struct {
		server []ssh.Signer
		pins   []string
		want   []string // words of the refusal; nil: it connects
	}{
		"only rsa":          {all, []string{pin(rsa)}, nil},
		"only ecdsa":        {all, []string{pin(ecdsa)}, nil},
		"only ed25519":      {all, []string{pin(ed)}, nil},
		"several":           {all, []string{pin(other), pin(ed)}, nil},
		"wrong":             {all, []string{pin(other)}, []string{"host key changed", fp(other), fp(ed), "executor host rekey"}},
		"other type":        {[]ssh.Signer{ecdsa}, []string{pin(ed)}, []string{"host key changed", fp(ecdsa), fp(ed)}},
		"plain revoked":     {all, []string{pin(ed), "@revoked " + pin(ed)}, []string{"revoked"}},
		"one revoked":       {all, []string{pin(rsa), pin(ed), "@revoked " + pin(ed)}, nil},
		"certificate":       {cert("host_ed25519-good-cert.pub"), []string{"@cert-authority " + ca}, nil},
		"certificate+plain": {cert("host_ed25519-good-cert.pub"), []string{"@cert-authority " + ca, pin(rsa)}, nil},
		"authority revoked": {cert("host_ed25519-good-cert.pub"), []string{"@cert-authority " + ca, "@revoked " + ca}, []string{"revoked"}},
		"leaf revoked":      {cert("host_ed25519-good-cert.pub"), []string{"@cert-authority " + ca, "@revoked " + pin(ed)}, []string{"revoked"}},
		"expired":           {cert("host_ed25519-expired-cert.pub"), []string{"@cert-authority " + ca}, []string{"expired"}},
		"wrong name":        {cert("host_ed25519-wrongname-cert.pub"), []string{"@cert-authority " + ca}, []string{"another name"}},
		"other authority":   {cert("host_ed25519-good-cert.pub"), []string{"@cert-authority " + pin(other)}, []string{"host key changed", "a certificate of", fp(other)}},
		"no certificate":    {all, []string{"@cert-authority " + ca}, []string{"host key changed", "a certificate of"}},
		"authority as key":  {cert("host_ed25519-good-cert.pub"), []string{ca}, []string{"host key changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, c.server...)
			addr := s.start(t)
			l := keyLease(t)
			got := run(t.Context(), runner(t, sshrun.Config{}), command(addr, "u", "echo ok", l, c.pins...), l)
			if c.want == nil {
				got.ok(t, "ran echo ok\n")
				return
			}
			got.refused(t, executor.HostKeyMismatch, c.want...)
			if s.loggedIn() != 0 || len(s.seen(&s.attempts)) != 0 {
				t.Errorf("%d logins, attempts %q", s.loggedIn(), s.seen(&s.attempts))
			}
		})
	}
}

func TestCertificateTime(t *testing.T) {
	s := newServer(t, certSigner(t, "host_ed25519-expired-cert.pub"))
	addr := s.start(t)
	l := keyLease(t)
	r := runner(t, sshrun.Config{Now: func() time.Time { return time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC) }})
	run(t.Context(), r, command(addr, "u", "x", l, "@cert-authority "+pin(hostSigner(t, "ca"))), l).ok(t, "ran x\n")
}

func TestUnreadablePinRefuses(t *testing.T) {
	l := keyLease(t)
	for _, pins := range [][]string{nil, {"ssh-ed25519 AAAA"}, {pin(hostSigner(t, "host_rsa")), "@revoked nonsense"}, {"@revoked " + pin(hostSigner(t, "host_rsa"))}} {
		run(t.Context(), runner(t, sshrun.Config{}), command("127.0.0.1:1", "u", "x", l, pins...), l).refused(t, executor.Internal)
	}
}

func TestPasswordLogins(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	for _, c := range []struct {
		methods []string
		used    string
		offers  string
	}{
		{[]string{"password"}, "password", "password"},
		{[]string{"keyboard-interactive"}, "keyboard-interactive", "keyboard-interactive"},
		{[]string{"password", "keyboard-interactive"}, "password", "password, keyboard-interactive"},
	} {
		s := newServer(t, key)
		s.withPassword(canary, c.methods...)
		addr := s.start(t)
		l := passwordLease(canary)
		run(t.Context(), runner(t, sshrun.Config{}), command(addr, "u", "true", l, pin(key)), l).ok(t, "ran true\n")
		if got := s.seen(&s.attempts); len(got) != 1 || got[0] != c.used {
			t.Errorf("%v: attempts %q", c.methods, got)
		}

		s = newServer(t, key)
		s.withPassword("another", c.methods...)
		addr = s.start(t)
		run(t.Context(), runner(t, sshrun.Config{}), command(addr, "u", "true", l, pin(key)), l).
			refused(t, executor.SSHAuthFailed, "authentication failed (server offers: "+c.offers+")")
		if got := s.seen(&s.attempts); len(got) != 1 {
			t.Errorf("%v: a wrong password was tried %d times: %q", c.methods, len(got), got)
		}
	}
}

func TestPasswordIsGivenToOnePromptOnly(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	for name, rounds := range map[string][]struct {
		prompts []string
		echos   []bool
	}{
		"echo":   {{[]string{"Name: "}, []bool{true}}},
		"two":    {{[]string{"Password: ", "Code: "}, []bool{false, false}}},
		"second": {{[]string{"Password: "}, []bool{false}}, {[]string{"Again: "}, []bool{false}}},
	} {
		s := newServer(t, key)
		s.withPassword(canary)
		var got []string
		ended := make(chan struct{})
		s.config.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			defer close(ended)
			for _, r := range rounds {
				answers, err := ask("", "", r.prompts, r.echos)
				if err != nil {
					return nil, err
				}
				got = append(got, answers...)
			}
			return nil, nil
		}
		addr := s.start(t)
		l := passwordLease(canary)
		run(t.Context(), runner(t, sshrun.Config{}), command(addr, "u", "true", l, pin(key)), l).
			refused(t, executor.SSHAuthFailed, "asks for more")
		s.dropAll()
		<-ended
		if want := map[string]int{"second": 1}[name]; len(got) != want {
			t.Errorf("%s: answers %q", name, got)
		}
	}
}

func TestKeyRefused(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.withPassword("x", "password")
	addr := s.start(t)
	l := keyLease(t)
	run(t.Context(), runner(t, sshrun.Config{}), command(addr, "u", "true", l, pin(key)), l).
		refused(t, executor.SSHAuthFailed, "authentication failed (server offers: password)")
	l.Wipe()
	s2 := newServer(t, key)
	addr = s2.start(t)
	run(t.Context(), runner(t, sshrun.Config{}), command(addr, "u", "true", l, pin(key)), l).refused(t, executor.VaultLocked)
}

func TestTarpitHoldsNobody(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	gone := make(chan error, 1)
	go func() {
		c, err := ln.Accept()
		if err == nil {
			buf := make([]byte, 1<<10)
			for err == nil {
				_, err = c.Read(buf)
			}
			c.Close()
		}
		gone <- err
	}()
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	healthy := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	stuck := make(chan result, 1)
	go func() {
		a := command(ln.Addr().String(), "u", "x", l, pin(key))
		a.Limits.Timeout = time.Second
		stuck <- run(t.Context(), r, a, l)
	}()
	if got := run(t.Context(), r, command(healthy, "u", "x", l, pin(key)), l); got.err != nil || got.took > 900*time.Millisecond {
		t.Errorf("the healthy host: %v after %s", got.err, got.took)
	}
	got := <-stuck
	got.refused(t, executor.UpstreamTimeout, "handshake", "timed out", "nothing was run")
	if got.took > 3*time.Second {
		t.Errorf("took %s", got.took)
	}
	select {
	case <-gone:
	case <-time.After(2 * time.Second):
		t.Error("a connection to the tarpit is left")
	}
}

func TestUnreachable(t *testing.T) {
	ln, _ := net.Listen("tcp", "127.0.0.1:0")
	addr := ln.Addr().String()
	ln.Close()
	l := keyLease(t)
	a := command(addr, "u", "x", l, pin(hostSigner(t, "host_rsa")))
	run(t.Context(), runner(t, sshrun.Config{}), a, l).refused(t, executor.UpstreamUnreachable, "refused")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run(ctx, runner(t, sshrun.Config{}), a, l).refused(t, executor.CallCancelled, "nothing was run")
}

func TestLeaseMustBeTheNamedOne(t *testing.T) {
	l := keyLease(t)
	a := command("127.0.0.1:1", "u", "x", l, pin(hostSigner(t, "host_rsa")))
	l.Meta.Version = 2
	run(t.Context(), runner(t, sshrun.Config{}), a, l).refused(t, executor.Internal)
	run(t.Context(), runner(t, sshrun.Config{}), a, nil).refused(t, executor.Internal)
}

func TestRefusedEnvironmentRunsNothing(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.acceptEnv = func(name string) bool { return name == "LANG" }
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	a := command(addr, "u", "x", l, pin(key))
	a.Env = []action.EnvVar{{Name: "LANG", Value: "C"}, {Name: "SECRET_MODE", Value: "1"}}
	run(t.Context(), r, a, l).refused(t, executor.InvalidArguments, "SECRET_MODE")
	if got := s.seen(&s.commands); len(got) != 0 {
		t.Errorf("ran %q", got)
	}
	run(t.Context(), r, command(addr, "u", "x", l, pin(key)), l).ok(t, "ran x\n")
}

func TestThreeKindsOfEnd(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.exec = func(line string, ch ssh.Channel, _ <-chan string) {
		switch line {
		case "code":
			exitStatus(ch, 7)
		case "signal":
			exitSignal(ch, "SEGV")
		case "odd signal":
			exitSignal(ch, "\x1b[31m"+canary)
		}
		ch.Close()
	}
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	for line, want := range map[string]string{"code": "7 ", "signal": "- SEGV", "odd signal": "- unknown", "nothing": "- "} {
		got := run(t.Context(), r, command(addr, "u", line, l, pin(key)), l)
		if got.err != nil {
			t.Fatal(got.err)
		}
		exit := "-"
		if got.Exit != nil {
			exit = fmt.Sprint(*got.Exit)
		}
		if exit+" "+got.Signal != want || (line == "nothing") != strings.Contains(got.Note, "not known") {
			t.Errorf("%s: %q %q note %q", line, exit, got.Signal, got.Note)
		}
	}
}

func TestOutputIsBoundedAndDrained(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	const flood = 8 << 20
	s.exec = func(_ string, ch ssh.Channel, _ <-chan string) {
		chunk := make([]byte, 64<<10)
		for n := 0; n < flood; n += len(chunk) { // all of stderr before any stdout
			ch.Stderr().Write(chunk)
		}
		fmt.Fprint(ch, "0123456789")
		exitStatus(ch, 0)
		ch.Close()
	}
	addr := s.start(t)
	l := keyLease(t)
	a := command(addr, "u", "x", l, pin(key))
	a.Limits.MaxBytes = 4
	got := run(t.Context(), runner(t, sshrun.Config{}), a, l)
	got.ok(t, "0123")
	if !got.StdoutTruncated || !got.StderrTruncated || len(got.Stderr) != 4 || got.Total != flood+10 {
		t.Errorf("%v %v %d %d", got.StdoutTruncated, got.StderrTruncated, len(got.Stderr), got.Total)
	}
}

func TestChannelHeldOpen(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.exec = func(line string, ch ssh.Channel, _ <-chan string) {
		fmt.Fprint(ch, "started")
		exitStatus(ch, 0)
		if line != "bg" {
			ch.Close()
		}
	}
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	got := run(t.Context(), r, command(addr, "u", "bg", l, pin(key)), l)
	got.ok(t, "started")
	if !got.ChannelLeftOpen || got.Note == "" || got.MayStillRun || got.took > 5*time.Second {
		t.Errorf("%+v after %s", got.SSHResponse, got.took)
	}
	run(t.Context(), r, command(addr, "u", "next", l, pin(key)), l).ok(t, "started")
}

func TestTimeoutSignalsThenSaysWhatIsKnown(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	var mu sync.Mutex
	var signals []string
	s.exec = func(line string, ch ssh.Channel, in <-chan string) {
		fmt.Fprint(ch, "so far")
		for name := range in {
			mu.Lock()
			signals = append(signals, line+":"+name)
			mu.Unlock()
			if line == "obeys "+name {
				exitSignal(ch, name)
				ch.Close()
			}
		}
	}
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	for _, c := range []struct {
		line, signal string
		may          bool
	}{{"obeys TERM", "TERM", false}, {"obeys KILL", "KILL", false}, {"ignores all", "", true}} {
		a := command(addr, "deploy", c.line, l, pin(key))
		a.Limits.Timeout = 500 * time.Millisecond
		got := run(t.Context(), r, a, l)
		if got.code() != executor.UpstreamTimeout || got.started != 1 || string(got.Stdout) != "so far" || got.Signal != c.signal || got.MayStillRun != c.may {
			t.Errorf("%s: %v %+v", c.line, got.err, got.SSHResponse)
		}
		if c.may && !strings.Contains(got.message(), "may still run; look for it on web-1 with: pgrep -u deploy -af -- 'ignores all'") {
			t.Errorf("%s: message %q", c.line, got.message())
		}
		if got.took > 3*time.Second {
			t.Errorf("%s: took %s", c.line, got.took)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	want := "obeys TERM:TERM obeys KILL:TERM obeys KILL:KILL ignores all:TERM ignores all:KILL"
	if got := strings.Join(signals, " "); got != want {
		t.Errorf("signals %q, want %q", got, want)
	}
}

func TestCancel(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.exec = func(line string, ch ssh.Channel, in <-chan string) {
		for name := range in {
			if line == "obeys" {
				exitSignal(ch, name)
				ch.Close()
			}
		}
	}
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	for _, line := range []string{"obeys", "ignores"} {
		ctx, cancel := context.WithCancel(t.Context())
		before := len(s.seen(&s.commands))
		go func() {
			for len(s.seen(&s.commands)) == before {
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
		}()
		got := run(ctx, r, command(addr, "u", line, l, pin(key)), l)
		if got.code() != executor.CallCancelled || got.started != 1 || got.MayStillRun != (line == "ignores") || got.took > 3*time.Second {
			t.Errorf("%s: %v %+v after %s", line, got.err, got.SSHResponse, got.took)
		}
	}
}

func TestConnectionLostDuringCommandIsNotRepeated(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.exec = func(line string, ch ssh.Channel, _ <-chan string) {
		if line == "drop" {
			fmt.Fprint(ch, "half")
			time.Sleep(100 * time.Millisecond)
			s.dropAll()
			return
		}
		exitStatus(ch, 0)
		ch.Close()
	}
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	got := run(t.Context(), r, command(addr, "u", "drop", l, pin(key)), l)
	if got.code() != executor.UpstreamUnreachable || !got.MayStillRun || got.started != 1 || string(got.Stdout) != "half" {
		t.Errorf("%v %+v", got.err, got.SSHResponse)
	}
	if n := s.seen(&s.commands); len(n) != 1 {
		t.Errorf("ran %q", n)
	}
	run(t.Context(), r, command(addr, "u", "next", l, pin(key)), l).ok(t, "")
}

func TestDeadConnectionIsReplacedBefore(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	a := command(addr, "u", "x", l, pin(key))
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	if s.connections() != 1 {
		t.Fatalf("%d connections for two commands", s.connections())
	}
	s.dropAll()
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	if got := s.seen(&s.commands); len(got) != 3 || s.connections() != 2 {
		t.Errorf("%d commands, %d connections", len(got), s.connections())
	}
}

func TestConnectionsAreSeparate(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	a := command(addr, "u", "x", l, pin(key))
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	b := command(addr, "u", "x", l, pin(key), pin(hostSigner(t, "host_rsa"))) // another set of pins
	run(t.Context(), r, b, l).ok(t, "ran x\n")
	l.Meta.Version = 2
	c := command(addr, "u", "x", l, pin(key))
	run(t.Context(), r, c, l).ok(t, "ran x\n")
	if s.connections() != 3 {
		t.Errorf("%d connections, want 3", s.connections())
	}
}

func TestIdleConnectionIsClosed(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{Idle: 100 * time.Millisecond, KeepAlive: 50 * time.Millisecond}), keyLease(t)
	a := command(addr, "u", "x", l, pin(key))
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	time.Sleep(400 * time.Millisecond)
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	if s.connections() != 2 {
		t.Errorf("%d connections, want 2", s.connections())
	}
}

func TestSessionLimitOpensFurtherConnections(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.maxSessions = 4
	s.exec = func(line string, ch ssh.Channel, _ <-chan string) {
		time.Sleep(150 * time.Millisecond)
		fmt.Fprint(ch, line)
		exitStatus(ch, 0)
		ch.Close()
	}
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			line := fmt.Sprint("n", i)
			got := run(t.Context(), r, command(addr, "u", line, l, pin(key)), l)
			if got.err != nil || string(got.Stdout) != line {
				t.Errorf("%s: %v %q", line, got.err, got.Stdout)
			}
		})
	}
	wg.Wait()
	if n := len(s.seen(&s.commands)); n != 20 || s.connections() > 6 {
		t.Errorf("%d commands over %d connections", n, s.connections())
	}
}

func TestWrongPasswordIsTriedOnceByAllWhoWait(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.withPassword("right", "password")
	slow := s.config.PasswordCallback
	s.config.PasswordCallback = func(m ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
		time.Sleep(300 * time.Millisecond)
		return slow(m, p)
	}
	addr := s.start(t)
	r := runner(t, sshrun.Config{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l := passwordLease(canary)
			if got := run(t.Context(), r, command(addr, "u", "x", l, pin(key)), l); got.code() != executor.SSHAuthFailed {
				t.Errorf("%v", got.err)
			}
		})
	}
	wg.Wait()
	if got := s.seen(&s.attempts); len(got) != 1 {
		t.Errorf("%d attempts", len(got))
	}
}

func TestJumpHost(t *testing.T) {
	jumpKey, key := hostSigner(t, "host_rsa"), hostSigner(t, "host_ed25519")
	jump, s := newServer(t, jumpKey), newServer(t, key)
	jump.withPassword(canary, "password")
	jumpAddr, addr := jump.start(t), s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	first := passwordLease(canary)
	a := command(addr, "u", "x", l, pin(key))
	a.Hops = append(command(jumpAddr, "j", "", first, pin(jumpKey)).Hops, a.Hops...)
	l.Hops = []*executor.Lease{first}
	run(t.Context(), r, a, l).ok(t, "ran x\n")
	if jump.loggedIn() != 1 || len(jump.seen(&jump.commands)) != 0 {
		t.Errorf("jump host: %d logins, ran %q", jump.loggedIn(), jump.commands)
	}
	a.Hops[1].HostKeys = []string{pin(jumpKey)}
	run(t.Context(), r, a, l).refused(t, executor.HostKeyMismatch, addr)
}

func TestScanHostKeys(t *testing.T) {
	keys := []ssh.Signer{hostSigner(t, "host_rsa"), hostSigner(t, "host_ecdsa"), hostSigner(t, "host_ed25519")}
	s := newServer(t, keys...)
	addr := s.start(t)
	pins, err := sshrun.ScanHostKeys(t.Context(), addr, nil)
	if err != nil || len(pins) != 3 || pins[0] != pin(keys[1]) || pins[1] != pin(keys[2]) || pins[2] != pin(keys[0]) {
		t.Errorf("%q %v", pins, err)
	}
	if len(s.seen(&s.attempts)) != 0 {
		t.Error("the scan tried to log in")
	}
	ln, _ := net.Listen("tcp", "127.0.0.1:0")
	defer ln.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if pins, err := sshrun.ScanHostKeys(ctx, ln.Addr().String(), nil); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("tarpit: %q %v", pins, err)
	}
}
