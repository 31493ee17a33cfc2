package sshrun

import (
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/internal/policy"
	"executor/internal/sshfile"
)

var errNoMethod = errors.New("no method of authentication is left")

// A login authenticates one connection with one credential: one attempt, by one method.
type login struct {
	now     func() time.Time
	lease   *executor.Lease
	offered []string // what the server offered first
	tried   bool     // the one attempt was made
	partial bool     // it was accepted, and the server wants more
	locked  bool     // the credential was wiped meanwhile
	invalid string   // what is wrong with the certificate
}

// next picks the method; it is an ssh.ClientAuthCallback.
func (l *login) next(at *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	if l.offered == nil {
		l.offered = at.AllowedMethods
	}
	l.partial = l.partial || len(at.PartialSuccessMethods) > 0
	allowed := func(m string) bool {
		return slices.Contains(at.AllowedMethods, m) && !slices.Contains(at.TriedMethods, m)
	}
	switch {
	case l.tried:
		return nil, errNoMethod
	case l.lease.Meta.Type == policy.SSHKey && allowed("publickey"):
		return ssh.PublicKeysCallback(l.signers), nil
	case l.lease.Meta.Type == policy.SSHPassword && allowed("password"):
		return ssh.PasswordCallback(l.password), nil
	case l.lease.Meta.Type == policy.SSHPassword && allowed("keyboard-interactive"):
		return ssh.KeyboardInteractive(l.answer), nil
	}
	return nil, errNoMethod
}

// once marks the one attempt.
func (l *login) once() error {
	if l.tried {
		return errNoMethod
	}
	l.tried = true
	return nil
}

func (l *login) signers() (signers []ssh.Signer, err error) {
	if err := l.once(); err != nil {
		return nil, err
	}
	err = l.use(func(pem []byte) error {
		signer, err := ssh.ParsePrivateKey(pem)
		if err != nil {
			return errors.New("the stored key cannot be read")
		}
		if signer.PublicKey().Type() == ssh.KeyAlgoRSA { // never ssh-rsa, which signs with SHA-1
			signer, err = ssh.NewSignerWithAlgorithms(signer.(ssh.AlgorithmSigner), []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
		}
		if err == nil && l.lease.Meta.Certificate != "" {
			signer, err = l.certified(signer)
		}
		signers = []ssh.Signer{signer}
		return err
	})
	return signers, err
}

// certified is the signer of the credential's certificate. One that is not valid
// now is not shown to the server.
func (l *login) certified(signer ssh.Signer) (ssh.Signer, error) {
	cert, err := sshfile.ParseCertificate([]byte(l.lease.Meta.Certificate))
	if err != nil {
		return nil, err
	}
	if l.invalid = cert.Valid(l.now()); l.invalid != "" {
		return nil, errNoMethod
	}
	return cert.Signer(signer)
}

func (l *login) password() (password string, err error) {
	if err := l.once(); err != nil {
		return "", err
	}
	err = l.use(func(b []byte) error { password = string(b); return nil })
	return password, err
}

// answer gives the password to one prompt that does not echo. Servers also send
// rounds without any prompt (RFC 4256 section 3.2), which are answered with nothing.
func (l *login) answer(_, _ string, prompts []string, echos []bool) ([]string, error) {
	if len(prompts) == 0 {
		return []string{}, nil
	}
	if len(prompts) > 1 || echos[0] {
		l.tried, l.partial = true, true
		return nil, errNoMethod
	}
	if l.tried {
		l.partial = true
	}
	password, err := l.password()
	return []string{password}, err
}

func (l *login) use(fn func([]byte) error) error {
	err := l.lease.Secret.Use(fn)
	l.locked = l.locked || l.lease.Secret.Len() == 0
	return err
}

// failure describes a login that did not succeed.
func (l *login) failure() *executor.RunError {
	if l.locked {
		return &executor.RunError{Code: executor.VaultLocked, Message: "the vault was locked before the login"}
	}
	if l.invalid != "" {
		return &executor.RunError{Code: executor.SSHAuthFailed, Message: "the certificate of credential " + l.lease.Meta.Name + " " + l.invalid + "; nobody was logged in"}
	}
	text := "authentication failed"
	if l.partial {
		text += ": the server asks for more than this credential"
	}
	return &executor.RunError{Code: executor.SSHAuthFailed, Message: text + " (server offers: " + methodNames(l.offered) + ")"}
}

// methodNames lists the methods that are known by name (RFC 4252); the server's
// own words are not repeated.
func methodNames(offered []string) string {
	var names []string
	for _, m := range offered {
		switch m {
		case "publickey", "password", "keyboard-interactive", "hostbased", "gssapi-with-mic", "gssapi-keyex":
		default:
			m = "another method"
		}
		if !slices.Contains(names, m) {
			names = append(names, m)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
