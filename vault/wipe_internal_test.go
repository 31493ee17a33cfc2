package vault

import (
	"bytes"
	"errors"
	"testing"

	"executor/internal/secret"
)

func withSecret(text string) (*contents, []byte) {
	b := []byte(text)
	return &contents{generation: 1, items: []Item{{Kind: "k", Name: "n", Version: 1, Secret: secret.New(b)}}}, b
}

func TestAGenerationThatGivesWayIsWiped(t *testing.T) {
	first, firstBytes := withSecret("first")
	second, secondBytes := withSecret("second")
	keys := fuzzKeys(t)
	v := &Vault{keys: keys, now: first}
	if err := v.adopt(second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(firstBytes, make([]byte, len(firstBytes))) {
		t.Errorf("the old generation still holds %q", firstBytes)
	}
	v.Close()
	if !bytes.Equal(secondBytes, make([]byte, len(secondBytes))) {
		t.Errorf("after Close the vault holds %q", secondBytes)
	}
	late, lateBytes := withSecret("late")
	if err := v.adopt(late); !errors.Is(err, ErrLocked) {
		t.Errorf("a closed vault took a generation: %v", err)
	}
	if !bytes.Equal(lateBytes, make([]byte, len(lateBytes))) {
		t.Errorf("the generation that came after Close holds %q", lateBytes)
	}
}

func TestTheBodyIsWrittenWithoutOutgrowingItsBuffer(t *testing.T) {
	c, _ := withSecret("a secret of some length")
	c.items[0].Body = []byte(`{"x":1}`)
	c.items[0].Name = "<<<<\u2028>>>>"
	c.retired = map[key]int{{"<<<<", ">>>>"}: 1 << 40}
	for _, c := range []*contents{c, {}} {
		body, err := encodeBody(c)
		if err != nil {
			t.Fatal(err)
		}
		if limit := bodySize(c); len(body) > limit {
			t.Errorf("%d bytes, room for %d: copies of secrets are left behind", len(body), limit)
		}
	}
}
