package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"modernc.org/sqlite"
)

// views are what SQL may name, beside the tables themselves. They exist on the
// connection that asks and nowhere else: the database holds none, so that one
// that is found there was put there.
const views = `
CREATE TEMP VIEW activity AS SELECT
  e.activity_id, e.session_id, e.seq,
  body_value(e.body, 'time') AS time,
  coalesce(e.tool, CAST(t.tool AS TEXT)) AS tool,
  e.revision AS schema_revision,
  body_value(e.body, 'call', 'declared_revision') AS declared_revision,
  body_value(e.body, 'call', 'revision_evidence') AS revision_evidence,
  body_value(e.body, 'call', 'adapter') AS adapter,
  body_value(e.body, 'call', 'contract_digest') AS contract_digest,
  text_value(t.rest, 'raw_args') AS raw_args,
  text_value(t.rest, 'normalized_args') AS normalized_args,
  CAST(t.action_digest AS TEXT) AS action_digest,
  CAST(t.credential AS TEXT) AS credential,
  body_value(e.body, 'call', 'credential_version') AS credential_version,
  nullif(e.decision, '') AS decision,
  body_value(e.body, 'call', 'level') AS level,
  text_value(t.rest, 'by') AS "by",
  text_value(t.rest, 'basis') AS basis,
  text_value(t.rest, 'reason') AS reason,
  CAST(t.downstream_target AS TEXT) AS downstream_target,
  CAST((SELECT c.client_name FROM entries AS s JOIN texts AS c ON c.seq = s.seq
    WHERE s.session_id = e.session_id AND s.of IS NULL AND s.kind = 'session.open' ORDER BY s.seq LIMIT 1) AS TEXT) AS client,
  coalesce(o.status, e.status, 'running') AS status,
  body_value(coalesce(o.body, e.body), 'outcome', 'error_code') AS error_code,
  body_value(coalesce(o.body, e.body), 'outcome', 'side_effect_started') AS side_effect_started,
  body_value(coalesce(o.body, e.body), 'outcome', 'http_status') AS http_status,
  body_value(coalesce(o.body, e.body), 'outcome', 'exit_code') AS exit_code,
  body_value(coalesce(o.body, e.body), 'outcome', 'bytes') AS bytes,
  body_value(coalesce(o.body, e.body), 'outcome', 'redactions') AS redactions,
  body_value(coalesce(o.body, e.body), 'outcome', 'duration_ms') AS duration_ms,
  text_value(d.rest, 'downstream') AS downstream,
  coalesce(e.count, 1) AS count
FROM main.entries AS e
LEFT JOIN main.texts AS t ON t.seq = e.seq
LEFT JOIN main.entries AS o ON o.activity_id = e.activity_id AND o.kind = 'outcome'
LEFT JOIN main.texts AS d ON d.seq = o.seq
WHERE e.kind IN ('intent', 'refused');

CREATE TEMP VIEW sessions AS SELECT
  e.session_id, e.seq,
  body_value(e.body, 'time') AS opened,
  body_value(c.body, 'time') AS closed,
  text_value(r.rest, 'reason') AS close_reason,
  body_value(e.body, 'session', 'transport') AS transport,
  body_value(e.body, 'session', 'same_uid') AS same_uid,
  CAST(t.client_name AS TEXT) AS client,
  text_value(t.rest, 'client_version') AS client_version,
  text_value(t.rest, 'client_protocol') AS protocol,
  text_value(t.rest, 'peer') AS peer,
  (SELECT coalesce(sum(coalesce(a.count, 1)), 0) FROM ` + allCalls + ` AS a
    WHERE a.session_id = e.session_id AND a.kind IN ('intent', 'refused')) AS calls,
  (SELECT coalesce(sum(coalesce(a.count, 1)), 0) FROM ` + allCalls + ` AS a
    WHERE a.session_id = e.session_id AND a.kind = 'refused') AS refused
FROM main.entries AS e
LEFT JOIN main.texts AS t ON t.seq = e.seq
LEFT JOIN main.entries AS c ON c.session_id = e.session_id AND c.of IS NULL AND c.kind = 'session.close'
LEFT JOIN main.texts AS r ON r.seq = c.seq
WHERE e.kind = 'session.open';

PRAGMA query_only = ON;`

