package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"executor/internal/secret"
)

const canary = "canary-9f2c71d0"

func TestNothingPrintsASecret(t *testing.T) {
	s := secret.New([]byte(canary))
	holder := struct{ Token *secret.Secret }{s}
	hidden := struct{ token *secret.Secret }{s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%U", "%c", "%e", "%p"} {
		fmt.Fprintf(&out, verb+" "+verb+" "+verb+" "+verb+"\n", s, holder, hidden, &hidden)
	}
	fmt.Fprintln(&out, fmt.Errorf("failed with %w", fmt.Errorf("%v", s)))
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "s", s, "h", holder)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "s", s, "h", holder)
	if err := json.NewEncoder(&out).Encode(holder); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), "99 97 110", "0x63 0x61", "U+0063"} {
		if strings.Contains(out.String(), form) {
			t.Errorf("printed as %q in:\n%s", form, &out)
		}
	}
	if !strings.Contains(out.String(), secret.Redacted) {
		t.Errorf("no %s in:\n%s", secret.Redacted, &out)
	}
}

func TestWipeZeroesTheBytes(t *testing.T) {
	b := []byte(canary)
	s := secret.New(b)
	clone := s.Clone()
	s.Wipe()
	s.Wipe()
	if !bytes.Equal(b, make([]byte, len(b))) {
		t.Errorf("bytes after Wipe: %q", b)
	}
	if err := s.Use(func([]byte) error { return nil }); !errors.Is(err, secret.ErrWiped) {
		t.Errorf("Use after Wipe: %v", err)
	}
	if got := clone.Len(); got != len(canary) {
		t.Errorf("clone holds %d bytes after the original was wiped, want %d", got, len(canary))
	}
}

func TestZeroValueRefuses(t *testing.T) {
	var zero secret.Secret
	var none *secret.Secret
	for _, s := range []*secret.Secret{&zero, none} {
		if err := s.Use(func([]byte) error { return nil }); !errors.Is(err, secret.ErrWiped) {
			t.Errorf("Use: %v", err)
		}
		s.Wipe()
	}
}
