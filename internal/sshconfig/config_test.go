package sshconfig_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"executor/internal/sshconfig"
)

// read makes a home with an SSH configuration and further files, and reads it.
func read(t *testing.T, config string, more ...string) (*sshconfig.Config, error) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".ssh")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(more); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, more[i]), []byte(more[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(config, "HOME", home)), 0o600); err != nil {
		t.Fatal(err)
	}
	return sshconfig.Read(file, home, "me")
}

func must(t *testing.T, config string, more ...string) *sshconfig.Config {
	t.Helper()
	c, err := read(t, config, more...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHostsAsSSHReachesThem(t *testing.T) {
	c := must(t, `
# the first value counts, also of a wildcard
Host web-? !web-9
    Port 2222
Host web-1
    HostName=%h.example.com
    Port 22
    User "deploy"
    IdentityFile ~/.ssh/a
    IdentityFile %d/.ssh/%h-%p-%r-%u
    CertificateFile ~/.ssh/a-cert.pub
    ProxyJump bastion,root@[2001:db8::1]:2200,ssh://x@y:1
    HostKeyAlias w
    UserKnownHostsFile ~/.ssh/k1 /etc/k2
    GlobalKnownHostsFile none
    SendEnv X
    forwardagent yes
Host plain web-9
Host six
    HostName 2001:db8::2
Match all
    StrictHostKeyChecking no
`)
	if got := strings.Join(c.Aliases(), " "); got != "web-1 plain web-9 six" {
		t.Errorf("aliases %q", got)
	}
	e, err := c.Entry("web-1")
	if err != nil {
		t.Fatal(err)
	}
	base := func(paths []string) (out []string) {
		for _, p := range paths {
			out = append(out, filepath.Base(p))
		}
		return out
	}
	if e.Addr != "web-1.example.com:2222" || e.User != "deploy" || e.HostKeyAlias != "w" ||
		!slices.Equal(base(e.Keys), []string{"a", "web-1.example.com-2222-deploy-me"}) || !slices.Equal(base(e.Certificates), []string{"a-cert.pub"}) ||
		!slices.Equal(base(e.KnownHosts), []string{"k1", "k2"}) ||
		!slices.Equal(e.Ignored, []string{"forwardagent", "sendenv", "stricthostkeychecking"}) ||
		!slices.Equal(e.Jumps, []sshconfig.Jump{{Host: "bastion"}, {User: "root", Host: "2001:db8::1", Port: "2200"}, {User: "x", Host: "y", Port: "1"}}) {
		t.Errorf("%+v", e)
	}
	for alias, addr := range map[string]string{"plain": "plain:22", "web-9": "web-9:22", "six": "[2001:db8::2]:22", "unlisted": "unlisted:22"} {
		if e, err := c.Entry(alias); err != nil || e.Addr != addr || e.User != "me" || len(e.Keys) != 0 || len(e.KnownHosts) != 4 {
			t.Errorf("%s: %+v, %v", alias, e, err)
		}
	}
}

func TestIncludes(t *testing.T) {
	c := must(t, "Include a.conf HOME/.ssh/b*.conf nosuch\nUser outer\nHost x\n  Include a.conf\n  Port 1\n",
		"a.conf", "Host a\n  User inner\nHost y\n", "b1.conf", "Include c.conf\n", "c.conf", "Host c\r\n  Port 2\r\n")
	if got := strings.Join(c.Aliases(), " "); got != "a y c x" {
		t.Errorf("aliases %q", got)
	}
	for alias, want := range map[string]string{"a": "inner a:22", "c": "outer c:2", "x": "outer x:1"} {
		if e, err := c.Entry(alias); err != nil || e.User+" "+e.Addr != want {
			t.Errorf("%s: %+v, %v", alias, e, err)
		}
	}
	if len(c.LeftOut) != 1 || !strings.HasSuffix(c.LeftOut[0], "config:4: Include inside a block") {
		t.Errorf("left out: %q", c.LeftOut)
	}
	if _, err := read(t, "Include config\n"); err == nil || !strings.Contains(err.Error(), "included more than 16 deep") {
		t.Errorf("a file that includes itself: %v", err)
	}
}

func TestWhatIsNotTaken(t *testing.T) {
	c := must(t, `
Host command
    ProxyCommand nc %h %p
Host none
    ProxyCommand none
    ProxyJump none
Host token
    IdentityFile ~/.ssh/%C
Host env
    HostName ${TARGET}
Host jump
    ProxyJump a%b
Match exec "touch ran"
    User evil
Match host command
    User evil
`)
	for alias, words := range map[string]string{"command": "ProxyCommand", "token": "token", "env": "environment", "jump": "cannot be read"} {
		if _, err := c.Entry(alias); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", alias, err, words)
		}
	}
	if e, err := c.Entry("none"); err != nil || e.User != "me" || e.Jumps != nil {
		t.Errorf("none: %+v, %v", e, err)
	}
	if len(c.LeftOut) != 2 || !strings.Contains(c.LeftOut[0], `config:13: the block under Match exec "touch ran"`) {
		t.Errorf("left out: %q", c.LeftOut)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("Host a\n  HostName b\n  ProxyJump c@d:1,e\nMatch all\n User x\n", "a")
	f.Add("Host *\nIdentityFile \"~/%d %%\n", "x")
	f.Add("Include x\nHost =\nPort\n\x00", "")
	f.Fuzz(func(t *testing.T, text, alias string) {
		if strings.Contains(strings.ToLower(text), "include") {
			t.Skip("reads other files")
		}
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := sshconfig.Read(file, "/home/me", "me")
		if err != nil {
			return
		}
		for _, a := range append(c.Aliases(), alias) {
			if e, err := c.Entry(a); err == nil && (e.Alias != a || e.User == "" || !strings.Contains(e.Addr, ":")) {
				t.Fatalf("%q: %+v", a, e)
			}
		}
	})
}
