package cli

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"executor/journal"

	"github.com/spf13/cobra"
)

func (a *app) journalSQL() *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "sql SELECT",
		Short: "Ask the journal in SQL, read-only",
		Long: `Run one SELECT of SQLite over two views, whose columns are in "executor help
journal": activity, a row for each call, and sessions, a row for each session.
Nothing can be changed, and no other file reached.`,
		Example: `  executor journal sql "SELECT tool, count(*) FROM activity GROUP BY tool"
  executor journal sql "SELECT client, calls FROM sessions" -o csv
  executor journal sql "SELECT raw_args->>'url' FROM activity" -o jsonl`,
		Args: func(cmd *cobra.Command, args []string) error { return oneArg(cmd, args, "SELECT, quoted,") },
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.sql(cmd.Context(), args[0], out)
		},
	}
	out.register(cmd)
	return cmd
}

// A sqlRow is one row, with its values under the names of the columns.
type sqlRow struct {
	names  []string
	values []driver.Value
}

// MarshalJSON keeps the order of the columns.
func (r sqlRow) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range r.names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(plainValue(r.values[i]))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plainValue shows bytes as text where they are some, else in base64.
func plainValue(v driver.Value) any {
	b, ok := v.([]byte)
	switch {
	case !ok:
		return v
	case utf8.Valid(b):
		return string(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// sql reads all rows before it writes one, so that a slow reader of its output
// does not hold the journal's old pages.
func (a *app) sql(ctx context.Context, query string, out outputFlags) (err error) {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var names []string
	var rows []sqlRow
	err = r.SQL(ctx, query, func(columns []string, row []driver.Value) error {
		if names = columns; row != nil {
			rows = append(rows, sqlRow{columns, append([]driver.Value{}, row...)})
		}
		return nil
	})
	if errors.Is(err, journal.ErrInvalid) {
		return usagef("%v; the views are in: executor help journal", err)
	}
	if err != nil {
		return err
	}
	columns := make([]column[sqlRow], len(names))
	for i, name := range names {
		columns[i] = column[sqlRow]{name, func(r sqlRow) string {
			if r.values[i] == nil {
				return ""
			}
			return fmt.Sprint(plainValue(r.values[i]))
		}}
	}
	return writeListing(a.listing(ctx, false), out, rows, columns)
}
