package sshfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Markers of pins.
const (
	CertAuthority = "@cert-authority"
	Revoked       = "@revoked"
)

// ErrNoHostKey: a known_hosts file holds no key for the host.
var ErrNoHostKey = errors.New("no host key")

// maxNamed is how many bad lines a warning names.
const maxNamed = 5

// ParseKnownHosts finds the pins for hostport ("web-1.example.com:22",
// "[2001:db8::1]:22") in a known_hosts file: the keys as "ssh-ed25519 AAAA…",
// authorities and revocations with their marker in front, sorted, each once.
//
// A line that cannot be read and is not for this host is ignored; one warning
// names all of them as filename:line. Without a key or authority for the host the
// error is ErrNoHostKey and names those lines too.
func ParseKnownHosts(data []byte, filename, hostport string) (pins, warnings []string, err error) {
	name, err := newHostName(hostport)
	if err != nil {
		return nil, nil, err
	}
	var bad []string
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for i, text := range bytes.Split(data, []byte("\n")) {
		l, err := parseLine(text)
		switch {
		case err == nil && l.covers(name):
			pins = append(pins, l.pin())
		case err != nil && l.marker == Revoked && l.covers(name):
			return nil, nil, fmt.Errorf("%s:%d: a damaged %s line covers %s: %w", filename, i+1, Revoked, hostport, err)
		case err != nil:
			bad = append(bad, fmt.Sprintf("%s:%d: %v", filename, i+1, err))
		}
	}
	slices.Sort(pins)
	pins = slices.Compact(pins)
	if !slices.ContainsFunc(pins, func(p string) bool { return !strings.HasPrefix(p, Revoked) }) {
		return nil, nil, noKey(filename, hostport, bad, len(pins) > 0)
	}
	if len(bad) > 0 {
		warnings = []string{"ignored: " + named(bad)}
	}
	return pins, warnings, nil
}

func noKey(filename, hostport string, bad []string, revoked bool) error {
	text := fmt.Sprintf("%s has none for %s", filename, hostport)
	if revoked {
		text += ", only revoked ones"
	}
	if len(bad) > 0 {
		text += "; lines that cannot be read: " + named(bad)
	}
	return fmt.Errorf("%w: %s", ErrNoHostKey, text)
}

func named(bad []string) string {
	if more := len(bad) - maxNamed; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(bad[:maxNamed], "; "), more)
	}
	return strings.Join(bad, "; ")
}

// An entry is one line. The zero entry covers nothing.
type entry struct {
	marker   string
	patterns []string
	key      ssh.PublicKey
}

// parseLine reads a line; an empty or comment line is the zero entry. With an
// error it returns the marker and patterns as far as they could be read.
func parseLine(text []byte) (entry, error) {
	fields := strings.Fields(string(text))
	if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
		return entry{}, nil
	}
	var e entry
	if strings.HasPrefix(fields[0], "@") {
		e.marker, fields = fields[0], fields[1:]
	}
	if len(fields) == 0 {
		return e, errors.New("a marker and nothing else")
	}
	e.patterns = strings.Split(fields[0], ",")
	if e.marker != "" && e.marker != CertAuthority && e.marker != Revoked {
		return e, errors.New("a marker that is not known")
	}
	if err := checkPatterns(e.patterns); err != nil {
		return e, err
	}
	if len(fields) < 3 {
		return e, errors.New("not a host, a key type and a key")
	}
	_, _, key, _, _, err := ssh.ParseKnownHosts([]byte("host " + fields[1] + " " + fields[2]))
	if err != nil {
		return e, keyProblem(fields[1], fields[2])
	}
	if _, isCert := key.(*ssh.Certificate); isCert {
		return e, errors.New("a certificate in place of a key")
	}
	e.key = key
	return e, nil
}

// keyProblem says what is wrong with a key without repeating it.
func keyProblem(kind, key string) error {
	switch {
	case strings.Trim(kind, "0123456789") == "":
		return errors.New("an SSH protocol 1 key")
	case strings.ContainsAny(key, "[],|@:") || strings.Contains(strings.TrimPrefix(key, "AAAA"), "ssh-"):
		return errors.New("the key is not base64: two lines are glued together")
	case strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") != "":
		return errors.New("the key is not base64")
	}
	return errors.New("the key is damaged, or of a type that is not known")
}

func (e entry) pin() string {
	if e.marker == "" {
		return line(e.key)
	}
	return e.marker + " " + line(e.key)
}

// covers reports whether the line is about the host. A revocation counts for the
// host at any port: it withdraws trust, so in doubt it applies.
func (e entry) covers(h hostName) bool {
	if e.marker == Revoked {
		return matchList(e.patterns, h.known) || matchList(e.patterns, h.bare)
	}
	return matchList(e.patterns, h.known) || h.port == "22" && matchList(e.patterns, "["+h.bare+"]:22")
}
