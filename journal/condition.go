package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A condition is SQL over an entry e, with its arguments.
type condition struct {
	sql  string
	args []any
}

// A field is one way to look activities up.
type field struct {
	// found gives the seqs, as seq, of the activities with one value, with the
	// bounds ?2 and ?3 and in the order of the index: all of them, or what lies
	// in the index and, after UNION ALL, what lies behind it.
	found string
	// holds is the same question asked of an entry e, for a JSON list of values.
	holds string
}

// fields in the order of Match. An unknown tool's name is in the texts.
var (
	bySession = field{`SELECT seq FROM calls WHERE session_id = ?1 AND seq BETWEEN ?2 AND ?3 AND kind IN ('intent','refused')
  UNION ALL SELECT x.seq FROM entries AS x WHERE x.seq BETWEEN max(?2, ` + mark + ` + 1) AND ?3 AND x.session_id = ?1 AND x.kind IN ('intent','refused')`,
		"e.session_id IN (SELECT value FROM json_each(?))"}
	byDecision = field{"SELECT d.seq AS seq FROM entries AS d INDEXED BY entries_decision WHERE d.decision = ?1 AND d.decision <> 'allowed' AND d.seq BETWEEN ?2 AND ?3",
		"e.decision IN (SELECT value FROM json_each(?))"}
	byStatus = field{"SELECT d.of AS seq FROM entries AS d INDEXED BY entries_status WHERE d.status = ?1 AND d.status <> 'ok' AND d.of BETWEEN ?2 AND ?3",
		statusHolds}
	byMadeUpTool = field{"SELECT d.seq AS seq FROM texts AS d INDEXED BY texts_tool WHERE d.tool = CAST(?1 AS BLOB) AND d.seq BETWEEN ?2 AND ?3",
		textHolds("tool")}
	byTool       = lookup(lookupTool, "entries", "tool", "e.tool IN (SELECT value FROM json_each(?))")
	byRevision   = lookup(lookupRevision, "entries", "revision", "e.revision IN (SELECT value FROM json_each(?))")
	byTarget     = lookup(lookupTarget, "texts", fieldTarget, textHolds(fieldTarget))
	byCredential = lookup(lookupCredential, "texts", fieldCredential, textHolds(fieldCredential))
)

// lookup makes a field of what lookups holds.
func lookup(number int, table, column, holds string) field {
	return field{found: lookupSeqs(number, table, column), holds: holds}
}

// lookupSeqs gives the seqs of a value ?1 from ?2 to ?3: those that lookups has,
// and after UNION ALL those of the entries that it does not have yet.
func lookupSeqs(number int, table, column string) string {
	return fmt.Sprintf(`SELECT seq FROM lookups WHERE field = %d AND value = CAST(?1 AS BLOB) AND seq BETWEEN ?2 AND ?3
  UNION ALL SELECT x.seq FROM %s AS x WHERE x.seq BETWEEN max(?2, `+mark+` + 1) AND ?3 AND CAST(x.%s AS BLOB) = CAST(?1 AS BLOB)`,
		number, table, column)
}

func textHolds(column string) string {
	return "EXISTS (SELECT 1 FROM texts AS x WHERE x.seq = e.seq AND x." + column +
		" IN (SELECT CAST(value AS BLOB) FROM json_each(?)))"
}

// statusHolds looks at the outcome of e, which for a refused entry is e itself.
const statusHolds = `coalesce((SELECT o.status FROM entries AS o INDEXED BY entries_activity
  WHERE o.activity_id = e.activity_id AND o.kind IN ('outcome','refused')), 'running') IN (SELECT value FROM json_each(?))`

// clientHolds looks at what opened the session of e.
const clientHolds = `EXISTS (SELECT 1 FROM texts AS c WHERE c.seq = (
    SELECT s.seq FROM entries AS s INDEXED BY entries_session
    WHERE s.session_id = e.session_id AND s.of IS NULL AND s.kind = 'session.open' ORDER BY s.seq LIMIT 1)
  AND c.client_name IN (SELECT CAST(value AS BLOB) FROM json_each(?)))`

// A source is a field with one of the values asked for: rows to start from.
type source struct {
	field
	value any
}

// A clause is one field of a Match that is asked about.
type clause struct {
	holds   condition
	sources []source // none: it can only be checked, not looked up
}

func (m Match) clauses() []clause {
	var out []clause
	add := func(f field, values []string) {
		if len(values) > 0 {
			out = append(out, newClause(f, values))
		}
	}
	add(bySession, m.Session)
	add(byTarget, m.Target)
	add(byCredential, m.Credential)
	if len(m.Decision) > 0 {
		out = append(out, newClause(byDecision, m.Decision).walkFor(Allowed, m.Decision))
	}
	if len(m.Status) > 0 {
		out = append(out, newClause(byStatus, m.Status).walkFor(OK, m.Status).walkFor(Running, m.Status))
	}
	if len(m.Tool) > 0 {
		out = append(out, toolClause(m.Tool))
	}
	if len(m.Revision) > 0 {
		out = append(out, newClause(byRevision, m.Revision))
	}
	if len(m.Client) > 0 {
		out = append(out, clause{holds: condition{clientHolds, []any{list(m.Client)}}})
	}
	return out
}

func newClause[T any](f field, values []T) clause {
	c := clause{holds: condition{f.holds, []any{list(values)}}}
	for _, v := range values {
		c.sources = append(c.sources, source{f, v})
	}
	return c
}

// toolClause asks for registered and made-up names alike.
func toolClause(names []string) clause {
	known, madeUp := newClause(byTool, names), newClause(byMadeUpTool, names)
	return clause{
		holds: condition{"(" + known.holds.sql + " OR e.tool IS NULL AND " + madeUp.holds.sql + ")",
			append(known.holds.args, madeUp.holds.args...)},
		sources: append(known.sources, madeUp.sources...),
	}
}

// walkFor drops the sources when value is asked for: the usual values of
// decision and status are not indexed (most entries would stand there), and
// nothing is written where an activity is running.
func (c clause) walkFor(value string, asked []string) clause {
	if slices.Contains(asked, value) {
		c.sources = nil
	}
	return c
}

// where joins conditions with AND.
func where(conditions []condition) (string, []any) {
	var sql []string
	var args []any
	for _, c := range conditions {
		sql = append(sql, c.sql)
		args = append(args, c.args...)
	}
	return strings.Join(sql, " AND "), args
}

func list(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "[]" // strings and ints always marshal
	}
	return string(b)
}
