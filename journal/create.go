package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Create makes a journal in cfg.Dir: journal.db, journal.pub and journal.pin,
// each with mode 0600. The log begins with one entry, the change
// "journal.create", so that it is signed and pinned from the start. It refuses
// with ErrExists where any of them is there already, and never overwrites. If
// it fails it removes what it made.
func Create(ctx context.Context, cfg Config) (err error) {
	if err := cfg.check(); err != nil {
		return err
	}
	if err := checkDir(cfg.Dir); err != nil {
		return err
	}
	s, err := newSigner(cfg.Key)
	if err != nil {
		return err
	}
	defer s.wipe()
	var made []string
	defer func() {
		for _, path := range made {
			if err != nil {
				err = errors.Join(err, removeFile(path))
			}
		}
	}()
	for _, f := range []struct {
		path    string
		content []byte
	}{
		{dbPath(cfg.Dir), nil},
		{pubPath(cfg.Dir), []byte(s.vkey + "\n")},
		{pinPath(cfg.Dir), formatPin(checkpoint{root: (&subtrees{}).root()})},
	} {
		if err := createFile(f.path, f.content); err != nil {
			return err
		}
		made = append(made, f.path)
	}
	if err := createTables(ctx, dbPath(cfg.Dir)); err != nil {
		return err
	}
	if err := firstEntry(ctx, cfg); err != nil {
		return err
	}
	return syncDir(cfg.Dir)
}

func createFile(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", ErrExists, path)
	}
	if err != nil {
		return fmt.Errorf("creating the journal: %w", err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("creating the journal: %w", err), removeFile(path))
	}
	return nil
}

// firstEntry writes the entry that Open requires, through the usual path.
func firstEntry(ctx context.Context, cfg Config) (err error) {
	j := newJournal(cfg)
	defer func() { err = errors.Join(err, j.Close()) }()
	if j.signer, err = newSigner(cfg.Key); err != nil {
		return err
	}
	if err := j.connect(ctx); err != nil {
		return err
	}
	j.creating = true
	return j.RecordChange(ctx, Change{Action: "journal.create"})
}

func createTables(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", writeDSN(path))
	if err != nil {
		return fmt.Errorf("creating the journal: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("creating the journal: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	statements := []string{
		fmt.Sprintf("PRAGMA application_id=%d", applicationID),
		fmt.Sprintf("PRAGMA user_version=%d", formatVersion),
	}
	for _, x := range schema {
		statements = append(statements, x.sql)
	}
	for _, sql := range statements {
		if _, err := tx.ExecContext(ctx, sql); err != nil {
			return fmt.Errorf("creating the journal: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("creating the journal: %w", err)
	}
	return nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("creating the journal: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
