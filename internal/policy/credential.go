package policy

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/target"
)

// Types of credentials.
const (
	Bearer      = "bearer"
	Basic       = "basic"
	HeaderType  = "header"
	Query       = "query"
	Cookie      = "cookie"
	AWSSigV4    = "aws-sigv4"
	OAuth2      = "oauth2-client"
	MTLS        = "mtls"
	SSHKey      = "ssh-key"
	SSHPassword = "ssh-password"
)

// A Credential is what is known of a credential besides its secret.
type Credential struct {
	Name    string `json:"-"`
	Version int    `json:"-"`
	Type    string `json:"type"`
	// Targets are the patterns it may be used on: https://host[:port]/prefix, http
	// to exact loopback, or ssh://host:port.
	Targets []string `json:"targets"`
	// Approval is a floor: action.None sets none.
	Approval action.Level `json:"approval"`
	// Username belongs to a basic credential.
	Username string `json:"username,omitempty"`
	// Header and Format belong to a header credential; Format holds {secret} once.
	Header string `json:"header,omitempty"`
	Format string `json:"format,omitempty"`
	// Param is the name of a query credential's parameter, CookieName that of a
	// cookie credential's cookie.
	Param      string `json:"param,omitempty"`
	CookieName string `json:"cookie,omitempty"`
	// Region, Service and AccessKeyID belong to an aws-sigv4 credential.
	Region      string `json:"region,omitempty"`
	Service     string `json:"service,omitempty"`
	AccessKeyID string `json:"access_key_id,omitempty"`
	// TokenURL, ClientID and Scopes belong to an oauth2-client credential.
	TokenURL string   `json:"token_url,omitempty"`
	ClientID string   `json:"client_id,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	// Cert is an mtls credential's certificate chain in PEM; the key is the secret.
	Cert string `json:"cert,omitempty"`
	// CA is a bundle of private authorities in PEM that replaces the system's roots.
	CA string `json:"ca,omitempty"`
	// SkipVerify: the server's certificate is not verified.
	SkipVerify bool `json:"skip_verify,omitempty"`
	// AllowSetCookie: the caller is given values of Set-Cookie.
	AllowSetCookie bool `json:"allow_set_cookie,omitempty"`
	// IdempotencyHeader carries a call's idempotency key; "" is Idempotency-Key.
	IdempotencyHeader string `json:"idempotency_header,omitempty"`
	// Certificate belongs to an ssh-key credential: the user certificate for its key,
	// as one line ("ssh-ed25519-cert-v01@openssh.com AAAA…"). It is no secret.
	Certificate string    `json:"certificate,omitempty"`
	Created     time.Time `json:"created"`
	// RestoredFrom is the version whose secret a rollback brought back, or 0.
	RestoredFrom int `json:"restored_from,omitempty"`

	patterns []target.Pattern
}

// SecretMark is the place of the secret in the format of a header credential.
const SecretMark = "{secret}"

var nameRE = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckName refuses names that could be mistaken for something else on a screen,
// a command line or in a mask.
func CheckName(name string) error {
	if !nameRE.MatchString(name) {
		return fmt.Errorf("name %q: a name has 1 to 63 characters from a-z, 0-9, '.', '_' and '-', and begins with a letter or digit", name)
	}
	return nil
}

// Check refuses a credential that could not be used as it stands.
func (c *Credential) Check() error {
	if err := CheckName(c.Name); err != nil {
		return err
	}
	return c.compile()
}

// SSH reports whether the credential authenticates SSH connections.
func (c *Credential) SSH() bool { return c.Type == SSHKey || c.Type == SSHPassword }

// Slot is where the secret goes.
func (c *Credential) Slot() string {
	switch c.Type {
	case Bearer, Basic:
		return "header Authorization"
	case HeaderType:
		return "header " + c.Header
	case Query, Cookie, AWSSigV4, OAuth2, MTLS:
		return c.furtherSlot()
	default:
		return "ssh authentication"
	}
}

// Ref is the credential as an action names it.
func (c *Credential) Ref() *action.Credential {
	ref := &action.Credential{Name: c.Name, Version: c.Version, Type: c.Type, Slot: c.Slot()}
	if c.Type == OAuth2 {
		ref.Token = &action.Token{URL: c.TokenURL}
	}
	return ref
}

func (c *Credential) compile() error {
	if err := c.checkType(); err != nil {
		return err
	}
	if len(c.Targets) == 0 {
		return fmt.Errorf("no target: say where it may be used with --target")
	}
	c.patterns = make([]target.Pattern, len(c.Targets))
	for i, t := range c.Targets {
		p, err := target.ParsePattern(t)
		if err != nil {
			return fmt.Errorf("target %d: %w", i+1, err)
		}
		if (p.Scheme() == "ssh") != c.SSH() {
			return fmt.Errorf("target %s does not fit a credential of type %s", p, c.Type)
		}
		c.Targets[i], c.patterns[i] = p.String(), p
	}
	return nil
}

func (c *Credential) checkType() error {
	if err := c.checkStrays(); err != nil {
		return err
	}
	if err := c.checkServer(); err != nil {
		return err
	}
	if c.Type != SSHKey && c.Certificate != "" {
		return fmt.Errorf("a certificate belongs to a credential of type ssh-key")
	}
	switch c.Type {
	case Bearer, SSHKey, SSHPassword:
		return nil
	case Basic:
		if c.Username == "" || strings.ContainsFunc(c.Username, isControl) || strings.Contains(c.Username, ":") {
			return fmt.Errorf("a basic credential needs a username without ':' and control characters (RFC 7617)")
		}
		return nil
	case HeaderType:
		return c.checkHeader()
	case Query:
		return c.checkQuery()
	case Cookie:
		return c.checkCookie()
	case AWSSigV4:
		return c.checkAWS()
	case OAuth2:
		return c.checkOAuth2()
	case MTLS:
		return c.checkMTLS()
	default:
		return fmt.Errorf("type %q is not one of %s", c.Type, strings.Join(Types(), ", "))
	}
}

func (c *Credential) checkHeader() error {
	if c.Format == "" {
		c.Format = SecretMark
	}
	if strings.Count(c.Format, SecretMark) != 1 {
		return fmt.Errorf("a format holds %s once", SecretMark)
	}
	if p := action.CheckHeader(c.Header, strings.Replace(c.Format, SecretMark, "x", 1)); p != "" {
		return fmt.Errorf("header %q: %s", c.Header, p)
	}
	if action.Framing(c.Header) {
		return fmt.Errorf("header %q belongs to the connection and cannot carry a credential", c.Header)
	}
	if strings.EqualFold(c.Header, c.IdempotencyName()) {
		return fmt.Errorf("header %q carries the credential and cannot carry an idempotency key too", c.Header)
	}
	return nil
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }
