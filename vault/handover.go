package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
)

const infoHandover = "executor vault handover v1"

// handoverKeySize is the least number of bytes that Seal takes as a key.
const handoverKeySize = 32

// Seal encrypts the keys for another process that holds the same key, which is
// at least 32 bytes of a secret that both proved: the plaintext of identity.age
// under AES-256-GCM with a random nonce (box = nonce, ciphertext, tag) and a
// key derived from key by HKDF-SHA256. The caller makes key fresh for each
// handover: a box can be opened as often as it is shown. ErrLocked when the
// opener is wiped.
func (k *Keys) Seal(key []byte) ([]byte, error) {
	aead, err := handoverAEAD(key)
	if err != nil {
		return nil, err
	}
	plain, err := k.encode()
	if err != nil {
		return nil, err
	}
	defer clear(plain)
	return aead.Seal(nil, nil, plain, []byte(infoHandover)), nil
}

// UnsealKeys opens a box of Seal; ErrHandover when it was altered or sealed
// under another key.
func UnsealKeys(key, box []byte) (*Keys, error) {
	aead, err := handoverAEAD(key)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, box, []byte(infoHandover))
	if err != nil {
		return nil, ErrHandover
	}
	defer clear(plain)
	return decodeKeys(plain)
}

func handoverAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) < handoverKeySize {
		return nil, fmt.Errorf("handover key of %d bytes, at least %d are needed", len(key), handoverKeySize)
	}
	derived, err := hkdf.Key(sha256.New, key, nil, infoHandover, 32)
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
