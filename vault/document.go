package vault

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"fmt"

	"executor/internal/secret"
)

// document is the plaintext of vault.age. The body is kept as the bytes that
// were read, since these and no others are what the MAC is over.
type document struct {
	Format     int             `json:"format"`
	Generation uint64          `json:"generation"`
	MAC        string          `json:"mac"`
	Body       json.RawMessage `json:"body"`
}

type storedBody struct {
	Journal storedHead   `json:"journal"`
	Items   []storedItem `json:"items"`
	Retired []storedMark `json:"retired"`
}

type storedHead struct {
	Size int64  `json:"size"`
	Root []byte `json:"root"`
}

type storedItem struct {
	Kind    string          `json:"kind"`
	Name    string          `json:"name"`
	Version int             `json:"version"`
	Body    json.RawMessage `json:"body"`
	Secret  []byte          `json:"secret"`
}

// storedMark keeps the highest version of a removed item, so that a new item of
// that name does not take up numbers that the journal knows already.
type storedMark struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// decodeDocument checks the MAC and then reads the body. It takes exactly what
// encodeDocument writes: a duplicate, unknown or case-variant key, white space
// or another order of items is ErrDamaged. The caller clears plain.
func decodeDocument(plain []byte, keys *Keys) (*contents, error) {
	var doc document
	err := json.Unmarshal(plain, &doc)
	defer clear(doc.Body)
	if err != nil {
		return nil, ErrDamaged // encoding/json may quote what it read
	}
	if doc.Format != 1 {
		return nil, fmt.Errorf("format %d is not known to this version: %w", doc.Format, ErrDamaged)
	}
	want, err := keys.mac(doc.Generation, doc.Body)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(want), []byte(doc.MAC)) {
		return nil, fmt.Errorf("its MAC is not ours: %w", ErrForged)
	}
	again := appendDocument(nil, doc.Generation, doc.MAC, doc.Body)
	defer clear(again)
	if !bytes.Equal(again, plain) || doc.Generation == 0 {
		return nil, ErrDamaged
	}
	c, err := decodeBody(doc.Body)
	if err != nil {
		return nil, err
	}
	c.generation, c.mac = doc.Generation, doc.MAC
	return c, nil
}

func decodeBody(raw []byte) (*contents, error) {
	var body storedBody
	err := json.Unmarshal(raw, &body)
	c := body.contents()
	again, encErr := encodeBody(c)
	defer clear(again)
	if err != nil || encErr != nil || !bytes.Equal(again, raw) || !c.valid() {
		c.wipe()
		return nil, ErrDamaged
	}
	return c, nil
}

// contents takes ownership of the secrets.
func (b *storedBody) contents() *contents {
	c := &contents{retired: map[key]int{}}
	c.head.size = b.Journal.Size
	copy(c.head.root[:], b.Journal.Root)
	for _, s := range b.Items {
		it := Item{Kind: s.Kind, Name: s.Name, Version: s.Version, Body: s.Body}
		if s.Secret != nil {
			it.Secret = secret.New(s.Secret)
		}
		c.items = append(c.items, it)
	}
	for _, m := range b.Retired {
		c.retired[key{m.Kind, m.Name}] = m.Version
	}
	return c
}
