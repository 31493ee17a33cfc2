package sshfile_test

import (
	"strings"
	"testing"

	"executor/internal/sshfile"
)

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ4bCwKf1nVwJrcwvZtPYxqPSGmfFhQ2rLlTzJvZ8m9"

func TestParseHostKey(t *testing.T) {
	for given, want := range map[string]string{
		hostKey:                                  hostKey,
		"  " + hostKey + "  root@web-1\n":        hostKey,
		"@cert-authority " + hostKey + " our CA": "@cert-authority " + hostKey,
		"@revoked " + hostKey:                    "@revoked " + hostKey,
		"@other " + hostKey:                      "",
		"ssh-ed25519":                            "",
		"":                                       "",
		"ssh-rsa " + strings.Fields(hostKey)[1]:  "",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ": "",
		"web-1 " + hostKey:                        "",
	} {
		got, err := sshfile.ParseHostKey(given)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	if got := sshfile.Describe("@revoked " + hostKey); !strings.HasPrefix(got, "@revoked ssh-ed25519 SHA256:") {
		t.Errorf("%q", got)
	}
	if got := sshfile.Describe("nonsense"); got != "a damaged pin" {
		t.Errorf("%q", got)
	}
}
