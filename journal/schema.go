package journal

import "net/url"

// formatVersion is PRAGMA user_version, applicationID PRAGMA application_id ("exjl").
const (
	formatVersion = 2
	applicationID = 0x65786a6c
)

// schema is all that the database may hold: Verify compares sqlite_schema with
// it word for word, so that no view, trigger or index can stand between the
// rows and their reader.
var schema = [...]struct{ kind, name, table, sql string }{
	{"table", "entries", "entries", `CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  latest INTEGER NOT NULL,
  behind INTEGER NOT NULL,
  kind TEXT NOT NULL,
  activity_id TEXT,
  session_id TEXT,
  of INTEGER,
  tool TEXT,
  revision INTEGER,
  decision TEXT,
  status TEXT,
  count INTEGER,
  hashes BLOB NOT NULL,
  note BLOB,
  body BLOB NOT NULL
) STRICT`},
	{"table", "texts", "texts", `CREATE TABLE texts (
  seq INTEGER PRIMARY KEY,
  action_digest BLOB,
  downstream_target BLOB,
  credential BLOB,
  client_name BLOB,
  tool BLOB,
  rest BLOB NOT NULL
) STRICT`},
	{"table", "lookups", "lookups", `CREATE TABLE lookups (
  field INTEGER NOT NULL,
  value BLOB NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (field, value, seq)
) STRICT, WITHOUT ROWID`},
	{"table", "calls", "calls", `CREATE TABLE calls (
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  status TEXT,
  count INTEGER,
  PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID`},
	{"index", "entries_activity", "entries", `CREATE UNIQUE INDEX entries_activity ON entries (activity_id, kind) WHERE activity_id IS NOT NULL`},
	{"index", "entries_session", "entries", `CREATE INDEX entries_session ON entries (session_id, kind) WHERE of IS NULL AND session_id IS NOT NULL`},
	{"index", "entries_decision", "entries", `CREATE INDEX entries_decision ON entries (decision) WHERE decision <> 'allowed'`},
	{"index", "entries_status", "entries", `CREATE INDEX entries_status ON entries (status, of) WHERE status <> 'ok'`},
	{"index", "entries_other", "entries", `CREATE INDEX entries_other ON entries (kind) WHERE of IS NULL`},
	{"index", "texts_client", "texts", `CREATE INDEX texts_client ON texts (client_name) WHERE client_name IS NOT NULL`},
	{"index", "texts_tool", "texts", `CREATE INDEX texts_tool ON texts (tool) WHERE tool IS NOT NULL`},
}

// writeDSN opens path for appending. Pragmas go through the DSN because each
// pooled connection needs them. The driver runs them in the order of the
// alphabet, but journal_mode by its own key comes last: page_size must precede it.
func writeDSN(path string) string {
	return dsn(path, url.Values{"mode": {"rw"}, "_journal_mode": {"WAL"}},
		"page_size(4096)",
		"synchronous(FULL)",
		"wal_autocheckpoint(2000)",
		"journal_size_limit(67108864)",
		"secure_delete(ON)",
		"temp_store(MEMORY)",
		"foreign_keys(ON)",
	)
}

// readDSN opens path for queries.
func readDSN(path string) string {
	return dsn(path, url.Values{"mode": {"ro"}}, "query_only(ON)", "cell_size_check(ON)")
}

// viewDSN opens path for the views of SQL, which must be made before query_only.
func viewDSN(path string) string { return dsn(path, url.Values{"mode": {"ro"}}, "cell_size_check(ON)") }

func dsn(path string, q url.Values, pragmas ...string) string {
	q["_pragma"] = append([]string{"busy_timeout(10000)", "trusted_schema(OFF)"}, pragmas...)
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}