// SQL runs one SELECT over the views activity and sessions (their columns are in
// "executor help journal") and the tables, and gives each row to fn, after a call
// with no row that brings the columns' names. A value is nil, an int64, a
// float64, a string or a []byte. Nothing can be changed, and no other file
// reached. ErrInvalid: the query is none, is several, or does more than select. The query
// holds a read of the whole log for as long as it runs.
func (r *Reader) SQL(ctx context.Context, query string, fn func(columns []string, row []driver.Value) error) error {
	if n := statements(query); n != 1 {
		return fmt.Errorf("%w: one SELECT is due, and there are %d", ErrInvalid, n)
	}
	s, err := openViews(ctx, viewDSN(dbPath(r.dir)))
	if err != nil {
		return err
	}
	stmt, err := s.conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %v", ErrInvalid, err), s.close())
	}
	s.statements = append(s.statements, stmt)
	return errors.Join(selectAll(ctx, stmt, fn), s.close())
}

func selectAll(ctx context.Context, stmt driver.Stmt, fn func([]string, []driver.Value) error) (err error) {
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns := rows.Columns()
	if len(columns) == 0 {
		return fmt.Errorf("%w: one SELECT is due", ErrInvalid)
	}
	if err := fn(columns, nil); err != nil {
		return err
	}
	row := make([]driver.Value, len(columns))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("%w: %v", ErrInvalid, err)
		}
		if err := fn(columns, row); err != nil {
			return err
		}
	}
}

// openViews opens a connection with the views, on which nothing but reading is
// allowed any more.
func openViews(ctx context.Context, dsn string) (*store, error) {
	var d sqlite.Driver
	for name, f := range map[string]func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error){
		"text_value": textValue, "body_value": bodyValue,
	} {
		if err := d.RegisterDeterministicScalarFunction(name, -1, f); err != nil {
			return nil, storeError("opening the views", err)
		}
	}
	conn, err := d.Open(dsn)
	if err != nil {
		return nil, storeError("opening the views", err)
	}
	s := &store{conn: conn}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, views, nil); err != nil {
		return nil, errors.Join(storeError("opening the views", err), s.close())
	}
	if err := conn.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(readOnly); err != nil {
		return nil, errors.Join(storeError("opening the views", err), s.close())
	}
	return s, nil
}

// readOnly lets a statement select, and nothing else.
func readOnly(action sqlite.AuthorizerActionCode, _, name, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if name != "load_extension" {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// statements counts the statements of SQL: the driver would run all of them, and
// give the rows of the last.
func statements(sql string) (n int) {
	within := false
	for len(sql) > 0 {
		length, blank := token(sql)
		switch {
		case sql[0] == ';':
			within = false
		case !blank && !within:
			within = true
			n++
		}
		sql = sql[length:]
	}
	return n
}

// token is the length of what SQL begins with: a comment, a quoted text or name,
// or one byte. Spaces and comments are blank. (https://sqlite.org/lang_comment.html)
func token(sql string) (length int, blank bool) {
	through := func(start int, end string) int {
		if i := strings.Index(sql[start:], end); i >= 0 {
			return start + i + len(end)
		}
		return len(sql)
	}
	switch {
	case strings.HasPrefix(sql, "--"):
		return through(2, "\n"), true
	case strings.HasPrefix(sql, "/*"):
		return through(2, "*/"), true
	case strings.IndexByte("'\"`", sql[0]) >= 0:
		return through(1, sql[:1]), false
	case sql[0] == '[':
		return through(1, "]"), false
	}
	return 1, strings.IndexByte(" \t\n\f\r", sql[0]) >= 0
}
