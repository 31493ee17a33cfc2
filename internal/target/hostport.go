package target

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SSHPort is the port of an SSH destination that names none.
const SSHPort = "22"

// HostPort gives the address of an SSH host its one spelling, host:port, with
// an IPv6 address in brackets and SSHPort where no port is named. Host names and
// addresses follow the rules of URLs; user, path and query are refused.
// net.SplitHostPort takes the result apart.
func HostPort(s string) (string, error) {
	if err := checkHostPort(s); err != nil {
		return "", err
	}
	host, port, err := parseAuthority(s, SSHPort)
	if err != nil {
		return "", err
	}
	return bracket(host) + ":" + port, nil
}

func checkHostPort(s string) error {
	switch {
	case s == "":
		return errors.New("the address is empty; write HOST:PORT")
	case strings.HasPrefix(s, "-"):
		return errors.New("the address begins with a hyphen, which other programs take for an option")
	case strings.Contains(s, "@"):
		return errors.New("the address has a user before an @; the user is named apart from it")
	case strings.Contains(s, "://"):
		return errors.New("the address has a scheme; write HOST:PORT alone")
	case strings.ContainsAny(s, "/?#"):
		return errors.New("the address has a path, query or fragment; write HOST:PORT alone")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("the address has a space, a control character or broken UTF-8")
	}
	return nil
}
