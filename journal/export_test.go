package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// What only the tests may reach.
var RefusedArgs = refusedArgs

const MaxRefusedArgs = maxRefusedArgs

// ParsePin parses a pin line and formats it again.
func ParsePin(b []byte) (size int64, again []byte, err error) {
	c, err := parsePin(b)
	if err != nil {
		return 0, nil, err
	}
	return c.size, formatPin(c), nil
}

// ParseCheckpoint parses a checkpoint's text and formats it again.
func ParseCheckpoint(text, origin string) (again string, err error) {
	c, err := parseCheckpoint(text, origin)
	if err != nil {
		return "", err
	}
	return c.text(origin), nil
}

// DecodeBody decodes stored bytes and encodes them again.
func DecodeBody(raw []byte) ([]byte, error) {
	b, _, err := decodeBody(raw)
	if err != nil {
		return nil, err
	}
	return b.encode()
}

// SaltedHash is the hash of a text, and what stands in the body of an entry that
// has it alone.
func SaltedHash(salt []byte, field string, value []byte) (hash [32]byte, inBody string) {
	x := text{field: field, salt: salt, value: value}
	return x.hash(), texts{x}.commitment()
}

// FormatPin returns the pin line of a head.
func FormatPin(size int64, root [32]byte) []byte { return formatPin(checkpoint{size, root}) }

// Pragma reads a pragma of the connection that writes.
func (j *Journal) Pragma(name string) (value string, err error) {
	j.queue.turn <- struct{}{}
	defer func() { <-j.queue.turn }()
	v, err := j.db.once(context.Background(), "PRAGMA "+name)
	return fmt.Sprint(v), err
}

// Pinner advances the pin in f as one process does.
func Pinner(f *os.File) func(size int64, root [32]byte) error {
	p := &pinned{File: f}
	return func(size int64, root [32]byte) error { return p.advance(checkpoint{size, root}) }
}

// TextValues lists the values of a row of the side table.
func TextValues(columns [5][]byte, rest []byte) ([]string, error) {
	list, err := textRow{columns, rest}.texts()
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x.value)
	}
	return out, err
}

// Salts lists the salts of a row of the side table.
func Salts(rest []byte) (out []string, err error) {
	list, err := parseRest(rest)
	for _, x := range list {
		out = append(out, string(x.salt))
	}
	return out, err
}

// TakeOut takes a text out of a row, as Redact does.
func TakeOut(t testing.TB, rest []byte, field string) []byte {
	list, err := parseRest(rest)
	i := slices.IndexFunc(list, func(x text) bool { return x.field == field })
	if err != nil || i < 0 {
		t.Fatalf("no text %q: %v", field, err)
	}
	list[i] = list[i].out()
	return list.row().rest
}

// Plans says how SQLite goes about each way to look activities up.
func (r *Reader) Plans(ctx context.Context) (plans map[string][]string, err error) {
	plans = map[string][]string{}
	for name, f := range map[string]field{"session": bySession, "decision": byDecision, "status": byStatus, "made-up tool": byMadeUpTool,
		"tool": byTool, "revision": byRevision, "target": byTarget, "credential": byCredential} {
		s := &selection{conditions: []condition{{f.holds, []any{list([]string{"x"})}}}}
		query, args := s.query(source{f, "x"}, 1, 1<<40, "DESC", 50)
		rows, err := r.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				return nil, err
			}
			plans[name] = append(plans[name], step)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return plans, nil
}

// Rest reads the bytes of texts and writes them again.
func Rest(rest []byte) ([]byte, error) {
	list, err := parseRest(rest)
	for _, x := range list {
		if slices.Contains(lookups[:], x.field) && len(x.value) > 0 {
			return nil, errTextRow
		}
	}
	return list.row().rest, err
}

const (
	InsertLookups = insertLookups
	InsertCalls   = insertCalls
)

// TreePass grows the tree over the stored bodies and compares it with the stored
// hashes and the newest root, and does nothing else of Verify.
func TreePass(ctx context.Context, dir string) (n int64, err error) {
	s, err := openStore(readDSN(dbPath(dir)))
	if err != nil {
		return 0, err
	}
	defer s.close()
	all, err := s.prepare(`SELECT hashes, body FROM entries ORDER BY seq`)
	if err != nil {
		return 0, err
	}
	var tree subtrees
	err = all.each(ctx, nil, func(row []driver.Value) error {
		if !bytes.Equal(joinHashes(tree.push(tlog.RecordHash(row[1].([]byte)))), row[0].([]byte)) {
			return ErrTampered
		}
		return nil
	})
	return tree.size, err
}
