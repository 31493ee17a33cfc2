package policy

import (
	"fmt"
	"regexp"

	"executor/internal/action"
	"executor/internal/target"
)

// A Host is a named SSH destination.
type Host struct {
	Name    string `json:"-"`
	Version int    `json:"-"`
	// Addr is host:port.
	Addr       string `json:"addr"`
	User       string `json:"user"`
	Credential string `json:"credential"`
	// HostKeys are the pinned keys, as known_hosts lines without the host field.
	HostKeys []string `json:"host_keys"`
	// Jump is the host that leads here, or "".
	Jump     string       `json:"jump,omitempty"`
	Approval action.Level `json:"approval"`
}

var userRE = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}\$?$`)

// Check refuses a host that could not be reached as it stands, and brings its
// address to its one spelling.
func (h *Host) Check() error {
	if err := CheckName(h.Name); err != nil {
		return err
	}
	addr, err := target.HostPort(h.Addr)
	if err != nil {
		return fmt.Errorf("address: %w", err)
	}
	h.Addr = addr
	if !userRE.MatchString(h.User) {
		return fmt.Errorf("user %q: a user name has letters, digits and . _ @ + -, and begins with a letter, digit or _", h.User)
	}
	if h.Credential == "" {
		return fmt.Errorf("no credential: say which one logs in with --credential")
	}
	if h.Jump != "" {
		if err := CheckName(h.Jump); err != nil {
			return fmt.Errorf("jump host: %w", err)
		}
	}
	if len(h.HostKeys) == 0 {
		return fmt.Errorf("no host key is pinned: a host whose key is not known is never connected to")
	}
	return nil
}
