package sshfile

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// ErrOtherKey: a certificate is for another key.
var ErrOtherKey = errors.New("the certificate is for another key")

// A Certificate is an SSH user certificate (OpenSSH's PROTOCOL.certkeys). It holds no secret.
type Certificate struct {
	// Line is the certificate as one line, "ssh-ed25519-cert-v01@openssh.com AAAA…".
	Line string
	// Fingerprint is the "SHA256:…" of the key that it is for, Authority that of the key that signed it.
	Fingerprint string
	Authority   string
	// KeyID and Principals are what its issuer wrote.
	KeyID      string
	Principals []string
	// From and Until bound its validity; a zero Until is no end.
	From, Until time.Time

	parsed *ssh.Certificate
}

// ParseCertificate reads a user certificate, such as the file id_ed25519-cert.pub.
// A host certificate, one whose signature does not hold, and anything else is an error.
func ParseCertificate(text []byte) (Certificate, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	key, _, options, rest, err := ssh.ParseAuthorizedKey(text)
	cert, ok := key.(*ssh.Certificate)
	switch {
	case err != nil:
		return Certificate{}, errors.New("no certificate found: it begins with a type such as ssh-ed25519-cert-v01@openssh.com, in a file like id_ed25519-cert.pub")
	case !ok:
		return Certificate{}, errors.New("this is a plain public key, not a certificate; a certificate's file ends in -cert.pub")
	case len(options) > 0 || len(bytes.TrimSpace(rest)) > 0:
		return Certificate{}, errors.New("there is more in this file than one certificate")
	case cert.CertType != ssh.UserCert:
		return Certificate{}, errors.New("this is a host certificate; a user certificate is due")
	}
	c := Certificate{
		Line: line(cert), Fingerprint: ssh.FingerprintSHA256(cert.Key), Authority: ssh.FingerprintSHA256(cert.SignatureKey),
		KeyID: cert.KeyId, Principals: cert.ValidPrincipals, From: certTime(cert.ValidAfter), parsed: cert,
	}
	if cert.ValidBefore != ssh.CertTimeInfinity {
		c.Until = certTime(cert.ValidBefore)
	}
	return c, c.verify()
}

// maxCertTime is the last second of the year 9999, after which time.Time has no JSON.
const maxCertTime = 253402300799

func certTime(seconds uint64) time.Time { return time.Unix(int64(min(seconds, maxCertTime)), 0).UTC() }

// verify checks the signature, whatever the time and the principal.
func (c Certificate) verify() error {
	unsigned := *c.parsed
	unsigned.Signature = nil
	signed := unsigned.Marshal()
	signed = signed[:len(signed)-4] // without the length of the absent signature
	if c.parsed.Signature == nil || c.parsed.SignatureKey.Verify(signed, c.parsed.Signature) != nil {
		return errors.New("the certificate is damaged: its signature does not hold")
	}
	return nil
}

// Valid says in words why the certificate cannot be used at that time, or "".
func (c Certificate) Valid(now time.Time) string {
	switch {
	case now.Before(c.From):
		return "is not valid before " + c.From.Format(time.RFC3339)
	case !c.Until.IsZero() && !now.Before(c.Until):
		return "expired at " + c.Until.Format(time.RFC3339)
	}
	return ""
}

// Signer returns signer, which signs with the certificate's key, as the
// certificate's. Another key is ErrOtherKey.
func (c Certificate) Signer(signer ssh.Signer) (ssh.Signer, error) {
	if !bytes.Equal(signer.PublicKey().Marshal(), c.parsed.Key.Marshal()) {
		return nil, ErrOtherKey
	}
	return ssh.NewCertSigner(c.parsed, signer)
}

// For reports whether the certificate is for a public key ("ssh-ed25519 AAAA…").
func (c Certificate) For(publicKey string) bool {
	return strings.TrimSpace(publicKey) == line(c.parsed.Key)
}
