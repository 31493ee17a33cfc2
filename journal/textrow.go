package journal

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The texts of an entry are one row of the table texts: those by which entries
// are looked up in a column each, the others in the column rest, which also
// holds the salt of every one. Rest is, for each text,
//
//	length of the field's name (1 byte) ‖ name ‖ salt (16 bytes) ‖ length of the value (uvarint) ‖ value
//
// with an empty value where the value stands in a column.

// lookups are the fields with a column, which has the field's name.
var lookups = [...]string{fieldActionDigest, fieldTarget, fieldCredential, fieldClientName, fieldTool}

const textColumns = `action_digest, downstream_target, credential, client_name, tool, rest`

// A textRow is how the texts of an entry are stored.
type textRow struct {
	columns [len(lookups)][]byte // nil where there is none
	rest    []byte
}

func (t texts) row() textRow {
	var r textRow
	size := 0
	for _, x := range t {
		size += 1 + len(x.field) + saltSize + binary.MaxVarintLen32 + len(x.value)
	}
	r.rest = make([]byte, 0, size)
	for _, x := range t {
		value := x.value
		if i := slices.Index(lookups[:], x.field); i >= 0 {
			r.columns[i], value = x.value, nil
		}
		r.rest = append(append(append(r.rest, byte(len(x.field))), x.field...), x.salt...)
		r.rest = append(binary.AppendUvarint(r.rest, uint64(len(value))), value...)
	}
	return r
}

func (r textRow) values() []driver.Value {
	out := make([]driver.Value, 0, len(r.columns)+1)
	for _, c := range r.columns {
		out = append(out, blob(c))
	}
	return append(out, r.rest)
}

// scan reads what textColumns select.
func (r *textRow) scan(row []driver.Value) {
	for i := range r.columns {
		r.columns[i], _ = row[i].([]byte)
	}
	r.rest, _ = row[len(r.columns)].([]byte)
}

func (r *textRow) targets() []any {
	out := make([]any, 0, len(r.columns)+1)
	for i := range r.columns {
		out = append(out, &r.columns[i])
	}
	return append(out, &r.rest)
}

var errTextRow = errors.New("its texts cannot be read")

// texts is the reverse of row, and refuses what row would not have written.
func (r textRow) texts() (texts, error) {
	out, err := parseRest(r.rest)
	if err != nil {
		return nil, err
	}
	left := r.columns
	for k := range out {
		x := &out[k]
		i := slices.Index(lookups[:], x.field)
		if i < 0 {
			continue
		}
		if len(x.value) > 0 || left[i] == nil {
			return nil, fmt.Errorf("%w: the column %s", errTextRow, x.field)
		}
		x.value, left[i] = left[i], nil
	}
	for i, c := range left {
		if c != nil {
			return nil, fmt.Errorf("%w: the entry has no text %q", errTextRow, lookups[i])
		}
	}
	return out, nil
}

// parseRest reads the column rest, each of whose fields stands there once.
func parseRest(rest []byte) (texts, error) {
	var out texts
	for len(rest) > 0 {
		n := int(rest[0])
		if len(rest) < 1+n+saltSize+1 {
			return nil, fmt.Errorf("%w: cut", errTextRow)
		}
		x := text{field: string(rest[1 : 1+n]), salt: rest[1+n : 1+n+saltSize]}
		rest = rest[1+n+saltSize:]
		size, width := binary.Uvarint(rest)
		if width <= 0 || size > uint64(len(rest)-width) || width != len(binary.AppendUvarint(nil, size)) {
			return nil, fmt.Errorf("%w: the length of %q", errTextRow, x.field)
		}
		x.value, rest = rest[width:width+int(size)], rest[width+int(size):]
		if slices.ContainsFunc(out, func(y text) bool { return y.field == x.field }) {
			return nil, fmt.Errorf("%w: two of %q", errTextRow, x.field)
		}
		out = append(out, x)
	}
	return out, nil
}
