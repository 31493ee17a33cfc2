package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/internal/sshfile"
	"executor/internal/term"
	"executor/vault"
)

// readCertificate reads a user certificate and says when it cannot be used now. An
// empty path is none.
func (a *app) readCertificate(path string) (line string, err error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("certificate: %w", err)
	}
	c, err := sshfile.ParseCertificate(data)
	if err != nil {
		return "", fmt.Errorf("certificate %s: %w", path, err)
	}
	if problem := c.Valid(time.Now()); problem != "" {
		fmt.Fprintf(a.Err, "warning: the certificate %s\n", problem)
	}
	return c.Line, nil
}

// checkCertificate refuses a certificate for another key than the one in s.
func checkCertificate(line string, s *secret.Secret) error {
	if line == "" {
		return nil
	}
	c, err := sshfile.ParseCertificate([]byte(line))
	if err != nil {
		return err
	}
	return s.Use(func(b []byte) error {
		key, err := sshfile.ParsePrivateKey(b, nil)
		if err != nil {
			return err
		}
		defer key.PEM.Wipe()
		if !c.For(key.PublicKey) {
			return fmt.Errorf("%w: it is for %s, and the key is %s", sshfile.ErrOtherKey, c.Fingerprint, key.Fingerprint)
		}
		return nil
	})
}

// renewCertificate gives a credential another certificate for the key that it has.
func (a *app) renewCertificate(ctx context.Context, name string, o *credentialChange) error {
	line, err := a.readCertificate(o.certificate)
	if err != nil {
		return err
	}
	return a.edit(ctx, &o.pass, func(h *daemon.Home) error {
		meta, err := credentialMeta(h.Vault, name)
		if err != nil {
			return err
		}
		it, err := h.Vault.Item(policy.KindCredential, name)
		if err != nil {
			return err
		}
		if meta.Type != policy.SSHKey {
			return usagef("--certificate belongs to a credential of type ssh-key; %s is of type %s", name, meta.Type)
		}
		meta.Certificate = line
		return a.putVersion(ctx, h, "credential rotate "+name+" certificate", meta, 0, func(e *vault.Edit) (vault.Item, error) {
			s, err := e.Lease(policy.KindCredential, name, it.Version)
			if err != nil {
				return vault.Item{}, err
			}
			return vault.Item{Secret: s}, checkCertificate(line, s)
		})
	})
}

// certificateInfo is what is shown of a certificate.
type certificateInfo struct {
	Type       string     `json:"type"`
	KeyID      string     `json:"key_id"`
	Principals []string   `json:"principals"`
	Authority  string     `json:"authority"`
	From       time.Time  `json:"valid_from"`
	Until      *time.Time `json:"valid_until"`
	// Problem says why it cannot be used now.
	Problem string `json:"problem,omitempty"`
}

// describeCertificate returns nil where there is none, or none that can be read.
func describeCertificate(line string, now time.Time) *certificateInfo {
	c, err := sshfile.ParseCertificate([]byte(line))
	if err != nil {
		return nil
	}
	kind, _, _ := strings.Cut(c.Line, " ")
	info := &certificateInfo{Type: kind, KeyID: c.KeyID, Principals: c.Principals, Authority: c.Authority, From: c.From, Problem: c.Valid(now)}
	if !c.Until.IsZero() {
		info.Until = &c.Until
	}
	return info
}

// text is the certificate on a page.
func (i *certificateInfo) text() string {
	if i == nil {
		return ""
	}
	until, state := "without end", "valid"
	if i.Until != nil {
		until = "until " + i.Until.Format(time.RFC3339)
	}
	if i.Problem != "" {
		state = i.Problem
	}
	principals := "any user"
	if len(i.Principals) > 0 {
		principals = strings.Join(i.Principals, ", ")
	}
	return strings.Join([]string{
		term.Safe(i.Type + ", id " + i.KeyID),
		term.Safe("for " + principals),
		"signed by " + i.Authority,
		"from " + i.From.Format(time.RFC3339) + " " + until + ": " + state,
	}, "\n")
}
