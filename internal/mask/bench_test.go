package mask_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"executor/internal/mask"
	"executor/internal/secret"
)

func manySecrets(n int) []mask.Named {
	rng := rand.New(rand.NewPCG(1, 2))
	prefixes := []string{"ghp_", "sk-proj-", "xoxb-", "", "", "AKIA", "eyJhbGciOi"}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var list []mask.Named
	for i := range n {
		b := []byte(prefixes[i%len(prefixes)])
		for range 20 + rng.IntN(30) {
			b = append(b, alphabet[rng.IntN(len(alphabet))])
		}
		list = append(list, mask.Named{Name: fmt.Sprint("c", i), Secret: secret.New(b)})
	}
	return list
}

func bodies() map[string][]byte {
	const size = 1 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	random := make([]byte, size)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	var js, indented, escaped bytes.Buffer
	for i := 0; js.Len() < size; i++ {
		row := map[string]any{"id": i, "name": "an item of the list", "url": fmt.Sprintf("https://api.example.com/v1/items/%d", i), "ok": true, "sha": hex.EncodeToString(random[i%1000 : i%1000+20])}
		b, _ := json.Marshal(row)
		js.Write(b)
		b, _ = json.MarshalIndent(row, "", "  ")
		indented.Write(append(b, '\n'))
		b, _ = json.Marshal(string(b))
		escaped.Write(b)
	}
	return map[string][]byte{
		"json": js.Bytes()[:size], "json-lines": indented.Bytes()[:size], "json-in-json": escaped.Bytes()[:size],
		"base64":  []byte(base64.StdEncoding.EncodeToString(random))[:size],
		"hex":     []byte(hex.EncodeToString(random))[:size],
		"random":  random,
		"percent": []byte(perByte(string(random[:size/3]), "%%%02X")),
	}
}

// The floor is what copying the body takes, and one bytes.Contains for each
// secret.
func BenchmarkMask(b *testing.B) {
	list := manySecrets(100)
	set := mask.NewSet(list)
	for kind, body := range bodies() {
		b.Run("100/"+kind, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				w := set.Writer(io.Discard, "c1")
				w.Write(body)
				w.Close()
			}
		})
	}
	var near []byte
	list[4].Secret.Use(func(s []byte) error {
		near = bytes.Repeat(s[:len(s)-1], 1<<20/len(s))
		return nil
	})
	b.Run("100/near-misses", func(b *testing.B) {
		b.SetBytes(int64(len(near)))
		for b.Loop() {
			w := set.Writer(io.Discard, "")
			w.Write(near)
			w.Close()
		}
	})
	body := bodies()["json"]
	withWeak := mask.NewSet(append(list, mask.Named{Name: "c1", Secret: secret.New([]byte("hunter2!"))}))
	b.Run("100/json-weak-in-use", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			w := withWeak.Writer(io.Discard, "c1")
			w.Write(body)
			w.Close()
		}
	})
	b.Run("floor/copy", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		to := make([]byte, len(body))
		for b.Loop() {
			copy(to, body)
		}
	})
	b.Run("floor/contains", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			for _, n := range list {
				n.Secret.Use(func(s []byte) error {
					bytes.Contains(body, s)
					return nil
				})
			}
		}
	})
}

// What a small reply costs.
func BenchmarkMaskSmall(b *testing.B) {
	set := mask.NewSet(manySecrets(100))
	body := bodies()["json"][:1024]
	b.ReportAllocs()
	for b.Loop() {
		set.Bytes(body, "")
	}
}

func BenchmarkNewSet(b *testing.B) {
	list := manySecrets(100)
	b.ReportAllocs()
	for b.Loop() {
		mask.NewSet(list)
	}
}
