package sshrun

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"executor/executor"
)

const (
	authorityMark = "@cert-authority "
	revokedMark   = "@revoked "
)

// pins are the host keys of one hop.
type pins struct {
	keys, authorities, revoked []ssh.PublicKey
}

// parsePins reads the pins of an action. One that cannot be read refuses them all:
// it might be a revocation.
func parsePins(lines []string) (pins, error) {
	var p pins
	for _, line := range lines {
		to, text := &p.keys, line
		if rest, ok := strings.CutPrefix(line, authorityMark); ok {
			to, text = &p.authorities, rest
		} else if rest, ok := strings.CutPrefix(line, revokedMark); ok {
			to, text = &p.revoked, rest
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(text))
		if err != nil || len(options) > 0 {
			return pins{}, internal("a pinned host key cannot be read")
		}
		*to = append(*to, key)
	}
	if len(p.keys)+len(p.authorities) == 0 {
		return pins{}, internal("no host key is pinned")
	}
	return p, nil
}

// algorithms orders the host key algorithms so that the server shows a key that
// can be judged: certificates where an authority is pinned, then the pinned keys' own,
// then those of revoked keys, then all others, which only serve to name the offered key.
func (p pins) algorithms() []string {
	supported := ssh.SupportedAlgorithms().HostKeys
	var order []string
	add := func(match func(algorithm string) bool) {
		for _, a := range supported {
			if match(a) && !slices.Contains(order, a) {
				order = append(order, a)
			}
		}
	}
	isCert := func(a string) bool { return strings.Contains(a, "-cert-") }
	if len(p.authorities) > 0 {
		add(isCert)
	}
	for _, key := range p.keys {
		if !contains(p.revoked, key) {
			add(func(a string) bool { return keyType(a) == key.Type() })
		}
	}
	for _, key := range p.revoked {
		add(func(a string) bool { return keyType(a) == key.Type() })
	}
	add(func(a string) bool { return !isCert(a) })
	return order
}

// keyType is the type of key that a host key algorithm uses (RFC 8332).
func keyType(algorithm string) string {
	if algorithm == ssh.KeyAlgoRSASHA256 || algorithm == ssh.KeyAlgoRSASHA512 {
		return ssh.KeyAlgoRSA
	}
	return algorithm
}

// callback judges the server's key; its error is a *executor.RunError.
func (p pins) callback(now func() time.Time) ssh.HostKeyCallback {
	return func(addr string, remote net.Addr, offered ssh.PublicKey) error {
		cert, isCert := offered.(*ssh.Certificate)
		plain := offered
		if isCert {
			plain = cert.Key
		}
		switch {
		case contains(p.revoked, plain):
			return mismatch("the host key of %s (%s) is revoked", addr, ssh.FingerprintSHA256(plain))
		case isCert && contains(p.revoked, cert.SignatureKey):
			return mismatch("the authority of the host key of %s (%s) is revoked", addr, ssh.FingerprintSHA256(cert.SignatureKey))
		case contains(p.keys, plain):
			return nil
		case !isCert || !contains(p.authorities, cert.SignatureKey):
			return p.unknown(addr, offered)
		}
		return p.certificate(addr, remote, cert, now)
	}
}

func (p pins) certificate(addr string, remote net.Addr, cert *ssh.Certificate, now func() time.Time) error {
	checker := ssh.CertChecker{
		IsHostAuthority: func(key ssh.PublicKey, _ string) bool { return contains(p.authorities, key) },
		Clock:           now,
	}
	if err := checker.CheckHostKey(addr, remote, cert); err != nil {
		return mismatch("the host certificate of %s is not valid: %s", addr, certificateProblem(addr, cert, now()))
	}
	return nil
}

// certificateProblem names what CertChecker found, without the certificate's own words.
func certificateProblem(addr string, cert *ssh.Certificate, now time.Time) string {
	host, _, _ := net.SplitHostPort(addr)
	switch at := uint64(now.Unix()); {
	case !slices.Contains(cert.ValidPrincipals, host):
		return "it is for another name"
	case at < cert.ValidAfter:
		return "it is not valid yet"
	case cert.ValidBefore != ssh.CertTimeInfinity && at >= cert.ValidBefore:
		return "it has expired"
	}
	return "it is not a host certificate, or its signature does not hold"
}

func (p pins) unknown(addr string, offered ssh.PublicKey) error {
	var expected []string
	for _, key := range p.keys {
		expected = append(expected, fmt.Sprintf("%s %s", key.Type(), ssh.FingerprintSHA256(key)))
	}
	for _, key := range p.authorities {
		expected = append(expected, fmt.Sprintf("a certificate of %s %s", key.Type(), ssh.FingerprintSHA256(key)))
	}
	if cert, ok := offered.(*ssh.Certificate); ok {
		offered = cert.Key
	}
	return mismatch("host key changed: %s is expected to have %s, and offered %s %s; if this is right, the operator must say so with: executor host rekey",
		addr, strings.Join(expected, " or "), offered.Type(), ssh.FingerprintSHA256(offered))
}

func mismatch(format string, args ...any) error {
	return &executor.RunError{Code: executor.HostKeyMismatch, Message: fmt.Sprintf(format, args...) + "; nobody was logged in"}
}

func contains(list []ssh.PublicKey, key ssh.PublicKey) bool {
	blob := key.Marshal()
	return slices.ContainsFunc(list, func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), blob) })
}
