package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"
)

// The shortest forms of a weak secret that are looked for. Shorter ones are in
// every long text by chance.
const (
	weakBase64 = 4
	weakHex    = 6
	weakFolded = 4
)

// A forms collects what one owner's secret looks like, by the automaton that
// looks for it.
type forms struct {
	text, base64, hex *trie
	owner             int32
	strong            bool
}

func (f forms) secret(b []byte) {
	f.variants(b)
	f.encoded(b)
	if trimmed := bytes.TrimRight(b, "\r\n"); len(trimmed) < len(b) && f.keeps(trimmed) {
		f.variants(trimmed)
		f.encoded(trimmed)
	}
	if !bytes.ContainsAny(b, "\n") {
		return
	}
	lf := bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	crlf := bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))
	f.variants(lf)
	f.variants(crlf)
	clear(lf)
	clear(crlf)
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		if line = bytes.TrimRight(line, "\r"); f.strong && atLeast(line, lineLen, lineDistinct) && !armor(line) {
			f.variants(line)
		}
	}
}

// armor reports a line that says what a PEM block is: it is in every such file.
func armor(line []byte) bool {
	return bytes.HasPrefix(line, []byte("-----")) && bytes.HasSuffix(line, []byte("-----"))
}

func (f forms) keeps(b []byte) bool {
	if f.strong {
		return strong(b)
	}
	return len(b) > 0
}

// keepsFolded asks less of what is left of a strong secret than of the whole:
// who sees the mask knows no more than with the whole.
func (f forms) keepsFolded(b []byte) bool {
	if f.strong {
		return atLeast(b, lineLen, lineDistinct)
	}
	return len(b) >= weakFolded
}

// variants adds the secret as text: as it is, with the surrogates of JSON, and
// what the last view makes of either.
func (f forms) variants(b []byte) {
	escaped := surrogates(b)
	defer clear(escaped)
	for _, form := range [][]byte{b, escaped} {
		f.text.add(form, f.owner)
		folded := fold(form)
		if !bytes.Equal(folded, form) && f.keepsFolded(folded) {
			f.text.add(folded, f.owner)
		}
		clear(folded)
	}
}

// surrogates writes each character above U+FFFF as its two surrogates, three
// bytes each: what the views make of \ud83d\ude00.
func surrogates(b []byte) []byte {
	out := make([]byte, 0, 2*len(b))
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if n == 4 {
			r -= 0x10000
			out = appendUnit(out, 0xd800+r>>10)
			out = appendUnit(out, 0xdc00+r&0x3ff)
		} else {
			out = append(out, b[i:i+n]...)
		}
		i += n
	}
	return out
}

// appendUnit appends a UTF-16 unit in the manner of UTF-8, surrogates included.
func appendUnit(out []byte, r rune) []byte {
	if r >= 0xd800 && r <= 0xdfff {
		return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(out, r)
}

// encoded adds the forms in which no character stands for itself.
func (f forms) encoded(b []byte) {
	if digits := hex.AppendEncode(nil, b); f.strong || len(digits) >= weakHex {
		f.hex.add(digits, f.owner)
		clear(digits)
	}
	for offset := range 3 {
		f.aligned(b, offset)
	}
}

// aligned adds the base64 form of b that begins offset bytes into a group of
// three: the characters whose bits are all of b, then the same with each
// character that may follow and holds the last bits of b, then with padding. Of
// a strong secret, also those without the last group, if it is not full: when
// the text is broken off there, nearly all of b is in it.
func (f forms) aligned(b []byte, offset int) {
	padded := append(make([]byte, offset, offset+len(b)), b...)
	enc := base64.StdEncoding.AppendEncode(nil, padded)
	defer clear(padded)
	defer clear(enc)
	first, end := (8*offset+5)/6, 8*len(padded)/6
	core := enc[first:max(first, end)]
	if len(core) == 0 || !f.strong && len(core) < weakBase64 {
		return
	}
	f.base64.add(core, f.owner)
	if 8*len(padded)%6 == 0 {
		return
	}
	if f.strong {
		f.base64.add(enc[first:len(enc)-4], f.owner)
	}
	f.base64.add(enc[first:], f.owner)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	known := bytes.IndexByte([]byte(alphabet), enc[end])
	for free := range 1 << (6 - 8*len(padded)%6) {
		enc[end] = alphabet[known|free]
		f.base64.add(enc[first:end+1], f.owner)
	}
}
