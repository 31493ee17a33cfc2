package journal

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// checkSchema compares the database with what Create made.
func checkSchema(ctx context.Context, q querier) error {
	var app, version int64
	if err := q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return storeError("reading the schema", err)
	}
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return storeError("reading the schema", err)
	}
	if app != applicationID {
		return fmt.Errorf("%w: %s is not a journal", ErrDamaged, dbFile)
	}
	if version != formatVersion {
		return fmt.Errorf("%w: %s has format %d, this program knows %d: another version of executor wrote it", ErrDamaged, dbFile, version, formatVersion)
	}
	rows, err := q.QueryContext(ctx, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY rowid`)
	if err != nil {
		return storeError("reading the schema", err)
	}
	defer rows.Close()
	want := map[string]bool{}
	for _, x := range schema {
		want[x.kind+" "+x.name+" "+x.table+" "+x.sql] = true
	}
	for rows.Next() {
		var kind, name, table, sql string
		if err := rows.Scan(&kind, &name, &table, &sql); err != nil {
			return storeError("reading the schema", err)
		}
		key := kind + " " + name + " " + table + " " + sql
		if !want[key] {
			return fmt.Errorf("%w: the database has a %s %q that does not belong there", ErrTampered, kind, name)
		}
		delete(want, key)
	}
	if err := rows.Err(); err != nil {
		return storeError("reading the schema", err)
	}
	for _, x := range schema {
		if want[x.kind+" "+x.name+" "+x.table+" "+x.sql] {
			return fmt.Errorf("%w: the %s %q is missing", ErrTampered, x.kind, x.name)
		}
	}
	return nil
}

// lastLeafHolds checks the last entry against its leaf hash.
func lastLeafHolds(ctx context.Context, q querier, size int64) error {
	var raw []byte
	if err := q.QueryRowContext(ctx, `SELECT body FROM entries WHERE seq = ?`, size).Scan(&raw); err != nil {
		return storeError("reading the last entry", err)
	}
	hashes, err := readHashes(ctx, q, []int64{tlog.StoredHashIndex(0, size-1)})
	if err != nil {
		return err
	}
	if tlog.RecordHash(raw) != hashes[0] {
		return fmt.Errorf("%w: entry %d is not what was hashed", ErrTampered, size)
	}
	return nil
}
