package vault

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// macDomain keeps the MAC of a generation apart from any other use of its key.
const macDomain = "executor vault generation v1\n"

// encodeDocument returns the plaintext of a generation and its MAC. The caller
// clears the plaintext.
func encodeDocument(c *contents, keys *Keys) (plain []byte, mac string, err error) {
	body, err := encodeBody(c)
	defer clear(body)
	if err != nil {
		return nil, "", err
	}
	if mac, err = keys.mac(c.generation, body); err != nil {
		return nil, "", err
	}
	return appendDocument(nil, c.generation, mac, body), mac, nil
}

func appendDocument(out []byte, generation uint64, mac string, body []byte) []byte {
	out = append(make([]byte, 0, len(body)+256), out...)
	out = fmt.Appendf(out, `{"format":1,"generation":%d,"mac":"%s","body":`, generation, mac)
	return append(append(out, body...), '}')
}

// mac is HMAC-SHA256 over macDomain, the generation as 8 bytes big endian, and
// the body; in lower-case hex.
func (k *Keys) mac(generation uint64, body []byte) (string, error) {
	key, err := k.derive(infoMAC, sha256.Size)
	if err != nil {
		return "", err
	}
	defer key.Wipe()
	var sum []byte
	err = key.Use(func(b []byte) error {
		h := hmac.New(sha256.New, b)
		h.Write([]byte(macDomain))
		h.Write(binary.BigEndian.AppendUint64(nil, generation))
		h.Write(body)
		sum = h.Sum(nil)
		return nil
	})
	return hex.EncodeToString(sum), err
}

// encodeBody writes the secrets by hand into a buffer of the right size:
// encoding/json would keep a copy in its pool. What it writes is canonical, so
// that decodeBody can ask for exactly these bytes.
func encodeBody(c *contents) ([]byte, error) {
	out := make([]byte, 0, bodySize(c))
	out = fmt.Appendf(out, `{"journal":{"size":%d,"root":"%s"},"items":[`,
		c.head.size, base64.StdEncoding.EncodeToString(c.head.root[:]))
	for i, it := range c.items {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendItem(out, it); err != nil {
			return out, err
		}
	}
	out = append(out, `],"retired":[`...)
	for i, m := range c.marks() {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNames(out, m.Kind, m.Name, m.Version)
		out = append(out, '}')
	}
	return append(out, `]}`...), nil
}

func bodySize(c *contents) int {
	size := 256
	for _, it := range c.items {
		size += 128 + 6*len(it.Kind+it.Name) + len(it.Body) + base64.StdEncoding.EncodedLen(it.Secret.Len())
	}
	for k := range c.retired {
		size += 128 + 6*len(k.kind+k.name)
	}
	return size
}

func appendNames(out []byte, kind, name string, version int) []byte {
	return fmt.Appendf(out, `{"kind":%s,"name":%s,"version":%d`, quoted(kind), quoted(name), version)
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string always marshals
	return b
}

func appendItem(out []byte, it Item) ([]byte, error) {
	out = appendNames(out, it.Kind, it.Name, it.Version)
	out = append(append(out, `,"body":`...), it.Body...)
	if it.Secret == nil {
		return append(out, '}'), nil
	}
	err := it.Secret.Use(func(b []byte) error {
		out = append(out, `,"secret":"`...)
		out = base64.StdEncoding.AppendEncode(out, b)
		out = append(out, `"}`...)
		return nil
	})
	return out, err
}
