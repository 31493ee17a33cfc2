package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"executor/internal/action"
	"executor/internal/ctl"
	"executor/internal/daemon"
	"executor/vault"
)

// homeDir is the directory that --home, EXECUTOR_HOME or the default names.
func (a *app) homeDir() (string, error) {
	dir := a.home
	if dir == "" {
		dir = a.Getenv("EXECUTOR_HOME")
	}
	if dir == "" {
		user := a.Getenv("HOME")
		if user == "" {
			return "", usagef("no home directory: HOME is not set; name one with --home DIR")
		}
		dir = filepath.Join(user, ".local", "share", "executor")
	}
	return filepath.Abs(dir)
}

// homeFlag is the --home flag as it was given, quoted, for commands to type.
func (a *app) homeFlag() string { return dirFlag("home", a.home) }

// storeFlags are --home and --store as they were given, for contract commands to type.
func (a *app) storeFlags() string { return a.homeFlag() + dirFlag("store", a.store) }

func dirFlag(name, dir string) string {
	if dir == "" {
		return ""
	}
	quoted, err := action.QuotePOSIX([]string{dir})
	if err != nil {
		quoted = "DIR"
	}
	return " --" + name + " " + quoted
}

// openHome opens the home with the operator's passphrase.
func (a *app) openHome(ctx context.Context, p *passphraseFlags) (*daemon.Home, error) {
	dir, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "identity.age")); err != nil {
		return nil, missingHome(dir, err)
	}
	pass, err := a.passphrase(p)
	if err != nil {
		return nil, err
	}
	defer pass.Wipe()
	return daemon.OpenHome(ctx, dir, pass)
}

// read opens the home and lets fn look.
func (a *app) read(ctx context.Context, p *passphraseFlags, fn func(*daemon.Home) error) (err error) {
	h, err := a.openHome(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return fn(h)
}

// edit opens the home, lets fn change it, and tells a running serve.
func (a *app) edit(ctx context.Context, p *passphraseFlags, fn func(*daemon.Home) error) (err error) {
	return a.read(ctx, p, func(h *daemon.Home) error {
		if err := fn(h); err != nil {
			return err
		}
		return a.nudge(ctx, h.Dir)
	})
}

// nudge makes a running serve read the vault again. No serve is no error.
func (a *app) nudge(ctx context.Context, dir string) error {
	c := &ctl.Client{Path: filepath.Join(dir, daemon.OperatorSocket)}
	if daemon.CheckSocketPath(c.Path) != nil {
		return nil // no serve can listen there
	}
	err := c.Reload(ctx)
	if err != nil && !errors.Is(err, ctl.ErrNoDaemon) {
		return fmt.Errorf("the change is stored, but the running serve could not read it: %w", err)
	}
	return nil
}

// missingHome says what is not there.
func missingHome(dir string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s holds no vault: %w", dir, vault.ErrMissing)
	}
	return err
}
