package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"executor/internal/secret"

	"github.com/spf13/cobra"
)

// maxPassphrase bounds what is read as a passphrase.
const maxPassphrase = 4096

// passphraseFlags say where the passphrase comes from: a terminal unless a file
// or a descriptor is named.
type passphraseFlags struct {
	file string
	fd   string
}

func (p *passphraseFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "passphrase-file", "", "read the vault's passphrase from the first line of `FILE`")
	cmd.Flags().StringVar(&p.fd, "passphrase-fd", "", "read the vault's passphrase from the open descriptor `N`")
}

// given reports whether the passphrase comes from somewhere else than a terminal.
func (p *passphraseFlags) given() bool { return p.file != "" || p.fd != "" }

// passphrase reads the vault's passphrase.
func (a *app) passphrase(p *passphraseFlags) (*secret.Secret, error) {
	if p.given() {
		return p.read()
	}
	return a.askHidden("Passphrase of the vault: ", noPassphrase)
}

const noPassphrase = "give the passphrase with --passphrase-file FILE or --passphrase-fd N"

// newPassphrase reads a passphrase for a new vault, twice where it is typed.
func (a *app) newPassphrase(p *passphraseFlags) (*secret.Secret, error) {
	if p.given() {
		return p.read()
	}
	first, err := a.askHidden("Choose a passphrase for the vault: ", noPassphrase)
	if err != nil {
		return nil, err
	}
	again, err := a.askHidden("The same again: ", noPassphrase)
	if err != nil {
		first.Wipe()
		return nil, err
	}
	defer again.Wipe()
	if !same(first, again) {
		first.Wipe()
		return nil, errors.New("the two passphrases differ; nothing was changed")
	}
	return first, nil
}

func same(x, y *secret.Secret) (equal bool) {
	x.Use(func(a []byte) error {
		return y.Use(func(b []byte) error { equal = bytes.Equal(a, b); return nil })
	})
	return equal
}

// open opens the file or descriptor that the flags name.
func (p *passphraseFlags) open() (*os.File, error) {
	switch {
	case p.file != "" && p.fd != "":
		return nil, usagef("--passphrase-file and --passphrase-fd exclude each other")
	case p.file != "":
		f, err := os.Open(p.file)
		if err != nil {
			return nil, fmt.Errorf("passphrase: %w", err)
		}
		return f, nil
	}
	n, err := strconv.ParseUint(p.fd, 10, 16)
	if err != nil {
		return nil, usagef("--passphrase-fd %s: the number of an open descriptor is due", p.fd)
	}
	f := os.NewFile(uintptr(n), "--passphrase-fd "+p.fd)
	if _, err := f.Stat(); err != nil {
		return nil, usagef("--passphrase-fd %s: the descriptor is not open", p.fd)
	}
	return f, nil
}

func (p *passphraseFlags) read() (*secret.Secret, error) {
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPassphrase+1))
	if err != nil {
		return nil, fmt.Errorf("passphrase: %w", err)
	}
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	switch {
	case len(line) == 0:
		clear(raw)
		return nil, fmt.Errorf("the passphrase is empty: %s begins with an empty line or holds nothing", f.Name())
	case len(line) > maxPassphrase:
		clear(raw)
		return nil, fmt.Errorf("the passphrase has more than %d bytes", maxPassphrase)
	}
	out := secret.New(bytes.Clone(line))
	clear(raw)
	return out, nil
}
