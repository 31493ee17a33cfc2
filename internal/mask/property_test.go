package mask_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"executor/internal/mask"
	"executor/internal/secret"
	"pgregory.net/rapid"
)

// naive masks by trying every secret at every place.
func naive(text string, secrets []string) (string, map[string]int) {
	type span struct {
		start, end, longest int
		name                string
	}
	var spans []span
	for i := range len(text) {
		for k, s := range secrets {
			if strings.HasPrefix(text[i:], s) {
				n := name
				if k > 0 {
					n = fmt.Sprintf("%s-%d", name, k)
				}
				spans = append(spans, span{i, i + len(s), len(s), n})
			}
		}
	}
	// Of equal length, the first to end is the first to start.
	var merged []span
	for _, s := range spans {
		if n := len(merged); n > 0 && merged[n-1].end > s.start {
			m := &merged[n-1]
			m.end = max(m.end, s.end)
			if s.longest > m.longest {
				m.longest, m.name = s.longest, s.name
			}
			continue
		}
		merged = append(merged, s)
	}
	var out strings.Builder
	counts := map[string]int{}
	at := 0
	for _, m := range merged {
		out.WriteString(text[at:m.start] + mask.Mask(m.name))
		counts[m.name]++
		at = m.end
	}
	return out.String() + text[at:], counts
}

func chunked(t *rapid.T, set *mask.Set, text string) (string, mask.Report) {
	var out bytes.Buffer
	w := set.Writer(&out, "")
	for len(text) > 0 {
		n := min(len(text), rapid.IntRange(1, 40).Draw(t, "chunk"))
		if _, err := w.Write([]byte(text[:n])); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), w.Report()
}

// Secrets and text are cut from one string that repeats, so that secrets overlap,
// contain each other, and match by halves.
func TestAgainstNaive(t *testing.T) {
	source := strings.Repeat("ghijklmnopqrs", 6)
	piece := func(least int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			n := rapid.IntRange(least, 40).Draw(t, "length")
			i := rapid.IntRange(0, 13).Draw(t, "start")
			return source[i : i+n]
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfNDistinct(piece(16), 1, 5, rapid.ID).Draw(t, "secrets")
		part := rapid.OneOf(piece(0), rapid.SampledFrom(secrets), rapid.StringMatching(`[g-s\n #"]{0,5}`))
		text := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "text"), "")
		want, counts := naive(text, secrets)
		got, r := chunked(t, mask.NewSet(named(secrets...)), text)
		if got != want {
			t.Fatalf("%q became\n%q, want\n%q", text, got, want)
		}
		for n, c := range counts {
			if r.Redactions[n] != c {
				t.Fatalf("%d masks of %s, want %d", r.Redactions[n], n, c)
			}
		}
	})
}

func encodeSome(t *rapid.T, s string) string {
	var out strings.Builder
	escape := rapid.SampledFrom([]string{"%%%02x", "%%%02X", `\x%02x`, "&#%d;", `\u%04x`}).Draw(t, "escape")
	for _, r := range s {
		if must := strings.ContainsRune(`%\&`, r); must || rapid.Bool().Draw(t, "escaped") {
			if escape[0] == '&' || escape[1] == 'u' {
				fmt.Fprintf(&out, escape, r)
			} else {
				out.WriteString(perByte(string(r), escape))
			}
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Any choice of the characters that are escaped is found, and nothing else goes.
func TestAnyEscaping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ -~éß☃]{4,30}`).Draw(t, "secret") + "0aB1cD2eF3gH"
		set := mask.NewSet(named(s))
		around := rapid.StringMatching(`[ -$(-\[\]^~\n]{0,20}[.:"] `)
		pre, post := around.Draw(t, "before"), " "+around.Draw(t, "after")
		if strings.Contains(pre+post, "%") {
			pre, post = strings.ReplaceAll(pre, "%", "_"), strings.ReplaceAll(post, "%", "_")
		}
		in := pre + encodeSome(t, s) + post
		want := pre + mask.Mask(name) + post
		if got, _ := chunked(t, set, in); got != want {
			t.Fatalf("%q became %q, want %q", in, got, want)
		}
	})
}

// soup is text of what secrets, escapes and encodings are made of.
func soup(s string) *rapid.Generator[string] {
	forms := whole(s)
	keys := make([]string, 0, len(forms))
	for k := range forms {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	part := rapid.Custom(func(t *rapid.T) string {
		f := forms[rapid.SampledFrom(keys).Draw(t, "form")]
		i := rapid.IntRange(0, len(f)).Draw(t, "from")
		if rapid.Bool().Draw(t, "begin") {
			i = 0
		}
		return f[i:rapid.IntRange(i, len(f)).Draw(t, "to")]
	})
	noise := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n\n", "%", `\`, "&", "%2", `\u`, "&#", "%25", `\\`, " ", "+", "="})
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(part, noise, rapid.SampledFrom(mapValues(forms, keys))), 1, 8), func(p []string) string {
		return strings.Join(p, "")
	})
}

func mapValues(m map[string]string, keys []string) []string {
	var out []string
	for _, k := range keys {
		out = append(out, m[k])
	}
	return out
}

// The fast path finds what is found without it, and pieces change nothing.
func TestFastPathAndPieces(t *testing.T) {
	s := odd(t)
	set := mask.NewSet(named(s, secretsToEncode["surrogates"], secretsToEncode["percent"], s[:18]))
	gen := rapid.OneOf(soup(s), soup(secretsToEncode["surrogates"]), soup(secretsToEncode["percent"]))
	rapid.Check(t, func(t *rapid.T) {
		text := gen.Draw(t, "text")
		want := mask.Hits(set, []byte(text), 0, false)
		for _, piece := range []int{1, 5, len(text)} {
			if got := mask.Hits(set, []byte(text), piece, true); !slices.Equal(got, want) {
				t.Fatalf("%q in pieces of %d: %v, without the fast path %v", text, piece, got, want)
			}
		}
		once, r1 := set.String(text, "")
		if got, r2 := chunked(t, set, text); got != once || r1.Total() != r2.Total() {
			t.Fatalf("%q became %q in pieces, %q at once", text, got, once)
		}
	})
}

func FuzzChunks(f *testing.F) {
	s := odd(f)
	for _, form := range whole(s) {
		f.Add("a "+form+" b", uint8(3), s, "hunter2%41")
	}
	f.Add("-----BEGIN\n\n\n", uint8(1), "-----BEGIN X-----\nabcdefghijklmnop\nq\n", "%")
	f.Fuzz(func(t *testing.T, text string, chunk uint8, strong, weak string) {
		set := mask.NewSet([]mask.Named{{Name: "a", Secret: secret.New([]byte(strong + "0123456789abcdef"))},
			{Name: name, Secret: secret.New([]byte("w" + weak))}})
		whole, r := set.String(text, name)
		got, r2 := filter(t, set, text, int(chunk))
		if got != whole || r.Total() != r2.Total() || r.WeakSeen != r2.WeakSeen {
			t.Errorf("%q %+v in pieces, %q %+v at once", got, r2, whole, r)
		}
		if strings.Contains(got, strong+"0123456789abcdef") {
			t.Errorf("the secret is left in %q", got)
		}
		if _, ok := set.Contains([]byte(text)); ok != (r.Total() > 0) {
			t.Errorf("Contains %v with %d masks", ok, r.Total())
		}
		var out bytes.Buffer
		w := set.Writer(&out, name)
		feed(t, w, text, int(chunk))
		if err := w.Cut(); err != nil {
			t.Error(err)
		}
	})
}
