package sshfile_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"executor/internal/sshfile"
)

// signer makes a key from a seed, so that tests and fuzz seeds are the same each time.
func seeded(t testing.TB, seed byte) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func certificate(t testing.TB, change func(*ssh.Certificate)) string {
	t.Helper()
	c := &ssh.Certificate{
		Key: seeded(t, 1).PublicKey(), CertType: ssh.UserCert, KeyId: "deploy@ci", ValidPrincipals: []string{"deploy"},
		ValidAfter: 1767225600, ValidBefore: 1798761600, // the year 2026
	}
	if change != nil {
		change(c)
	}
	if err := c.SignCert(bytes.NewReader(make([]byte, 1024)), seeded(t, 2)); err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(c))
}

func TestCertificate(t *testing.T) {
	for name, text := range map[string]string{"as written": certificate(t, nil), "byte order mark, CRLF, comment": "\ufeff" + strings.TrimSpace(certificate(t, nil)) + " a comment\r\n"} {
		c, err := sshfile.ParseCertificate([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Line != strings.TrimSpace(certificate(t, nil)) || c.KeyID != "deploy@ci" || strings.Join(c.Principals, " ") != "deploy" ||
			c.Fingerprint != ssh.FingerprintSHA256(seeded(t, 1).PublicKey()) || c.Authority != ssh.FingerprintSHA256(seeded(t, 2).PublicKey()) {
			t.Errorf("%s: %+v", name, c)
		}
		for at, want := range map[string]string{"2025-12-31T23:59:59Z": "is not valid before 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z": "", "2026-12-31T23:59:59Z": "", "2027-01-01T00:00:00Z": "expired at 2027-01-01T00:00:00Z"} {
			when, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Valid(when); got != want {
				t.Errorf("%s at %s: %q, want %q", name, at, got, want)
			}
		}
		if signer, err := c.Signer(seeded(t, 1)); err != nil || signer.PublicKey().Type() != ssh.CertAlgoED25519v01 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.Signer(seeded(t, 3)); !errors.Is(err, sshfile.ErrOtherKey) {
			t.Errorf("%s: another key: %v", name, err)
		}
		if !c.For(string(ssh.MarshalAuthorizedKey(seeded(t, 1).PublicKey()))) || c.For(string(ssh.MarshalAuthorizedKey(seeded(t, 3).PublicKey()))) {
			t.Errorf("%s: for which key it is", name)
		}
	}
}

func TestCertificateWithoutEnd(t *testing.T) {
	c, err := sshfile.ParseCertificate([]byte(certificate(t, func(c *ssh.Certificate) { c.ValidAfter, c.ValidBefore = 0, ssh.CertTimeInfinity })))
	if err != nil || !c.Until.IsZero() || c.Valid(time.Unix(1<<40, 0)) != "" {
		t.Errorf("%+v %v", c, err)
	}
	c, err = sshfile.ParseCertificate([]byte(certificate(t, func(c *ssh.Certificate) { c.ValidBefore = math.MaxUint64 - 1 })))
	if _, jsonErr := c.Until.MarshalJSON(); err != nil || c.Until.IsZero() || jsonErr != nil {
		t.Errorf("an end past all years: %v %v %v", c.Until, err, jsonErr)
	}
}

func TestWhatIsNoUserCertificate(t *testing.T) {
	damaged := []byte(certificate(t, nil))
	damaged[len(damaged)-20] ^= 1
	for name, c := range map[string]struct{ text, words string }{
		"empty":      {"", "no certificate found"},
		"prose":      {"hello", "no certificate found"},
		"plain key":  {string(ssh.MarshalAuthorizedKey(seeded(t, 1).PublicKey())), "a plain public key"},
		"host":       {certificate(t, func(c *ssh.Certificate) { c.CertType = ssh.HostCert }), "a host certificate"},
		"two":        {certificate(t, nil) + certificate(t, nil), "more in this file"},
		"options":    {"no-pty " + certificate(t, nil), "more in this file"},
		"forged":     {string(damaged), ""},
		"other text": {certificate(t, nil) + "x y z\n", "more in this file"},
	} {
		if _, err := sshfile.ParseCertificate([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", name, err, c.words)
		}
	}
}

func FuzzCertificate(f *testing.F) {
	f.Add([]byte(certificate(f, nil)))
	f.Add(ssh.MarshalAuthorizedKey(seeded(f, 1).PublicKey()))
	f.Add([]byte("ssh-ed25519-cert-v01@openssh.com AAAA"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := sshfile.ParseCertificate(text)
		if err != nil {
			return
		}
		again, err := sshfile.ParseCertificate([]byte(c.Line))
		if err != nil || again.Line != c.Line || strings.ContainsAny(c.Line, "\r\n") {
			t.Fatalf("%q came back as %q, %v", c.Line, again.Line, err)
		}
	})
}
