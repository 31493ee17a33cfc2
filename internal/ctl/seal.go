package ctl

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"executor/internal/secret"
)

// seal encrypts the identity for the other end of this connection.
func (a agreement) seal(identity *secret.Secret) ([]byte, error) {
	aead, err := a.aead()
	if err != nil {
		return nil, err
	}
	var out []byte
	err = identity.Use(func(plain []byte) error {
		// The key seals one message, so the nonce may be constant.
		out = aead.Seal(nil, make([]byte, aead.NonceSize()), plain, nil)
		return nil
	})
	return out, err
}

func (a agreement) unseal(sealed []byte) (*secret.Secret, error) {
	aead, err := a.aead()
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("sealed identity: %w", err)
	}
	return secret.New(plain), nil
}

func (a agreement) aead() (cipher.AEAD, error) {
	key, err := a.derive(ofIdentity)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
