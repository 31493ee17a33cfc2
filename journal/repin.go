package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Repin makes a new pin where journal.pin is missing or cannot be read, without
// which Open refuses. It first verifies the whole log against cfg.Key and the
// heads, of which one must come from elsewhere (the vault's): with the pin the
// knowledge is lost of how long the log was beyond them. What it did becomes an
// entry, "journal.repin". A pin that can be read is left alone, whatever it says:
// then ErrInvalid. ErrTampered: the log is not sound. No other process may have
// the journal open.
func Repin(ctx context.Context, cfg Config, heads []Head) (Report, error) {
	if err := cfg.check(); err != nil {
		return Report{}, err
	}
	if _, err := os.Lstat(dbPath(cfg.Dir)); err != nil {
		return Report{}, fmt.Errorf("new pin: %w: %v", ErrMissing, err)
	}
	if len(heads) == 0 {
		return Report{}, fmt.Errorf("new pin: %w: no head from elsewhere to compare with", ErrInvalid)
	}
	vkey, err := VerifierKey(cfg.Key)
	if err != nil {
		return Report{}, err
	}
	report, err := Verify(ctx, cfg.Dir, VerifyOptions{Key: vkey, KeyFrom: "the vault", Heads: heads})
	if err != nil {
		return report, err
	}
	switch {
	case report.Pinned >= 0:
		return report, fmt.Errorf("new pin: %w: %s can be read", ErrInvalid, pinFile)
	case report.Verdict != VerdictCannotSay || len(report.Findings) != 1:
		return report, fmt.Errorf("new pin: %w: the log is not sound: %s", ErrTampered, report.Findings[0].What)
	}
	if err := writePin(cfg.Dir, heads[0]); err != nil {
		return report, err
	}
	j, err := Open(ctx, cfg)
	if err != nil {
		return report, err
	}
	detail, err := json.Marshal(map[string]int64{"entries": report.Size, "known": heads[0].Size})
	if err == nil {
		err = j.RecordChange(ctx, Change{Action: "journal.repin", By: "operator", Detail: detail})
	}
	return report, errors.Join(err, j.Close())
}

// writePin puts a pin of h in place. Open brings it forward.
func writePin(dir string, h Head) error {
	next := pinPath(dir) + ".new"
	if err := removeFile(next); err != nil {
		return fmt.Errorf("new pin: %w", err)
	}
	if err := createFile(next, formatPin(checkpoint{h.Size, h.Root})); err != nil {
		return err
	}
	if err := os.Rename(next, pinPath(dir)); err != nil {
		return errors.Join(fmt.Errorf("new pin: %w", err), removeFile(next))
	}
	return syncDir(dir)
}
