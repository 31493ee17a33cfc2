package sshfile_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"executor/internal/sshfile"
)

const goodFingerprint = "SHA256:"

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wholePEM fails the test unless the key's PEM is clean and of that public key.
func wholePEM(t testing.TB, key sshfile.PrivateKey) {
	t.Helper()
	err := key.PEM.Use(func(b []byte) error {
		signer, err := ssh.ParsePrivateKey(b)
		if err != nil {
			return err
		}
		if got := ssh.FingerprintSHA256(signer.PublicKey()); got != key.Fingerprint || !strings.HasPrefix(got, goodFingerprint) {
			t.Errorf("fingerprint of the PEM %s, want %s", got, key.Fingerprint)
		}
		if !bytes.HasSuffix(b, []byte("-----END OPENSSH PRIVATE KEY-----\n")) || bytes.ContainsAny(b, "\r\ufeff") {
			t.Errorf("the PEM is not in its normal form")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPastedKeys(t *testing.T) {
	want, _, _, _, err := ssh.ParseAuthorizedKey(read(t, "ssh-04/key.good.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for name, mended := range map[string]string{
		"good": "", "quoted": "", "indented": "", "no_final_newline": "", "trailing_spaces": "", "one_line": "", "blank_before_end": "",
		"bom": "byte order mark", "cr_only": "CR line ends", "crlf": "CRLF line ends", "literal_backslash_n": `literal \n`,
	} {
		key, err := sshfile.ParsePrivateKey(read(t, "ssh-04/key."+name), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wholePEM(t, key)
		if key.Fingerprint != ssh.FingerprintSHA256(want) {
			t.Errorf("%s: fingerprint %s", name, key.Fingerprint)
		}
		if got := strings.Join(key.Mended, ","); got != mended {
			t.Errorf("%s: mended %q, want %q", name, got, mended)
		}
	}
}

func TestMoreDamage(t *testing.T) {
	good := read(t, "ssh-04/key.good")
	for name, damage := range map[string]func([]byte) []byte{
		"UTF-16": func(b []byte) []byte {
			out := []byte{0xff, 0xfe}
			for _, c := range b {
				out = append(out, c, 0)
			}
			return out
		},
		"JSON": func(b []byte) []byte {
			return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("/"), []byte(`\/`)), []byte("+"), []byte(`\u002b`))
		},
		"text around":   func(b []byte) []byte { return append([]byte("my key:\n"), append(b, "thanks"...)...) },
		"YAML quote":    func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\n> ")) },
		"literal CRLF":  func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(`\r\n`)) },
		"BOM and quote": func(b []byte) []byte { return append([]byte("\ufeff'"), b...) },
	} {
		key, err := sshfile.ParsePrivateKey(damage(bytes.Clone(good)), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wholePEM(t, key)
	}
}

func TestKeyForms(t *testing.T) {
	ec, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	pkcs8, _ := x509.MarshalPKCS8PrivateKey(ec)
	sec1, _ := x509.MarshalECPrivateKey(ec)
	//lint:ignore SA1019 such keys are still pasted
	legacy, err := x509.EncryptPEMBlock(rand.Reader, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey), []byte("pw"), x509.PEMCipherAES256)
	if err != nil {
		t.Fatal(err)
	}
	openssh, err := ssh.MarshalPrivateKeyWithPassphrase(ec, "", []byte("pw"))
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"pkcs1":             {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)},
		"pkcs8":             {Type: "PRIVATE KEY", Bytes: pkcs8},
		"sec1":              {Type: "EC PRIVATE KEY", Bytes: sec1},
		"legacy encrypted":  legacy,
		"openssh encrypted": openssh,
	} {
		encrypted := strings.Contains(name, "encrypted")
		text := pem.EncodeToMemory(block)
		key, err := sshfile.ParsePrivateKey(bytes.ReplaceAll(text, []byte("\n"), []byte(" ")), []byte("pw"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wholePEM(t, key)
		if _, err := sshfile.ParsePrivateKey(text, nil); encrypted != errors.Is(err, sshfile.ErrPassphraseNeeded) {
			t.Errorf("%s without passphrase: %v", name, err)
		}
		if _, err := sshfile.ParsePrivateKey(text, []byte("other")); encrypted != errors.Is(err, sshfile.ErrWrongPassphrase) {
			t.Errorf("%s with another passphrase: %v", name, err)
		}
	}
}

func TestKeysRefusedByName(t *testing.T) {
	good := string(read(t, "ssh-04/key.good"))
	lines := strings.Split(good, "\n")
	small, _ := rsa.GenerateKey(rand.Reader, 1024)
	smallPEM := ""
	if small != nil {
		smallPEM = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(small)}))
	}
	body := strings.Join(lines[1:6], "")
	for name, c := range map[string]struct{ in, want string }{
		"public":        {string(read(t, "ssh-04/key.public_by_mistake")), "this is a public key"},
		"public PEM":    {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "this is a public key"},
		"public SSH2":   {"---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n", "this is a public key"},
		"putty":         {"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n", "puttygen"},
		"certificate":   {"ssh-ed25519-cert-v01@openssh.com AAAA x", "certificate"},
		"empty":         {" \n", "empty"},
		"garbage":       {"hunter2", "no private key found"},
		"no end":        {strings.Join(lines[:5], "\n"), "cut off"},
		"line lost":     {strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), "\n"), "damaged"},
		"odd bytes":     {strings.Replace(good, "b3Bl", "b3\u20ac", 1), "not base64"},
		"two":           {good + good, "more than one"},
		"key bits":      {smallPEM, "1024 bits"},
		"half of pair":  {strings.Replace(good, "CcuevCQN", "CcuevCQM", 1), "damaged"},
		"hardware":      {fido(), "hardware token"},
		"pkcs8 locked":  {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----", "passphrase"},
		"mangled frame": {strings.Replace(good, "-----BEGIN", "--BEGIN", 1), "no private key found"},
	} {
		if c.in == "" {
			continue
		}
		_, err := sshfile.ParsePrivateKey([]byte(c.in), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), body[:20]) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error repeats the input: %v", name, err)
		}
	}
}

