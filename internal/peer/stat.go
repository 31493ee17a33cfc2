package peer

import (
	"bytes"
	"errors"
	"strconv"
)

var errStat = errors.New("malformed process status")

// A stat is the part of /proc/PID/stat that a chain needs.
type stat struct {
	name   string
	parent int
	start  uint64
}

// parseStat reads the one line of /proc/PID/stat (proc(5)):
//
//	4242 (executor) S 4100 4242 4100 … 918273 …
//
// The name stands in parentheses and may itself hold spaces, parentheses and
// newlines, so the fields begin after the last closing one: state is field 3,
// the parent 4 and the start time 22.
func parseStat(line []byte) (stat, error) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return stat{}, errStat
	}
	fields := bytes.Fields(line[shut+1:])
	const parentField, startField = 4 - 3, 22 - 3
	if len(fields) <= startField {
		return stat{}, errStat
	}
	parent, err := strconv.Atoi(string(fields[parentField]))
	if err != nil || parent < 0 {
		return stat{}, errStat
	}
	start, err := strconv.ParseUint(string(fields[startField]), 10, 64)
	if err != nil {
		return stat{}, errStat
	}
	return stat{name: string(line[open+1 : shut]), parent: parent, start: start}, nil
}
