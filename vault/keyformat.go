package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// storedKeys is the plaintext of identity.age.
type storedKeys struct {
	Format   int    `json:"format"`
	Identity string `json:"identity"`
	Root     []byte `json:"root"`
}

// encode writes the canonical plaintext by hand: encoding/json would keep a
// copy in its pool of buffers.
func (k *Keys) encode() ([]byte, error) {
	out := make([]byte, 0, 512)
	err := k.identity.Use(func(id []byte) error {
		return k.root.Use(func(root []byte) error {
			out = append(out, `{"format":1,"identity":"`...)
			out = append(out, id...)
			out = append(out, `","root":"`...)
			out = base64.StdEncoding.AppendEncode(out, root)
			out = append(out, `"}`...)
			return nil
		})
	})
	if err != nil {
		return nil, ErrLocked
	}
	return out, nil
}

// decodeKeys takes exactly what encode writes. No error of encoding/json is
// passed on: it may quote its input.
func decodeKeys(plain []byte) (*Keys, error) {
	var stored storedKeys
	if json.Unmarshal(plain, &stored) != nil {
		return nil, ErrDamaged
	}
	if stored.Format != 1 {
		return nil, fmt.Errorf("format %d is not known to this version: %w", stored.Format, ErrDamaged)
	}
	if len(stored.Root) != rootSize {
		return nil, ErrDamaged
	}
	keys, err := newKeys([]byte(stored.Identity), stored.Root)
	if err != nil {
		return nil, err
	}
	again, err := keys.encode()
	defer clear(again)
	if err != nil || !bytes.Equal(again, plain) {
		keys.Wipe()
		return nil, ErrDamaged
	}
	if _, err := keys.ageIdentity(); err != nil {
		keys.Wipe()
		return nil, err
	}
	return keys, nil
}
