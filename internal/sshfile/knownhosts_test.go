package sshfile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/knownhosts"

	"executor/internal/sshfile"
)

const (
	hostEd = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAyfJXzwro5JA5abkrbYbeDGRFOsDDYONtry1cIeyMcD"
	otherE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPT3JyzBoVOY72Ho3PFjDq3Yd09Al/Gatb6MGywFF5sC"
	caEd   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILMzIxFMWwvJh8JcSOi/a0/q3n7xeKWHcAicjOtHsPE8"
)

func TestKnownHostsCases(t *testing.T) {
	for _, c := range []struct {
		file string
		pins []string
		warn []string // in the one warning
	}{
		{"ssh-01/known_hosts.only_ed25519", []string{hostEd}, nil},
		{"ssh-01/known_hosts.hashed_ed25519", []string{hostEd}, nil},
		{"ssh-01/known_hosts.WRONG_must_refuse", []string{otherE}, nil},
		{"ssh-02/known_hosts.ca_revoked", []string{"@cert-authority " + caEd, "@revoked " + caEd}, nil},
		{"ssh-02/known_hosts.leaf_revoked", []string{"@cert-authority " + caEd, "@revoked " + hostEd}, nil},
		{"ssh-02/known_hosts.plain_revoked", []string{"@revoked " + hostEd, hostEd}, nil},
		{"ssh-03/known_hosts.badbase64_elsewhere", []string{hostEd}, []string{"kh:1:", "base64"}},
		{"ssh-03/known_hosts.glued_then_good", []string{hostEd}, []string{"kh:1:", "glued"}},
		{"ssh-03/known_hosts.v6_bracket_noport", []string{hostEd}, []string{"kh:1:", "without a port"}},
		{"ssh-03/known_hosts.ssh1_and_unknown_algo", []string{hostEd}, []string{"kh:1:", "kh:2:"}},
		{"ssh-03/known_hosts.crlf", []string{hostEd}, nil},
		{"ssh-03/known_hosts.bom", []string{hostEd}, nil},
	} {
		pins, warnings, err := sshfile.ParseKnownHosts(read(t, c.file), "kh", "127.0.0.1:2222")
		if err != nil || !slices.Equal(pins, c.pins) {
			t.Errorf("%s: %q %v, want %q", c.file, pins, err, c.pins)
		}
		if (len(c.warn) > 0) != (len(warnings) == 1) || len(warnings) > 1 {
			t.Errorf("%s: warnings %q", c.file, warnings)
			continue
		}
		for _, w := range c.warn {
			if !strings.Contains(warnings[0], w) {
				t.Errorf("%s: warning %q has no %q", c.file, warnings[0], w)
			}
		}
	}
	for file, kind := range map[string]string{"only_rsa": "ssh-rsa ", "only_ecdsa": "ecdsa-sha2-nistp256 "} {
		pins, _, err := sshfile.ParseKnownHosts(read(t, "ssh-01/known_hosts."+file), "kh", "127.0.0.1:2222")
		if err != nil || len(pins) != 1 || !strings.HasPrefix(pins[0], kind) {
			t.Errorf("%s: %q %v", file, pins, err)
		}
	}
}

func TestKnownHostsOnlyBadLines(t *testing.T) {
	_, _, err := sshfile.ParseKnownHosts(read(t, "ssh-03/known_hosts.only_glued"), "some/known_hosts", "127.0.0.1:2222")
	if !errors.Is(err, sshfile.ErrNoHostKey) || !strings.Contains(err.Error(), "some/known_hosts:1:") || !strings.Contains(err.Error(), "glued") {
		t.Errorf("%v", err)
	}
}

