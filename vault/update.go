package vault

import (
	"context"
	"fmt"
)

// Update reads the newest generation under the file lock, lets fn edit it, and
// writes and records the result as the next one; detail is what the journal
// says of it and holds no secret. When it returns nil the change is durable and
// is what this Vault now holds. When fn returns an error, that error comes back
// and nothing is written; when fn changed nothing, nothing is written either.
// fn must not call the Vault's own Update, Reload or Lock: they wait for it.
//
// It refuses with the errors of Open, and with the error of the file system
// when there is no room or no right to write: then the old vault is as it was.
// With ErrNotRecorded the change is in the file but not yet in the journal.
func (v *Vault) Update(ctx context.Context, detail string, fn func(*Edit) error) error {
	lock, err := takeLock(ctx, v.cfg)
	if err != nil {
		return err
	}
	defer lock.release()
	next, err := v.read(ctx)
	if err != nil {
		return err
	}
	edit := &Edit{cfg: v.cfg, contents: next}
	if err := fn(edit); err != nil {
		next.wipe()
		return err
	}
	if !edit.changed {
		return v.adopt(next)
	}
	return v.write(ctx, next, detail)
}

// write stores next and adopts it once the file holds it, recorded or not.
func (v *Vault) write(ctx context.Context, next *contents, detail string) error {
	err := store(ctx, v.cfg, v.keys, v.ledger, next, detail)
	if next.mac == "" {
		next.wipe()
		return err
	}
	// It fails only for a vault that was closed in the meantime, and what is
	// stored is stored.
	v.adopt(next)
	return err
}

// store writes c as the generation after its own and records it; the caller
// holds the file lock. c has a MAC afterwards if, and only if, the file holds it.
func store(ctx context.Context, cfg Config, keys *Keys, ledger Ledger, c *contents, detail string) error {
	c.generation++
	c.mac = ""
	if err := c.pin(ctx, ledger); err != nil {
		return err
	}
	sealed, mac, err := seal(c, keys)
	if err != nil {
		return err
	}
	if err := replaceFile(cfg.Dir, VaultFile, sealed); err != nil {
		return fmt.Errorf("write %s: %w", VaultFile, err)
	}
	c.mac = mac
	if err := ledger.RecordGeneration(ctx, c.generation, mac, detail); err != nil {
		return fmt.Errorf("generation %d: %w: %w", c.generation, ErrNotRecorded, err)
	}
	return nil
}

func seal(c *contents, keys *Keys) (sealed []byte, mac string, err error) {
	id, err := keys.ageIdentity()
	if err != nil {
		return nil, "", err
	}
	plain, mac, err := encodeDocument(c, keys)
	if err != nil {
		return nil, "", err
	}
	defer clear(plain)
	sealed, err = encrypt(plain, id.Recipient())
	if len(sealed) > maxFile { // Open would not read it
		return nil, "", fmt.Errorf("the vault would be %d bytes, %d is the most", len(sealed), maxFile)
	}
	return sealed, mac, err
}

// Lock pins the journal's head in a new generation, then wipes all secrets and
// the opener of the Keys; their journal and console keys stay. It wipes also
// when the pin could not be written, and returns why. It may be called twice.
// A locked Vault stays locked: to unlock, Open another with new Keys.
func (v *Vault) Lock(ctx context.Context) error {
	if v.Locked() {
		return nil
	}
	defer v.Close()
	err := v.Update(ctx, "lock", func(e *Edit) error {
		e.changed = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("pin the journal at lock: %w", err)
	}
	return nil
}

// Close wipes all secrets and the opener of the Keys and writes nothing. It may
// be called twice.
func (v *Vault) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys.wipeOpener()
	if v.now != nil {
		v.now.wipe()
		v.now = nil
	}
}
