package sshfile

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
)

// A hostName is a host as known_hosts writes it: bare, and with a port other
// than 22 in brackets.
type hostName struct{ bare, known, port string }

func newHostName(hostport string) (hostName, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || host == "" || port == "" {
		return hostName{}, fmt.Errorf("%q is not host:port", hostport)
	}
	h := hostName{bare: strings.ToLower(host), port: port}
	h.known = h.bare
	if port != "22" {
		h.known = "[" + h.bare + "]:" + port
	}
	return h, nil
}

const hashMagic = "|1|"

func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		p = strings.TrimPrefix(p, "!")
		switch {
		case strings.HasPrefix(p, "|"):
			if _, _, err := splitHash(p); err != nil {
				return err
			}
		case strings.HasPrefix(p, "["):
			if i := strings.LastIndex(p, "]:"); i < 0 || i+2 == len(p) {
				return errors.New("a host in brackets without a port")
			}
		case p == "":
			return errors.New("an empty host")
		}
	}
	return nil
}

// matchList follows OpenSSH: some pattern matches and no negated one does.
func matchList(patterns []string, name string) bool {
	matched := false
	for _, p := range patterns {
		negated := strings.HasPrefix(p, "!")
		if !matchOne(strings.TrimPrefix(p, "!"), name) {
			continue
		}
		if negated {
			return false
		}
		matched = true
	}
	return matched
}

func matchOne(pattern, name string) bool {
	if !strings.HasPrefix(pattern, "|") {
		return glob(strings.ToLower(pattern), name)
	}
	salt, sum, err := splitHash(pattern)
	if err != nil {
		return false
	}
	mac := hmac.New(sha1.New, salt)
	mac.Write([]byte(name))
	return hmac.Equal(mac.Sum(nil), sum)
}

// splitHash reads "|1|base64 salt|base64 HMAC-SHA1".
func splitHash(pattern string) (salt, sum []byte, err error) {
	rest, ok := strings.CutPrefix(pattern, hashMagic)
	s, h, ok2 := strings.Cut(rest, "|")
	if !ok || !ok2 {
		return nil, nil, errors.New("a hashed host that is not |1|salt|hash")
	}
	salt, err = base64.StdEncoding.DecodeString(s)
	if err == nil {
		sum, err = base64.StdEncoding.DecodeString(h)
	}
	if err != nil || len(sum) != sha1.Size {
		return nil, nil, errors.New("a hashed host that is damaged")
	}
	return salt, sum, nil
}

// glob matches * (any run) and ? (any one byte), in time linear in len(pattern)*len(name).
func glob(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p, n = p+1, n+1
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
