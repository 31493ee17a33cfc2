package vault

import (
	"bytes"
	"errors"

	"filippo.io/age"
)

// errOtherRecipient: an age file that these identities do not open.
var errOtherRecipient = errors.New("not encrypted to this identity")

func encrypt(plain []byte, to age.Recipient) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// decrypt returns a plaintext that the caller clears. The buffer never grows,
// since a plaintext is shorter than its file, so no part of it is left behind
// in an outgrown one.
func decrypt(sealed []byte, id age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), id)
	if noMatch := (*age.NoIdentityMatchError)(nil); errors.As(err, &noMatch) {
		return nil, errOtherRecipient
	}
	if err != nil {
		return nil, ErrDamaged
	}
	out := bytes.NewBuffer(make([]byte, 0, len(sealed)+bytes.MinRead))
	if _, err := out.ReadFrom(r); err != nil {
		clear(out.Bytes())
		return nil, ErrDamaged
	}
	return out.Bytes(), nil
}
