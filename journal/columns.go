package journal

import (
	"database/sql"
	"database/sql/driver"
	"time"
)

// columns are what an entry's row holds beside its body, so that it can be
// found. Each follows from the body, and latest and behind from the row before:
// Verify computes them again.
//
// Latest is the latest time of any entry so far and behind the furthest that a
// time has been behind it (both in microseconds). Neither ever falls, so a
// range of time becomes a range of seq by two binary searches, exactly, even
// where a clock was set back, and without an index to write.
type columns struct {
	seq, time, latest, behind int64
	kind                      string
	activityID, sessionID     sql.NullString
	of                        sql.NullInt64
	tool                      sql.NullString
	revision                  sql.NullInt64
	decision, status          sql.NullString
	count                     sql.NullInt64
}

const columnNames = `seq, time, latest, behind, kind, activity_id, session_id, of, tool, revision, decision, status, count`

// row returns the columns, and beside them what else an entry's row holds.
func (c *columns) row(hashes, note, body []byte) []driver.Value {
	return []driver.Value{c.seq, c.time, c.latest, c.behind, c.kind, textOrNull(c.activityID), textOrNull(c.sessionID),
		intOrNull(c.of), textOrNull(c.tool), intOrNull(c.revision), textOrNull(c.decision), textOrNull(c.status),
		intOrNull(c.count), hashes, blob(note), body}
}

func textOrNull(s sql.NullString) driver.Value {
	if !s.Valid {
		return nil
	}
	return s.String
}

func intOrNull(n sql.NullInt64) driver.Value {
	if !n.Valid {
		return nil
	}
	return n.Int64
}

// scan reads what columnNames select.
func (c *columns) scan(row []driver.Value) {
	for i, p := range []*int64{&c.seq, &c.time, &c.latest, &c.behind} {
		*p, _ = row[i].(int64)
	}
	c.kind, _ = row[4].(string)
	c.activityID, c.sessionID, c.of, c.tool = asString(row[5]), asString(row[6]), asInt(row[7]), asString(row[8])
	c.revision, c.decision, c.status, c.count = asInt(row[9]), asString(row[10]), asString(row[11]), asInt(row[12])
}

// columnCount is how many columnNames there are.
const columnCount = 13

func asString(v driver.Value) sql.NullString {
	s, ok := v.(string)
	return sql.NullString{String: s, Valid: ok}
}

func asInt(v driver.Value) sql.NullInt64 {
	n, ok := v.(int64)
	return sql.NullInt64{Int64: n, Valid: ok}
}

// columnsOf derives the row from the body and the row before it.
func columnsOf(b *body, t time.Time, latest, behind int64) columns {
	c := columns{seq: b.Seq, time: t.UnixMicro(), kind: b.Kind,
		activityID: nullString(b.ActivityID), sessionID: nullString(b.SessionID)}
	c.latest = max(latest, c.time)
	c.behind = max(behind, c.latest-c.time)
	if b.Of != 0 {
		c.of = sql.NullInt64{Int64: b.Of, Valid: true}
	}
	if b.Call != nil {
		c.tool = nullString(b.Call.Tool)
		c.revision = sql.NullInt64{Int64: int64(b.Call.SchemaRevision), Valid: true}
		c.decision = nullString(b.Call.Result)
		if b.Call.Count != 0 {
			c.count = sql.NullInt64{Int64: int64(b.Call.Count), Valid: true}
		}
	}
	if b.Outcome != nil {
		c.status = nullString(b.Outcome.Status)
	}
	return c
}

func nullString(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
