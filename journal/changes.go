package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// RecordChange records something that the operator did: Action, By, Detail,
// Generation and MAC of c. The journal gives its Time.
func (j *Journal) RecordChange(ctx context.Context, c Change) error {
	if c.Action == "" || c.Generation > maxInt {
		return fmt.Errorf("change entry: %w: no action, or a generation out of range", ErrInvalid)
	}
	if err := validJSON(c.Detail); err != nil {
		return fmt.Errorf("change entry: detail: %w", err)
	}
	e := &entry{needs: roomHalf, body: body{Kind: kindChange,
		Change: &changeBody{Action: c.Action, Generation: c.Generation, MAC: c.MAC}}}
	e.texts.add(fieldBy, c.By)
	e.texts.add(fieldDetail, jsonText(c.Detail))
	_, err := j.append(ctx, e)
	return err
}

// RecordGeneration records a generation of the vault with its MAC, so that an
// older vault can be told. Detail is any text.
func (j *Journal) RecordGeneration(ctx context.Context, generation uint64, mac, detail string) error {
	if generation == 0 || generation > maxInt || mac == "" {
		return fmt.Errorf("vault.generation entry: %w: generation %d", ErrInvalid, generation)
	}
	e := &entry{needs: roomHalf, body: body{Kind: kindGeneration,
		Change: &changeBody{Generation: generation, MAC: mac}}}
	e.texts.add(fieldDetail, detail)
	_, err := j.append(ctx, e)
	return err
}

// LastGeneration returns the generation that was recorded last, or 0 and "".
func (j *Journal) LastGeneration(ctx context.Context) (generation uint64, mac string, err error) {
	var raw []byte
	err = j.reads.QueryRowContext(ctx, `SELECT body FROM entries INDEXED BY entries_other
  WHERE of IS NULL AND kind = 'vault.generation' ORDER BY seq DESC LIMIT 1`).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", storeError("reading the vault's generation", err)
	}
	b, _, err := decodeBody(raw)
	if err != nil {
		return 0, "", fmt.Errorf("the vault's generation: %w", err)
	}
	if b.Kind != kindGeneration || b.Change == nil {
		return 0, "", fmt.Errorf("the vault's generation: %w: entry %d is none", ErrTampered, b.Seq)
	}
	return b.Change.Generation, b.Change.MAC, nil
}
