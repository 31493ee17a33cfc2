package sshfile

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"executor/internal/secret"
)

// Errors of ParsePrivateKey that a caller can do something about.
var (
	// ErrPassphraseNeeded: the key is encrypted and no passphrase was given.
	ErrPassphraseNeeded = errors.New("the key is encrypted: its passphrase is needed to import it")
	// ErrWrongPassphrase: the passphrase does not open the key.
	ErrWrongPassphrase = errors.New("the passphrase does not open the key")
)

const minRSABits = 2048

// A PrivateKey is a key in its normal form.
type PrivateKey struct {
	// PEM is the unencrypted key as OpenSSH writes it, with a final newline. The
	// caller wipes it.
	PEM *secret.Secret
	// PublicKey is "ssh-ed25519 AAAA…", Fingerprint "SHA256:…" of it.
	PublicKey   string
	Fingerprint string
	// Mended names what was repaired, such as "byte order mark"; empty for a clean key.
	Mended []string
}

// ParsePrivateKey reads a private key as people paste it. The passphrase is used
// only if the key is encrypted; nil is none. No error repeats any of the input.
func ParsePrivateKey(pasted, passphrase []byte) (PrivateKey, error) {
	if err := notPrivate(pasted); err != nil {
		return PrivateKey{}, err
	}
	text, mended := mend(pasted)
	defer clear(text)
	block, err := frame(text)
	if err != nil {
		return PrivateKey{}, err
	}
	defer clear(block.Bytes)
	raw, err := decode(block, passphrase)
	if err != nil {
		return PrivateKey{}, err
	}
	key, err := normalize(raw)
	if err != nil {
		return PrivateKey{}, err
	}
	key.Mended = mended
	return key, nil
}

func decode(block *pem.Block, passphrase []byte) (any, error) {
	clean := pem.EncodeToMemory(block)
	defer clear(clean)
	raw, err := ssh.ParseRawPrivateKey(clean)
	var missing *ssh.PassphraseMissingError
	if errors.As(err, &missing) {
		if len(passphrase) == 0 {
			return nil, ErrPassphraseNeeded
		}
		raw, err = ssh.ParseRawPrivateKeyWithPassphrase(clean, passphrase)
		if errors.Is(err, x509.IncorrectPasswordError) {
			return nil, ErrWrongPassphrase
		}
	}
	if err != nil {
		return nil, damaged(block, err)
	}
	return raw, nil
}

// damaged explains a key whose frame is whole and whose content is not. The
// library's text is not repeated: it may quote what it read.
func damaged(block *pem.Block, err error) error {
	switch {
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return errors.New("this is a PKCS#8 key with a passphrase, which is not read here: remove the passphrase with ssh-keygen -p -m PEM -f FILE first")
	case strings.Contains(string(block.Bytes[:min(len(block.Bytes), 512)]), "sk-ssh-ed25519") ||
		strings.Contains(string(block.Bytes[:min(len(block.Bytes), 512)]), "sk-ecdsa-"):
		return errors.New("this key lives in a hardware token (FIDO) and cannot be used without touching it: make one with ssh-keygen -t ed25519 instead")
	case block.Type == "DSA PRIVATE KEY" || strings.Contains(err.Error(), "DSA"):
		return errors.New("this is a DSA key, which servers no longer accept: make one with ssh-keygen -t ed25519")
	}
	return errors.New("the private key is damaged: its text between BEGIN and END does not hold a whole key")
}

func normalize(raw any) (PrivateKey, error) {
	if key, ok := raw.(*rsa.PrivateKey); ok && key.N.BitLen() < minRSABits {
		return PrivateKey{}, fmt.Errorf("this RSA key has %d bits, and servers want at least %d: make one with ssh-keygen -t ed25519", key.N.BitLen(), minRSABits)
	}
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		return PrivateKey{}, errors.New("this kind of private key is not for SSH: ed25519, ECDSA and RSA are")
	}
	if err := tryOnce(signer); err != nil {
		return PrivateKey{}, err
	}
	block, err := ssh.MarshalPrivateKey(crypto.PrivateKey(raw), "")
	if err != nil {
		return PrivateKey{}, errors.New("this kind of private key cannot be written in OpenSSH's form")
	}
	defer clear(block.Bytes)
	pub := signer.PublicKey()
	return PrivateKey{
		PEM:         secret.New(pem.EncodeToMemory(block)),
		PublicKey:   line(pub),
		Fingerprint: ssh.FingerprintSHA256(pub),
	}, nil
}

// tryOnce signs and verifies, so that a key whose halves do not fit is refused
// now and not at the first call.
func tryOnce(signer ssh.Signer) error {
	message := []byte("does this key sign?")
	sig, err := signer.Sign(rand.Reader, message)
	if err == nil {
		err = signer.PublicKey().Verify(message, sig)
	}
	if err != nil {
		return errors.New("the private key is damaged: it does not sign for its own public key")
	}
	return nil
}

func line(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}
