package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"executor/internal/mask"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/internal/sshfile"

	"golang.org/x/term"
)

// maxSecret bounds what is read as a secret.
const maxSecret = 64 << 10

// readSecret reads a credential's secret from a file, from standard input where
// that is not a terminal, or from a hidden prompt, and checks that it can be used
// as what it is said to be.
func (a *app) readSecret(meta *policy.Credential, fromFile string) (*secret.Secret, error) {
	raw, err := a.rawSecret(meta.Type, fromFile)
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	switch meta.Type {
	case policy.SSHKey:
		return a.privateKey(raw)
	case policy.MTLS:
		if _, err := policy.ClientCertificate(meta.Cert, raw); err != nil {
			return nil, err
		}
		return secret.New(bytes.Clone(raw)), nil
	}
	value := bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
	if err := checkValue(value); err != nil {
		return nil, err
	}
	if meta.Type == policy.Cookie && bytes.ContainsAny(value, "; ,\"\\") {
		return nil, errors.New("the secret holds a character that no cookie can: one of ; , \" \\ or a space (RFC 6265, section 4.1.1)")
	}
	if len(value) < len(raw) {
		fmt.Fprintln(a.Err, "note: one line break at the end of the secret was dropped")
	}
	s := secret.New(bytes.Clone(value))
	if !mask.Strong(s) {
		fmt.Fprintln(a.Err, "warning: the secret has less than 16 bytes, or less than 10 different ones: it cannot be masked, and a result that holds it is withheld; see: executor help credentials")
	}
	return s, nil
}

// errNoKeyFile: nobody types a private key.
var errNoKeyFile = usagef("a private key is read from a file: --from-file FILE, or < FILE")

// checkSources refuses a secret that could not be read, and one that is to come
// from the same input as the passphrase, before anything is asked.
func (a *app) checkSources(kind string, p *passphraseFlags, fromFile string) error {
	if kind == policy.SSHKey && fromFile == "" && isTerminal(a.In) {
		return errNoKeyFile
	}
	if fromFile != "" || !p.given() || isTerminal(a.In) {
		return nil
	}
	path := p.file
	if path == "" {
		path = "/dev/fd/" + p.fd
	}
	pass, passErr := os.Stat(path)
	in, inErr := a.In.Stat()
	if passErr == nil && inErr == nil && os.SameFile(pass, in) {
		return usagef("the secret and the passphrase cannot both be read from standard input; give one of them with --from-file or --passphrase-file")
	}
	return nil
}

func (a *app) rawSecret(kind, fromFile string) ([]byte, error) {
	if fromFile != "" {
		f, err := os.Open(fromFile)
		if err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		defer f.Close()
		return readBounded(f)
	}
	if a.In != nil && !term.IsTerminal(int(a.In.Fd())) {
		return readBounded(a.In)
	}
	if kind == policy.SSHKey || kind == policy.MTLS {
		return nil, errNoKeyFile
	}
	s, err := a.askHidden("Secret (not shown): ", "give the secret with --from-file FILE or on standard input")
	if err != nil {
		return nil, err
	}
	defer s.Wipe()
	var out []byte
	err = s.Use(func(b []byte) error { out = bytes.Clone(b); return nil })
	return out, err
}

func readBounded(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSecret+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("secret: %w", err)
	case len(b) > maxSecret:
		clear(b)
		return nil, fmt.Errorf("the secret has more than %d bytes", maxSecret)
	case len(b) == 0:
		return nil, errors.New("the secret is empty; give it on standard input, with --from-file, or at the prompt")
	}
	return b, nil
}

// checkValue refuses a secret that could not be sent as it is.
func checkValue(v []byte) error {
	switch {
	case len(v) == 0:
		return errors.New("the secret is empty")
	case bytes.ContainsFunc(v, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return errors.New("the secret holds a line break or another control character, which cannot be sent; was a file of another kind meant?")
	case len(bytes.TrimSpace(v)) < len(v):
		return errors.New("the secret begins or ends with a space; remove it")
	}
	return nil
}

// privateKey mends a key that was pasted or refuses it, now and not when it is
// used. The passphrase of an encrypted key is asked for and not kept.
func (a *app) privateKey(raw []byte) (*secret.Secret, error) {
	key, err := sshfile.ParsePrivateKey(raw, nil)
	if errors.Is(err, sshfile.ErrPassphraseNeeded) {
		pass, askErr := a.askHidden("Passphrase of the key (it is removed on import): ", "give the key without its passphrase")
		if askErr != nil {
			return nil, fmt.Errorf("%w; %w", err, askErr)
		}
		defer pass.Wipe()
		err = pass.Use(func(p []byte) (err error) { key, err = sshfile.ParsePrivateKey(raw, p); return err })
	}
	if err != nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(key.PublicKey, " ")
	fmt.Fprintf(a.Err, "key: %s %s\n", kind, key.Fingerprint)
	if len(key.Mended) > 0 {
		fmt.Fprintf(a.Err, "note: mended in the pasted text: %s\n", strings.Join(key.Mended, ", "))
	}
	return key.PEM, nil
}
