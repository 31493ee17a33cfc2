package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"executor/internal/secret"

	"golang.org/x/mod/sumdb/note"
)

// GenerateKey makes a signing key: an Ed25519 seed (RFC 8032) read from rand.
func GenerateKey(rand io.Reader) (*secret.Secret, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return nil, fmt.Errorf("generating the journal key: %w", err)
	}
	return secret.New(seed), nil
}

// VerifierKey returns the public half of key as journal.pub holds it: a note
// verifier key "executor/journal/<id>+<hash>+<base64>".
func VerifierKey(key *secret.Secret) (string, error) {
	s, err := newSigner(key)
	if err != nil {
		return "", err
	}
	defer s.wipe()
	return s.vkey, nil
}

// A signer signs checkpoints as golang.org/x/mod/sumdb/note wants it.
type signer struct {
	key      *secret.Secret // an ed25519.PrivateKey
	vkey     string
	verifier note.Verifier
}

func newSigner(key *secret.Secret) (*signer, error) {
	s := &signer{}
	err := key.Use(func(seed []byte) error {
		if len(seed) != ed25519.SeedSize {
			return fmt.Errorf("%w: %d bytes, want %d", ErrInvalid, len(seed), ed25519.SeedSize)
		}
		private := ed25519.NewKeyFromSeed(seed)
		s.key = secret.New(private)
		public := private.Public().(ed25519.PublicKey)
		var err error
		s.vkey, err = note.NewEd25519VerifierKey(origin(public), public)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("journal key: %w", err)
	}
	s.verifier, err = note.NewVerifier(s.vkey)
	return s, err
}

// origin is the name of the log and of its key, so that two journals can never
// be taken for each other.
func origin(public ed25519.PublicKey) string {
	h := sha256.Sum256(public)
	return "executor/journal/" + hex.EncodeToString(h[:8])
}

func (s *signer) Name() string    { return s.verifier.Name() }
func (s *signer) KeyHash() uint32 { return s.verifier.KeyHash() }
func (s *signer) wipe()           { s.key.Wipe() }

func (s *signer) Sign(msg []byte) (sig []byte, err error) {
	err = s.key.Use(func(private []byte) error {
		sig = ed25519.Sign(private, msg)
		return nil
	})
	return sig, err
}

// readVerifier reads journal.pub.
func readVerifier(dir string) (vkey string, v note.Verifier, err error) {
	b, err := os.ReadFile(pubPath(dir))
	if err != nil {
		return "", nil, fmt.Errorf("verifier key: %w", err)
	}
	vkey = strings.TrimSuffix(string(b), "\n")
	v, err = note.NewVerifier(vkey)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %s: %v", ErrDamaged, pubFile, err)
	}
	return vkey, v, nil
}
