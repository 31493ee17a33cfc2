package vault

import (
	"context"
	"errors"
	"fmt"
)

// Init writes the first generation, without items, for the keys that Create
// made. It refuses with ErrExists when there is a vault, and with ErrMissing
// when the ledger knows that there was one. After a crash between Create and
// Init it may be called with the keys of OpenIdentity.
func Init(ctx context.Context, cfg Config, keys *Keys, ledger Ledger) error {
	lock, err := takeLock(ctx, cfg)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := refuseExisting(cfg.path(VaultFile)); err != nil {
		return err
	}
	last, _, err := ledger.LastGeneration(ctx)
	if err != nil {
		return fmt.Errorf("ask the journal for the vault's generation: %w", err)
	}
	if last != 0 {
		return missing(last)
	}
	return store(ctx, cfg, keys, ledger, &contents{}, "init")
}

func missing(last uint64) error {
	return fmt.Errorf("%s is %w: the journal knows generation %d of it", VaultFile, ErrMissing, last)
}

// Open reads the vault and checks it against the ledger. It refuses with
// ErrMissing, ErrDamaged, ErrForged, ErrRolledBack, ErrJournalRolledBack,
// ErrUnknownKind, ErrModes, ErrBusy, ErrLocked (keys that were wiped), or an
// error of the ledger; then nothing is loaded and nothing written. A generation
// whose writer died before it was recorded is recorded now.
//
// The Vault shares keys with the caller: Lock and Close wipe their opener.
func Open(ctx context.Context, cfg Config, keys *Keys, ledger Ledger) (*Vault, error) {
	v := &Vault{cfg: cfg, keys: keys, ledger: ledger, now: &contents{}}
	if err := v.Reload(ctx); err != nil {
		return nil, err
	}
	return v, nil
}

// Reload reads the vault again after another process may have written it, with
// the checks and errors of Open. On an error what was loaded before stays.
func (v *Vault) Reload(ctx context.Context) error {
	lock, err := takeLock(ctx, v.cfg)
	if err != nil {
		return err
	}
	defer lock.release()
	next, err := v.read(ctx)
	if err != nil {
		return err
	}
	return v.adopt(next)
}

// read loads the newest generation; the caller holds the file lock.
func (v *Vault) read(ctx context.Context) (*contents, error) {
	seen, err := v.contents()
	if err != nil {
		return nil, err
	}
	next, err := load(ctx, v.cfg, v.keys, v.ledger, seen)
	if err != nil {
		return nil, fmt.Errorf("open the vault: %w", err)
	}
	return next, nil
}

func load(ctx context.Context, cfg Config, keys *Keys, ledger Ledger, seen *contents) (*contents, error) {
	if err := checkModes(cfg.Dir, ownFiles); err != nil {
		return nil, err
	}
	c, err := decode(cfg, keys)
	if errors.Is(err, ErrMissing) {
		if last, _, err := ledger.LastGeneration(ctx); err == nil && last > 0 {
			return nil, missing(last)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := admit(ctx, cfg, ledger, c, seen); err != nil {
		c.wipe()
		return nil, err
	}
	return c, nil
}

func decode(cfg Config, keys *Keys) (*contents, error) {
	sealed, err := readFile(cfg.Dir, VaultFile)
	if err != nil {
		return nil, err
	}
	id, err := keys.ageIdentity()
	if err != nil {
		return nil, err
	}
	plain, err := decrypt(sealed, id)
	if errors.Is(err, errOtherRecipient) {
		return nil, fmt.Errorf("%s is %w: %w", VaultFile, err, ErrDamaged)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is %w", VaultFile, err)
	}
	defer clear(plain)
	c, err := decodeDocument(plain, keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", VaultFile, err)
	}
	return c, nil
}

// admit makes every check that is left before it writes its one entry.
func admit(ctx context.Context, cfg Config, ledger Ledger, c, seen *contents) error {
	if err := c.follows(seen); err != nil {
		return err
	}
	unrecorded, err := judge(ctx, c, ledger)
	if err != nil {
		return err
	}
	if kind, unknown := c.unknownKind(cfg); unknown {
		return fmt.Errorf("%w: %q was stored by another version of this program, and nothing is loaded beside it", ErrUnknownKind, kind)
	}
	if !unrecorded {
		return nil
	}
	if err := ledger.RecordGeneration(ctx, c.generation, c.mac, "recorded after an interrupted write"); err != nil {
		return fmt.Errorf("generation %d: %w: %w", c.generation, ErrNotRecorded, err)
	}
	return nil
}
