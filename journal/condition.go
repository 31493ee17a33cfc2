package journal

import (
	"encoding/json"
	"slices"
	"strings"
)

// A condition is SQL over an entry e, with its arguments.
type condition struct {
	sql  string
	args []any
}

// A field is one way to look activities up. Each has an index of its own.
type field struct {
	// from names the rows that hold the value, as d, with their index; key is
	// the condition on one value, and seq the activity's seq in those rows.
	from, key, seq string
	// holds is the same question asked of an entry e, for a JSON list of values.
	holds string
}

// fields in the order of Match. An unknown tool's name is in the texts.
var (
	bySession    = field{"entries AS d INDEXED BY entries_session", "d.session_id = ? AND d.kind IN ('intent','refused')", "d.seq", "e.session_id IN (SELECT value FROM json_each(?))"}
	byTool       = field{"entries AS d INDEXED BY entries_tool", "d.tool = ?", "d.seq", "e.tool IN (SELECT value FROM json_each(?))"}
	byRevision   = field{"entries AS d INDEXED BY entries_revision", "d.revision = ?", "d.seq", "e.revision IN (SELECT value FROM json_each(?))"}
	byDecision   = field{"entries AS d INDEXED BY entries_decision", "d.decision = ? AND d.decision <> 'allowed'", "d.seq", "e.decision IN (SELECT value FROM json_each(?))"}
	byStatus     = field{"entries AS d INDEXED BY entries_status", "d.status = ? AND d.status <> 'ok'", "d.of", statusHolds}
	byTarget     = textField("texts_target", "downstream_target")
	byCredential = textField("texts_credential", "credential")
	byMadeUpTool = textField("texts_tool", "tool")
)

// statusHolds looks at the outcome of e, which for a refused entry is e itself.
const statusHolds = `coalesce((SELECT o.status FROM entries AS o INDEXED BY entries_activity
  WHERE o.activity_id = e.activity_id AND o.kind IN ('outcome','refused')), 'running') IN (SELECT value FROM json_each(?))`

// clientHolds looks at what opened the session of e.
const clientHolds = `EXISTS (SELECT 1 FROM texts AS c WHERE c.seq = (
    SELECT s.seq FROM entries AS s INDEXED BY entries_session
    WHERE s.session_id = e.session_id AND s.kind = 'session.open' ORDER BY s.seq LIMIT 1)
  AND c.client_name IN (SELECT CAST(value AS BLOB) FROM json_each(?)))`

func textField(index, column string) field {
	return field{
		from: "texts AS d INDEXED BY " + index,
		key:  "d." + column + " = CAST(? AS BLOB)",
		seq:  "d.seq",
		holds: "EXISTS (SELECT 1 FROM texts AS x WHERE x.seq = e.seq AND x." + column +
			" IN (SELECT CAST(value AS BLOB) FROM json_each(?)))",
	}
}

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
		holds: condition{"(" + known.holds.sql + " OR " + madeUp.holds.sql + ")",
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
