package target

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// parseAuthority reads host and optional port. It repeats neither in an error
// unless the host is known to be one.
func parseAuthority(authority, implied string) (host, port string, err error) {
	host, port, err = cutPort(authority, implied)
	if err != nil {
		return "", "", err
	}
	if strings.HasPrefix(authority, "[") {
		host, err = normalizeIPv6(host)
	} else {
		host, err = normalizeHost(host)
	}
	return host, port, err
}

// cutPort splits an authority; the host comes back without brackets.
func cutPort(authority, implied string) (host, port string, err error) {
	rest := authority
	if strings.HasPrefix(authority, "[") {
		inner, after, closed := strings.Cut(authority[1:], "]")
		if !closed {
			return "", "", errors.New("the host has an opening bracket without a closing one")
		}
		if after != "" && after[0] != ':' {
			return "", "", errors.New("after the address in brackets only a port can follow")
		}
		host, rest = inner, after
	} else {
		host, _, _ = strings.Cut(authority, ":")
		rest = authority[len(host):]
		if strings.Count(rest, ":") > 1 {
			return "", "", errors.New("the host has several colons; an IPv6 address stands in brackets, as in [::1]")
		}
	}
	if rest == "" {
		return host, implied, nil
	}
	if err := checkPort(rest[1:]); err != nil {
		return "", "", err
	}
	return host, rest[1:], nil
}

func checkPort(port string) error {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return errors.New("the port is not a number from 1 to 65535, written without leading zeros")
	}
	return nil
}

func normalizeIPv6(host string) (string, error) {
	if strings.Contains(host, "%") {
		return "", fmt.Errorf("the address has a zone; link-local addresses are not reached: %w", ErrNever)
	}
	a, err := netip.ParseAddr(host)
	if err != nil || !a.Is6() {
		return "", errors.New("what stands in brackets is not an IPv6 address")
	}
	return a.String(), nil
}

// normalizeHost gives a name or an IPv4 address its one spelling.
func normalizeHost(host string) (string, error) {
	if host == "" {
		return "", errors.New("the host is empty")
	}
	name, err := ascii(host)
	if err != nil {
		return "", err
	}
	name = strings.TrimSuffix(name, ".")
	if err := checkName(name); err != nil {
		return "", err
	}
	if !endsInNumber(name) {
		return name, nil
	}
	return name, checkIPv4(name, isASCII(host))
}

// ascii maps a host to lower-case ASCII. Names with an xn-- label take the same way
// as names in other scripts, so that a label that stands for nothing is refused.
func ascii(host string) (string, error) {
	lower := strings.ToLower(host)
	if isASCII(host) && !strings.Contains(lower, "xn--") {
		return lower, nil
	}
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return "", errors.New("the host is not a valid internationalized domain name (IDNA 2008)")
	}
	return name, nil
}

// checkName holds names to letters, digits, hyphens and underscores (RFC 1123
// section 2.1, and what Docker and DNS make of it).
func checkName(name string) error {
	if len(name) > 253 {
		return errors.New("the host name is longer than 253 characters")
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return errors.New("the host name has an empty label (two dots together, or a dot at the start)")
		case len(label) > 63:
			return errors.New("the host name has a label longer than 63 characters")
		case label[0] == '-' || label[len(label)-1] == '-':
			return errors.New("the host name has a label that begins or ends with a hyphen")
		}
		for i := range len(label) {
			if c := label[i]; !isAlnum(c) && c != '-' && c != '_' {
				return errors.New("the host name has a character other than letters, digits, hyphen and underscore")
			}
		}
	}
	return nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