// fido is the frame of an OpenSSH key file whose public half is a token's.
func fido() string {
	type header struct {
		Cipher, KDF, Opts string
		N                 uint32
		Pub, Priv         []byte
	}
	pub := ssh.Marshal(struct {
		Type string
		Key  []byte
		App  string
	}{"sk-ssh-ed25519@openssh.com", make([]byte, 32), "ssh:"})
	priv := ssh.Marshal(struct {
		A, B uint32
		Type string
		Pad  [16]byte
	}{7, 7, "sk-ssh-ed25519@openssh.com", [16]byte{}})
	raw := append([]byte("openssh-key-v1\x00"), ssh.Marshal(header{"none", "none", "", 1, pub, priv})...)
	return string(pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: raw}))
}

func FuzzParsePrivateKey(f *testing.F) {
	files, _ := filepath.Glob("testdata/ssh-04/key.*")
	if len(files) == 0 {
		f.Fatal("no seeds")
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "")
	}
	f.Fuzz(func(t *testing.T, b []byte, pass string) {
		before := bytes.Clone(b)
		key, err := sshfile.ParsePrivateKey(b, []byte(pass))
		if !bytes.Equal(b, before) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one sentence: %q", err)
			}
			return
		}
		wholePEM(t, key)
		again := sshfile.PrivateKey{}
		key.PEM.Use(func(p []byte) (err error) { again, err = sshfile.ParsePrivateKey(p, nil); return err })
		if again.Fingerprint != key.Fingerprint || len(again.Mended) != 0 {
			t.Fatalf("the normal form is not stable: %+v, then %+v", key, again)
		}
	})
}
