package sshfile

import (
	"errors"
	"strings"

	"golang.org/x/crypto/ssh"
)

// ParseHostKey reads one host key as a person gives it, "ssh-ed25519 AAAA…" with or
// without a marker and a comment, and returns it as a pin.
func ParseHostKey(s string) (pin string, err error) {
	fields := strings.Fields(s)
	marker := ""
	if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
		marker, fields = fields[0]+" ", fields[1:]
	}
	if len(fields) < 2 {
		return "", errors.New("'TYPE BASE64' is due, as in the file ssh_host_ed25519_key.pub of the host")
	}
	e, err := parseLine([]byte(marker + "host " + fields[0] + " " + fields[1]))
	if err != nil {
		return "", err
	}
	return e.pin(), nil
}

// Describe shows a pin as its type and SHA256 fingerprint, after its marker.
func Describe(pin string) string {
	fields := strings.Fields(pin)
	if len(fields) < 2 {
		return "a damaged pin"
	}
	marker := strings.Join(fields[:len(fields)-2], " ")
	_, _, key, _, _, err := ssh.ParseKnownHosts([]byte("host " + strings.Join(fields[len(fields)-2:], " ")))
	if err != nil {
		return "a damaged pin"
	}
	return strings.TrimSpace(marker + " " + key.Type() + " " + ssh.FingerprintSHA256(key))
}