func TestKnownHostsMatching(t *testing.T) {
	hashed := knownhosts.HashHostname("web-1.example.com")
	for _, c := range []struct {
		line, host string
		want       bool
	}{
		{"web-1.example.com " + hostEd, "web-1.example.com:22", true},
		{"WEB-1.example.com " + hostEd, "web-1.example.com:22", true},
		{"[web-1.example.com]:22 " + hostEd, "web-1.example.com:22", true},
		{hashed + " " + hostEd, "web-1.example.com:22", true},
		{hashed + " " + hostEd, "web-2.example.com:22", false},
		{"web-1.example.com " + hostEd, "web-1.example.com:2222", false},
		{"[web-1.example.com]:2222 " + hostEd, "web-1.example.com:22", false},
		{"*.example.com " + hostEd, "web-1.example.com:22", true},
		{"*.example.com,!web-1.example.com " + hostEd, "web-1.example.com:22", false},
		{"web-?.example.com " + hostEd, "web-1.example.com:22", true},
		{"[2001:db8::1]:2222 " + hostEd, "[2001:db8::1]:2222", true},
		{"2001:db8::1 " + hostEd, "[2001:db8::1]:22", true},
		{"web-1.example.com,10.0.0.1 " + hostEd + " a comment with words", "10.0.0.1:22", true},
		{"example.com " + hostEd, "web-1.example.com:22", false},
	} {
		pins, _, err := sshfile.ParseKnownHosts([]byte(c.line), "kh", c.host)
		if got := err == nil && slices.Equal(pins, []string{hostEd}); got != c.want {
			t.Errorf("%s for %s: %q %v", c.line, c.host, pins, err)
		}
	}
}

func TestKnownHostsRevocationFailsClosed(t *testing.T) {
	good := "[h]:2222 " + hostEd + "\n"
	pins, _, err := sshfile.ParseKnownHosts([]byte(good+"@revoked h "+otherE), "kh", "h:2222")
	if err != nil || !slices.Contains(pins, "@revoked "+otherE) {
		t.Errorf("a revocation for the bare name: %q %v", pins, err)
	}
	for _, bad := range []string{"@revoked * ssh-ed25519 AAAAnot!base64", "@revoked h", "@revoked [h]:2222 unknown AAAA"} {
		if pins, _, err := sshfile.ParseKnownHosts([]byte(good+bad), "kh", "h:2222"); err == nil || !strings.Contains(err.Error(), "kh:2:") {
			t.Errorf("%s: %q %v", bad, pins, err)
		}
	}
	if _, _, err := sshfile.ParseKnownHosts([]byte("@revoked * "+hostEd), "kh", "h:22"); !errors.Is(err, sshfile.ErrNoHostKey) {
		t.Errorf("only revoked: %v", err)
	}
	if _, _, err := sshfile.ParseKnownHosts([]byte(good), "kh", "h"); err == nil {
		t.Error("a host without port was taken")
	}
}

func TestKnownHostsNamesFewBadLines(t *testing.T) {
	var b strings.Builder
	for range 40 {
		b.WriteString("x ssh-ed25519 !!\n")
	}
	fmt.Fprintln(&b, "h "+hostEd)
	_, warnings, err := sshfile.ParseKnownHosts([]byte(b.String()), "kh", "h:22")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "and 35 more") {
		t.Errorf("%q %v", warnings, err)
	}
}

func FuzzParseKnownHosts(f *testing.F) {
	for _, name := range []string{"ssh-01/known_hosts.hashed_ed25519", "ssh-02/known_hosts.leaf_revoked", "ssh-03/known_hosts.glued_then_good", "ssh-03/known_hosts.ssh1_and_unknown_algo"} {
		f.Add(read(f, name), "127.0.0.1:2222")
	}
	f.Add([]byte("@ \n@revoked\n|1|| x y\n[]: a b"), "[::1]:22")
	f.Fuzz(func(t *testing.T, data []byte, host string) {
		pins, warnings, err := sshfile.ParseKnownHosts(data, "kh", host)
		if err != nil {
			if pins != nil {
				t.Fatalf("pins beside %v", err)
			}
			return
		}
		for _, p := range pins {
			again, _, err := sshfile.ParseKnownHosts([]byte(reLine(p)), "kh", "h:22")
			if strings.HasPrefix(p, sshfile.Revoked) {
				continue
			}
			if err != nil || !slices.Equal(again, []string{p}) {
				t.Fatalf("pin %q reads as %q, %v", p, again, err)
			}
		}
		for _, w := range warnings {
			if strings.Contains(w, "\n") {
				t.Fatalf("warning %q", w)
			}
		}
	})
}

func reLine(pin string) string {
	if marker, key, ok := strings.Cut(pin, " "); ok && strings.HasPrefix(marker, "@") {
		return marker + " h " + key
	}
	return "h " + pin
}
