package journal_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"executor/journal"

	"github.com/gowebpki/jcs"
)

// saltedExample and commitmentExample are the worked example of the package doc:
// the hash of a text, and what stands for it in the body.
const (
	saltedExample     = "crsyY+rDfsN6ZI/FKN5drXuDv/+qj9O+NoAAyKsPLqc="
	commitmentExample = "wEEJteg989cR6fFlsl9kRvrOylf+Lrpe7dca0zAfJ1I"
)

// FuzzParsePin: what is accepted has one spelling.
func FuzzParsePin(f *testing.F) {
	f.Add(journal.FormatPin(0, [32]byte{}))
	f.Add(journal.FormatPin(1<<62, [32]byte{1, 2, 3}))
	f.Add([]byte("executor-journal-pin-v1 00000000000000000001 x y\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		size, again, err := journal.ParsePin(b)
		if err == nil && (size < 0 || !bytes.Equal(b, again)) {
			t.Errorf("%q was read as %q", b, again)
		}
	})
}

// FuzzParseCheckpoint: what is accepted has one spelling.
func FuzzParseCheckpoint(f *testing.F) {
	const origin = "executor/journal/0011223344556677"
	f.Add(origin + "\n8\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n")
	f.Add(origin + "\n08\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n")
	f.Add(origin + "\n-1\nAAAA\n")
	f.Add("other\n8\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		again, err := journal.ParseCheckpoint(text, origin)
		if err == nil && again != text {
			t.Errorf("%q was read as %q", text, again)
		}
	})
}

// FuzzDecodeBody: what is accepted is in canonical form, by another library's judgement.
func FuzzDecodeBody(f *testing.F) {
	f.Add([]byte(`{"kind":"intent","seq":1,"time":"2026-11-30T12:00:00.123456Z"}`))
	f.Add([]byte(`{"activity_id":"é\u2028","kind":"x","seq":1,"time":"2026-11-30T12:00:00.123456Z"}`))
	f.Add([]byte(`{"kind":"intent","kind":"intent","seq":1}`))
	f.Add([]byte(`{"KIND":"intent"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		again, err := journal.DecodeBody(raw)
		if err != nil {
			return
		}
		canonical, err := jcs.Transform(raw)
		if err != nil || !bytes.Equal(raw, again) || !bytes.Equal(raw, canonical) {
			t.Errorf("accepted %q, again %q, canonical %q (%v)", raw, again, canonical, err)
		}
	})
}

func TestRefusedArgsAreCutBetweenCharacters(t *testing.T) {
	limit := journal.MaxRefusedArgs
	for _, s := range []string{"", "{}", strings.Repeat("x", limit)} {
		if got := journal.RefusedArgs(s); got != s {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
	}
	for lead := range 4 {
		s := strings.Repeat("x", lead) + strings.Repeat("\U0001f511", limit)
		got := journal.RefusedArgs(s)
		if !utf8.ValidString(got) || len(got) > limit+120 || len(got) < limit-4 {
			t.Errorf("lead %d: %d bytes, valid %v", lead, len(got), utf8.ValidString(got))
		}
	}
	if got := journal.RefusedArgs(strings.Repeat("\x80", 2*limit)); len(got) > limit+120 {
		t.Errorf("%d bytes of no text", len(got))
	}
}

// FuzzTexts: the bytes of an entry's texts have one spelling.
func FuzzTexts(f *testing.F) {
	salt := strings.Repeat("s", 16)
	f.Add([]byte("\x08raw_args" + salt + "\x02{}\x06target" + salt + "\x00"))
	f.Add([]byte("\x01a" + salt + "\x80\x00"))
	f.Add([]byte("\x81a" + salt + salt + "\x01b" + salt + "\x00"))
	f.Add([]byte("\x01a" + salt + "\x01x\x01a" + salt + "\x01x"))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, rest []byte) {
		again, err := journal.Rest(rest)
		if err == nil && !bytes.Equal(again, rest) {
			t.Errorf("%q was read as %q", rest, again)
		}
	})
}

// FuzzVerifyProof: nothing but the log's own bytes is proved, and nothing panics.
func FuzzVerifyProof(f *testing.F) {
	const key = "executor/journal/139e3940e64b5491+6135cc5e+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
	f.Add([]byte(`{"format":"executor-journal-proof-v1","key":"","entries":[{"body":"{}","texts":{},"proof":"c2sp.org/tlog-proof@v1\nindex 0\n\nx"}]}`))
	f.Add([]byte(`{"format":"executor-journal-proof-v1"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, file []byte) {
		if a, _, err := journal.VerifyProof(file, key); err == nil {
			t.Errorf("%q proves %+v", file, a)
		}
	})
}
