package vault

import (
	"context"
	"crypto/hmac"
	"fmt"
)

// judge decides by the ledger if a vault that decrypts, and whose MAC holds, is
// the newest one. It returns whether this generation has still to be recorded:
// a writer died between the rename and the entry. One generation is the most
// that can be missing, because no writer goes on before the last is on record.
func judge(ctx context.Context, c *contents, ledger Ledger) (unrecorded bool, err error) {
	last, mac, err := ledger.LastGeneration(ctx)
	if err != nil {
		return false, fmt.Errorf("ask the journal for the vault's generation: %w", err)
	}
	switch {
	case c.generation < last:
		return false, fmt.Errorf("it is generation %d, the journal knows %d: %w", c.generation, last, ErrRolledBack)
	case c.generation > last+1:
		return false, fmt.Errorf("the vault is generation %d, the journal knows %d: %w", c.generation, last, ErrJournalRolledBack)
	case c.generation == last && !hmac.Equal([]byte(c.mac), []byte(mac)):
		return false, fmt.Errorf("another vault was recorded as generation %d: %w", last, ErrForged)
	}
	if err := ledger.Extends(ctx, c.head.size, c.head.root); err != nil {
		return false, fmt.Errorf("the vault pinned %d entries: %w: %w", c.head.size, ErrJournalRolledBack, err)
	}
	return c.generation == last+1, nil
}

// follows checks a vault that was read again against the one that this process
// has seen, which no one can roll back.
func (c *contents) follows(seen *contents) error {
	if c.generation < seen.generation {
		return fmt.Errorf("it is generation %d, this process has read %d: %w", c.generation, seen.generation, ErrRolledBack)
	}
	if c.generation == seen.generation && c.mac != seen.mac {
		return fmt.Errorf("another vault was read as generation %d: %w", c.generation, ErrForged)
	}
	return nil
}

// pin takes the ledger's head into the vault that is about to be written.
func (c *contents) pin(ctx context.Context, ledger Ledger) error {
	size, root, err := ledger.Head(ctx)
	if err != nil {
		return fmt.Errorf("ask the journal for its head: %w", err)
	}
	c.head = head{size, root}
	return nil
}
