package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"modernc.org/sqlite"
)

// A store is one connection to the database, without the pool and the
// conversions of database/sql: an append is dear enough. It is for one user at
// a time; whoever opened it closes it.
type store struct {
	conn       driver.Conn
	statements []driver.Stmt
}

// A statement is prepared once and run many times.
type statement struct {
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
}

// openStore opens a connection. SQLite syncs with fdatasync(2) from then on, as
// every Linux distribution builds it: the same durability, without a commit of
// the file system for a timestamp.
func openStore(dsn string) (*store, error) {
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, storeError("opening the journal", err)
	}
	conn, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, storeError("opening the journal", err)
	}
	return &store{conn: conn}, nil
}

// prepare makes a statement, which the store closes.
func (s *store) prepare(query string) (*statement, error) {
	stmt, err := s.conn.Prepare(query)
	if err != nil {
		return nil, storeError("opening the journal", err)
	}
	s.statements = append(s.statements, stmt)
	exec, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return nil, fmt.Errorf("%w: the SQLite driver cannot run statements", ErrUnavailable)
	}
	rows, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, fmt.Errorf("%w: the SQLite driver cannot run queries", ErrUnavailable)
	}
	return &statement{exec, rows}, nil
}

func (s *store) close() error {
	var errs []error
	for _, stmt := range s.statements {
		errs = append(errs, stmt.Close()) // an open one would keep SQLite from closing
	}
	return errors.Join(append(errs, s.conn.Close())...)
}

// once runs a statement that is not kept, and returns its first value, if any.
func (s *store) once(ctx context.Context, query string) (v driver.Value, err error) {
	stmt, err := s.prepare(query)
	if err != nil {
		return nil, err
	}
	err = stmt.each(ctx, nil, func(row []driver.Value) error {
		if v == nil {
			v = row[0]
		}
		return nil
	})
	last := len(s.statements) - 1
	err = errors.Join(err, s.statements[last].Close())
	s.statements = s.statements[:last]
	return v, err
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, v := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// run executes a statement that gives no rows.
func (s *statement) run(ctx context.Context, args ...driver.Value) error {
	_, err := s.exec.ExecContext(ctx, named(args))
	return err
}

// each gives every row to fn, which must not keep the slice; the values are its own.
func (s *statement) each(ctx context.Context, args []driver.Value, fn func(row []driver.Value) error) (err error) {
	rows, err := s.query.QueryContext(ctx, named(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// ints runs a query of one row of whole numbers.
func (s *statement) ints(ctx context.Context, args []driver.Value, out ...*int64) error {
	return s.each(ctx, args, func(row []driver.Value) error {
		for i, p := range out {
			*p, _ = row[i].(int64)
		}
		return nil
	})
}

// blob binds nothing as NULL.
func blob(b []byte) driver.Value {
	if b == nil {
		return nil
	}
	return b
}
