package policy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"executor/internal/action"
	"executor/internal/target"

	"golang.org/x/net/http/httpguts"
)

// DefaultIdempotencyHeader carries an idempotency key where a credential names no other.
const DefaultIdempotencyHeader = "Idempotency-Key"

// Types lists the types of credentials.
func Types() []string {
	return []string{Bearer, Basic, HeaderType, Query, Cookie, AWSSigV4, OAuth2, MTLS, SSHKey, SSHPassword}
}

func (c *Credential) furtherSlot() string {
	switch c.Type {
	case Query:
		return "query " + c.Param
	case Cookie:
		return "cookie " + c.CookieName
	case AWSSigV4:
		return fmt.Sprintf("header Authorization, as AWS signature of %s for %s in %s", c.AccessKeyID, c.Service, c.Region)
	case OAuth2:
		return "header Authorization"
	}
	return "TLS client certificate"
}

// IdempotencyName is the header that carries an idempotency key.
func (c *Credential) IdempotencyName() string {
	if c == nil || c.IdempotencyHeader == "" {
		return DefaultIdempotencyHeader
	}
	return c.IdempotencyHeader
}

// TLS is the policy of connections to the credential's targets.
func (c *Credential) TLS() action.TLS {
	t := action.TLS{SkipVerify: c.SkipVerify}
	if c.CA != "" {
		t.CA = action.Sum([]byte(c.CA))
	}
	if c.Cert != "" {
		t.ClientCert = action.Sum([]byte(c.Cert))
	}
	return t
}

// checkStrays refuses what belongs to a credential of another type.
func (c *Credential) checkStrays() error {
	for _, f := range []struct {
		given bool
		what  string
		of    string
	}{
		{c.Username != "", "a username belongs", Basic},
		{c.Header != "" || c.Format != "", "a header name and format belong", HeaderType},
		{c.Param != "", "a parameter name belongs", Query},
		{c.CookieName != "", "a cookie name belongs", Cookie},
		{c.Region != "" || c.Service != "" || c.AccessKeyID != "", "region, service and access key id belong", AWSSigV4},
		{c.TokenURL != "" || c.ClientID != "" || len(c.Scopes) > 0, "token URL, client id and scopes belong", OAuth2},
		{c.Cert != "", "a client certificate belongs", MTLS},
	} {
		if f.given && c.Type != f.of {
			return fmt.Errorf("%s to a credential of type %s", f.what, f.of)
		}
	}
	return nil
}

// checkServer checks what any HTTP credential may say of the server.
func (c *Credential) checkServer() error {
	if c.SSH() && (c.CA != "" || c.SkipVerify || c.AllowSetCookie || c.IdempotencyHeader != "") {
		return errors.New("a CA, unverified TLS, Set-Cookie and an idempotency header belong to HTTP credentials")
	}
	if c.CA != "" {
		if c.SkipVerify {
			return errors.New("a private CA verifies the server; it cannot go with unverified TLS")
		}
		if _, err := certificates(c.CA); err != nil {
			return fmt.Errorf("CA: %w", err)
		}
	}
	if h := c.IdempotencyHeader; h != "" && (action.CheckHeader(h, "x") != "" || action.Reserved(h)) {
		return fmt.Errorf("header %q cannot carry an idempotency key", h)
	}
	return nil
}

var paramRE = regexp.MustCompile(`^[A-Za-z0-9._~\[\]-]{1,128}$`)

func (c *Credential) checkQuery() error {
	if !paramRE.MatchString(c.Param) {
		return fmt.Errorf("a query credential needs the name of its parameter: letters, digits and . _ ~ - [ ]")
	}
	return nil
}

func (c *Credential) checkCookie() error {
	if !httpguts.ValidHeaderFieldName(c.CookieName) {
		return fmt.Errorf("a cookie credential needs the name of its cookie (RFC 6265, section 4.1.1)")
	}
	return nil
}

var awsRE = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func (c *Credential) checkAWS() error {
	for what, v := range map[string]string{"region": c.Region, "service": c.Service, "access key id": c.AccessKeyID} {
		if !awsRE.MatchString(v) {
			return fmt.Errorf("an aws-sigv4 credential needs region, service and access key id of letters, digits, '-' and '_'; the %s is not", what)
		}
	}
	return nil
}

func (c *Credential) checkOAuth2() error {
	if c.ClientID == "" || strings.ContainsFunc(c.ClientID, isControl) {
		return errors.New("an oauth2-client credential needs a client id")
	}
	if slices.ContainsFunc(c.Scopes, func(s string) bool { return s == "" || strings.ContainsFunc(s, notScope) }) {
		return errors.New("a scope has visible characters other than '\"' and '\\' (RFC 6749, section 3.3)")
	}
	p, err := target.ParsePattern(c.TokenURL)
	if err == nil && p.Scheme() == "ssh" {
		err = errors.New("https is due")
	}
	if err != nil {
		return fmt.Errorf("token URL: %w", err)
	}
	c.TokenURL = p.String()
	return nil
}

func notScope(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }

func (c *Credential) checkMTLS() error {
	if _, err := certificates(c.Cert); err != nil {
		return fmt.Errorf("client certificate: %w", err)
	}
	return nil
}

// certificates reads a PEM bundle that holds certificates and nothing else. The
// error does not quote it: somebody may have given a key.
func certificates(bundle string) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	rest := []byte(bundle)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, errors.New("PEM blocks of type CERTIFICATE are due, and it holds another kind")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("it holds a certificate that cannot be read")
		}
		out = append(out, cert)
	}
	if len(out) == 0 {
		return nil, errors.New("a PEM file with a certificate is due")
	}
	return out, nil
}

// ClientCertificate joins an mtls credential's certificate and its private key,
// both in PEM, and refuses a pair that does not belong together. The error holds
// nothing of the key.
func ClientCertificate(cert string, key []byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair([]byte(cert), key)
	if err != nil {
		return tls.Certificate{}, errors.New("the private key (PEM, not encrypted) does not belong to the client certificate, or cannot be read")
	}
	return pair, nil
}
