package sshfile

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"regexp"
	"unicode/utf16"
)

// A repair turns one kind of damage back. What it returns differs from its input
// only when the damage was there.
type repair struct {
	name  string
	apply func([]byte) []byte
}

func replace(old, new string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(new)) }
}

// repairs lists the damage in the order in which it is undone. None of the
// replaced characters occurs in PEM, so a whole key passes unchanged.
func repairs() []repair {
	return []repair{
		{"UTF-16", fromUTF16},
		{"byte order mark", replace("\ufeff", "")},
		{`literal \r\n`, replace(`\r\n`, "\n")},
		{`literal \n`, replace(`\n`, "\n")},
		{`literal \r`, replace(`\r`, "\n")},
		{`literal \t`, replace(`\t`, " ")},
		{"JSON escapes", fromJSON},
		{"CRLF line ends", replace("\r\n", "\n")},
		{"CR line ends", replace("\r", "\n")},
		{"no-break spaces", replace("\u00a0", " ")},
	}
}

func fromJSON(b []byte) []byte {
	for _, esc := range [][2]string{{`\/`, "/"}, {`\u002b`, "+"}, {`\u002B`, "+"}, {`\u003d`, "="}, {`\u003D`, "="}, {`\u002f`, "/"}, {`\u002F`, "/"}} {
		b = replace(esc[0], esc[1])(b)
	}
	return b
}

func fromUTF16(b []byte) []byte {
	little := bytes.HasPrefix(b, []byte{0xff, 0xfe})
	if !little && !bytes.HasPrefix(b, []byte{0xfe, 0xff}) {
		return b
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 2; i+1 < len(b); i += 2 {
		lo, hi := b[i], b[i+1]
		if !little {
			lo, hi = hi, lo
		}
		units = append(units, uint16(hi)<<8|uint16(lo))
	}
	return []byte(string(utf16.Decode(units)))
}

// mend returns the text with the usual damage undone, in a slice of its own,
// and what it found.
func mend(pasted []byte) ([]byte, []string) {
	text, mended := bytes.Clone(pasted), []string(nil)
	for _, r := range repairs() {
		next := bytes.Clone(r.apply(text))
		if !bytes.Equal(next, text) {
			mended = append(mended, r.name)
		}
		clear(text)
		text = next
	}
	return text, mended
}

var (
	beginRE   = regexp.MustCompile(`-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----`)
	procType  = regexp.MustCompile(`Proc-Type:\s*4,\s*ENCRYPTED`)
	dekInfo   = regexp.MustCompile(`DEK-Info:\s*([A-Z0-9-]+,[0-9A-Fa-f]+)`)
	notBase64 = regexp.MustCompile(`[^A-Za-z0-9+/=]`)
	space     = regexp.MustCompile(`[\s"'` + "`" + `,;>|]+`)
)

// frame finds the one private key in text and gives it clean PEM framing. Line
// breaks, indentation and quotes inside the frame carry no meaning.
func frame(text []byte) (*pem.Block, error) {
	found := beginRE.FindAllSubmatchIndex(text, 2)
	switch len(found) {
	case 0:
		return nil, errors.New("no private key found: it begins with -----BEGIN OPENSSH PRIVATE KEY-----")
	case 2:
		return nil, errors.New("there is more than one private key here: give them one at a time")
	}
	kind := string(text[found[0][2]:found[0][3]])
	body, _, ok := bytes.Cut(text[found[0][1]:], []byte("-----END "+kind+"-----"))
	if !ok {
		return nil, errors.New("the private key is cut off: there is no -----END " + kind + "-----")
	}
	block := &pem.Block{Type: kind}
	if m := dekInfo.FindSubmatch(body); m != nil && procType.Match(body) {
		block.Headers = map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": string(m[1])}
		body = dekInfo.ReplaceAll(procType.ReplaceAll(body, nil), nil)
	}
	body = space.ReplaceAll(body, nil)
	defer clear(body)
	if notBase64.Match(body) {
		return nil, errors.New("the private key is damaged: between BEGIN and END there are characters that are not base64")
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(body)))
	n, err := base64.StdEncoding.Decode(raw, body)
	if err != nil {
		return nil, errors.New("the private key is damaged: some of the base64 text between BEGIN and END is missing")
	}
	block.Bytes = raw[:n]
	return block, nil
}

var publicLine = regexp.MustCompile(`^(sk-)?(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp\d+)(@openssh\.com)?\s+AAAA`)

// notPrivate names what people hand over instead of a private key.
func notPrivate(pasted []byte) error {
	text := bytes.Trim(pasted, "\ufeff \t\r\n\"'")
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	switch {
	case len(text) == 0:
		return errors.New("there is no key: the input is empty")
	case beginRE.Match(text):
		return nil
	case bytes.HasPrefix(text, []byte("PuTTY-User-Key-File")):
		return errors.New("this is a PuTTY key: convert it with puttygen FILE -O private-openssh -o NEWFILE")
	case publicLine.Match(text), has("PUBLIC KEY---"), has("SSH2 PUBLIC KEY"):
		return errors.New("this is a public key: the private one is in the file of the same name without .pub")
	case has("-cert-v01@openssh.com"), has("BEGIN CERTIFICATE"):
		return errors.New("this is a certificate: the private key is in a file of its own")
	}
	return nil
}
