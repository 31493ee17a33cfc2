package ctl

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"

	"executor/internal/secret"
)

const (
	label    = "executor operator.sock v1"
	protocol = 1
	keySize  = 32
	// nonceSize is that of each end's challenge.
	nonceSize = 32
)

// The directions of a connection.
const (
	toDaemon   = " to daemon"
	toCommand  = " to command"
	byDaemon   = " daemon proof"
	byCommand  = " command proof"
	ofIdentity = " identity"
)

// An agreement is the key and the two nonces of one connection.
type agreement struct {
	key           *secret.Secret
	client, serve []byte // nonces
}

// proof is what the end named by who sends to show that it has the key.
func (a agreement) proof(who string) ([]byte, error) {
	var out []byte
	err := a.key.Use(func(key []byte) error {
		if len(key) != keySize {
			return fmt.Errorf("the key has %d bytes, want %d", len(key), keySize)
		}
		h := hmac.New(sha256.New, key)
		h.Write([]byte(label + who + "\x00"))
		h.Write(a.client)
		h.Write(a.serve)
		out = h.Sum(nil)
		return nil
	})
	return out, err
}

// proved says whether got is the proof of the end named by who.
func (a agreement) proved(who string, got []byte) bool {
	want, err := a.proof(who)
	return err == nil && hmac.Equal(want, got)
}

// derive returns a key of this connection for one use.
func (a agreement) derive(use string) ([]byte, error) {
	var out []byte
	err := a.key.Use(func(key []byte) (err error) {
		salt := append(append([]byte{}, a.client...), a.serve...)
		out, err = hkdf.Key(sha256.New, key, salt, label+use, keySize)
		return err
	})
	return out, err
}
