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
// holds the salt of every one. Rest is, for each text in the order of the fields,
//
//	length of the field's name (1 byte) ‖ name ‖ salt (16 bytes) ‖ length of the value (uvarint) ‖ value
//
// with an empty value where the value stands in a column; and for one that was
// taken out
//
//	128 + length of the field's name (1 byte) ‖ name ‖ hash (32 bytes)

// takenOut is added to the length of the name of a text that was taken out.
const takenOut = 128

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
		size += 1 + len(x.field) + max(saltSize+binary.MaxVarintLen32+len(x.value), len(textHash{}))
	}
	r.rest = make([]byte, 0, size)
	for _, x := range t {
		if x.taken != nil {
			r.rest = append(append(append(r.rest, takenOut+byte(len(x.field))), x.field...), x.taken[:]...)
			continue
		}
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
		if i < 0 || x.taken != nil {
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

// parseRest reads the column rest.
func parseRest(rest []byte) (texts, error) {
	var out texts
	for len(rest) > 0 {
		x, left, err := parseText(rest)
		if err != nil {
			return nil, err
		}
		if n := len(out); n > 0 && out[n-1].field >= x.field {
			return nil, fmt.Errorf("%w: %q after %q", errTextRow, x.field, out[n-1].field)
		}
		out, rest = append(out, x), left
	}
	return out, nil
}

// parseText reads the first text of b, and returns what is left.
func parseText(b []byte) (x text, left []byte, err error) {
	name, kept := int(b[0]), saltSize+1
	if name >= takenOut {
		name, kept = name-takenOut, len(textHash{})
	}
	if len(b) < 1+name+kept {
		return text{}, nil, fmt.Errorf("%w: cut", errTextRow)
	}
	x.field, left = string(b[1:1+name]), b[1+name:]
	if b[0] >= takenOut {
		hash := textHash(left[:kept])
		x.taken = &hash
		return x, left[kept:], nil
	}
	x.salt, left = left[:saltSize], left[saltSize:]
	size, width := binary.Uvarint(left)
	if width <= 0 || size > uint64(len(left)-width) || width != len(binary.AppendUvarint(nil, size)) {
		return text{}, nil, fmt.Errorf("%w: the length of %q", errTextRow, x.field)
	}
	x.value = left[width : width+int(size)]
	return x, left[width+int(size):], nil
}
