package vault

import (
	"bytes"
	"encoding/json"
	"testing"

	"filippo.io/age"

	"executor/internal/secret"
)

func fuzzKeys(t testing.TB) *Keys {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := newKeys([]byte(id.String()), bytes.Repeat([]byte{7}, rootSize))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func sampleBody(t testing.TB) []byte {
	body, err := encodeBody(&contents{
		head: head{size: 12},
		items: []Item{
			{Kind: "credential", Name: "ci", Version: 1, Body: json.RawMessage(`{"type":"bearer"}`), Secret: secret.New([]byte("old!"))},
			{Kind: "host", Name: "wéb<1>", Version: 3, Body: json.RawMessage(`[1e400,null]`)},
		},
		retired: map[key]int{{"host", "old"}: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// FuzzDecodeBody: what is taken is spelled as we would, and holds in memory
// what Edit could have made.
func FuzzDecodeBody(f *testing.F) {
	sample := sampleBody(f)
	f.Add(sample)
	for _, change := range [][2]string{
		{`"ci"`, `"ci","name":"x"`}, {`"name":"ci"`, `"Name":"ci"`}, {`"version":1`, `"version":0`}, {`"version":1`, `"version":1.0`},
		{`"secret":"b2xkIQ=="`, `"secret":""`}, {`"secret":"b2xkIQ=="`, `"secret":null`}, {`"secret":"b2xkIQ=="`, `"secret":"b2xkIR=="`}, {`"secret":"b2xkIQ=="`, `"secret":"b2xkIQ==\n"`},
		{`"host","name":"old"`, `"credential","name":"ci"`}, {`"credential"`, `"z"`}, {`{"type":"bearer"}`, `{ }`}, {`"size":12`, `"size":-1`}, {`,"retired"`, `,"x":1,"retired"`},
	} {
		f.Add(bytes.Replace(sample, []byte(change[0]), []byte(change[1]), 1))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := decodeBody(raw)
		if err != nil {
			if c != nil {
				t.Fatal("an error and contents")
			}
			return
		}
		again, err := encodeBody(c)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%q was taken but is written as %q, %v", raw, again, err)
		}
		if !c.valid() {
			t.Fatalf("%q was taken but is not valid", raw)
		}
	})
}

func TestDecodeBodyTakesOneSpelling(t *testing.T) {
	sample := sampleBody(t)
	if _, err := decodeBody(sample); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"items":[`, `"items":[{"kind":"credential","name":"ci","version":1,"body":1},`},
		{`"ci"`, `"ci","name":"ci"`}, {`"name":"ci"`, `"Name":"ci"`}, {`"version":1`, `"version":0`}, {`"version":1,`, `"version":01,`},
		{`"secret":"b2xkIQ=="`, `"secret":""`}, {`"secret":"b2xkIQ=="`, `"secret":null`}, {`"secret":"b2xkIQ=="`, `"secret":"b2xkIR=="`}, {`b2xkIQ==`, `b2xkIQ==\n`},
		{`"host","name":"old"`, `"credential","name":"ci"`}, {`"kind":"credential"`, `"kind":"z"`}, {`{"type":"bearer"}`, `{ }`},
		{`"size":12`, `"size":-1`}, {`,"retired"`, `,"x":1,"retired"`}, {`]}`, `]} `}, {`"version":4`, `"version":0`},
	} {
		changed := bytes.Replace(sample, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(changed, sample) {
			t.Fatalf("%q is not in the sample", change[0])
		}
		if c, err := decodeBody(changed); err == nil || c != nil {
			t.Errorf("%s in place of %s was taken", change[1], change[0])
		}
	}
}

// FuzzDecodeDocument gives every body a right MAC as well, so that fuzzing
// reaches beyond it.
func FuzzDecodeDocument(f *testing.F) {
	keys := fuzzKeys(f)
	f.Add(uint64(1), sampleBody(f), []byte(`{"format":1,"generation":1,"mac":"","body":{}}`))
	f.Add(uint64(0), []byte(`null`), []byte(`null`))
	f.Fuzz(func(t *testing.T, generation uint64, body, plain []byte) {
		if _, err := decodeDocument(plain, keys); err == nil {
			t.Fatalf("%q bears no MAC of ours and was taken", plain)
		}
		mac, err := keys.mac(generation, body)
		if err != nil {
			t.Fatal(err)
		}
		c, err := decodeDocument(appendDocument(nil, generation, mac, body), keys)
		if err != nil {
			return
		}
		again, againMAC, err := encodeDocument(c, keys)
		if err != nil || againMAC != mac || c.generation != generation || !bytes.Equal(again, appendDocument(nil, generation, mac, body)) {
			t.Fatalf("generation %d of %q is written as %q, %v", generation, body, again, err)
		}
	})
}

func FuzzDecodeKeys(f *testing.F) {
	plain, err := fuzzKeys(f).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	f.Add([]byte(`{"format":1,"identity":"AGE-SECRET-KEY-1","root":""}`))
	f.Fuzz(func(t *testing.T, plain []byte) {
		keys, err := decodeKeys(plain)
		if err != nil {
			return
		}
		again, err := keys.encode()
		if err != nil || !bytes.Equal(again, plain) {
			t.Fatalf("%q is written as %q, %v", plain, again, err)
		}
	})
}
