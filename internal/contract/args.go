package contract

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"executor/internal/action"
	"executor/internal/strictjson"
)

// Bounds of what a caller may ask for.
const (
	defaultTimeout  = 60 * time.Second
	defaultMaxBytes = 1 << 20
	maxMaxBytes     = 8 << 20
)

// decodeArgs decodes a tool's arguments strictly. Absent arguments are an empty object.
func decodeArgs(args json.RawMessage, v any) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := strictjson.Decode(args, v); err != nil {
		return asProblems(err)
	}
	return refuseNull(args)
}

// refuseNull refuses null, which Go would take for "absent", wherever a schema
// does not allow it: everywhere but inside the json argument.
func refuseNull(args json.RawMessage) error {
	members, err := strictjson.Members(args)
	if err != nil {
		return action.Problems{{Problem: "an object is due"}}
	}
	c := &checker{}
	for _, name := range keys(members) {
		if name != "json" && holdsNull(members[name]) {
			c.add(pointer(name), "null is not a value here; leave it out instead")
		}
	}
	return c.err()
}

func holdsNull(raw json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		t, err := d.Token()
		if err != nil {
			return false
		}
		if t == nil {
			return true
		}
	}
}

// A checker gathers the problems of one call's arguments.
type checker struct{ problems action.Problems }

func (c *checker) add(path, problem string) {
	c.problems = append(c.problems, action.Problem{Path: path, Problem: problem})
}

func (c *checker) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	return c.problems
}

// limit returns v, or def when v is absent; outside 1..max it is a problem.
func (c *checker) limit(path string, v *int, def, max int) int {
	if v == nil {
		return def
	}
	if *v < 1 || *v > max {
		c.add(path, "is "+strconv.Itoa(*v)+"; 1 to "+strconv.Itoa(max)+" is allowed")
	}
	return *v
}

func (c *checker) timeout(v *int, maxSeconds int) time.Duration {
	return time.Duration(c.limit("/timeout_s", v, int(defaultTimeout/time.Second), maxSeconds)) * time.Second
}

func (c *checker) maxBytes(v *int) int { return c.limit("/max_bytes", v, defaultMaxBytes, maxMaxBytes) }

// pointer escapes a member name for a JSON Pointer (RFC 6901, section 3).
func pointer(name string) string {
	out := make([]byte, 0, len(name)+1)
	out = append(out, '/')
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '~':
			out = append(out, "~0"...)
		case '/':
			out = append(out, "~1"...)
		default:
			out = append(out, name[i])
		}
	}
	return string(out)
}
