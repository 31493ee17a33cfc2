package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

const (
	methodCallTool   = "tools/call"
	methodInitialize = "initialize"
	methodPing       = "ping"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// callMembers are the members of the params of tools/call.
var callMembers = [...]string{"name", "arguments", "_meta", "inputResponses", "requestState"}

// members are the members of one JSON object in their order, names decoded,
// values as they stood.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("not an object")

// readMembers takes apart the object that is the whole of text, which must be
// valid JSON: only then is a byte enough to tell what comes. The values are parts
// of text. Anything but an object is an error.
func readMembers(text []byte) (members, error) {
	rest, ok := bytes.CutPrefix(space(text), []byte("{"))
	if !ok {
		return nil, errNoObject
	}
	var ms members
	for rest = space(rest); len(rest) > 0 && rest[0] == '"'; rest = space(bytes.TrimPrefix(space(rest), []byte(","))) {
		n := valueEnd(rest)
		var m member
		if err := json.Unmarshal(rest[:n], &m.name); err != nil {
			return nil, err
		}
		rest = space(bytes.TrimPrefix(space(rest[n:]), []byte(":")))
		n = valueEnd(rest)
		m.value, rest = json.RawMessage(rest[:n:n]), rest[n:]
		ms = append(ms, m)
	}
	return ms, nil
}

// space cuts off the white space of JSON (RFC 8259, section 2).
func space(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// valueEnd is the length of the value that valid JSON begins with.
func valueEnd(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 { // the end of what the value stands in
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && strings.IndexByte(", \t\r\n", c) >= 0:
			return i
		}
	}
	return len(b)
}

func (ms members) get(name string) (json.RawMessage, bool) {
	for _, m := range ms {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

func (ms members) count(name string) int {
	n := 0
	for _, m := range ms {
		if m.name == name {
			n++
		}
	}
	return n
}

// text returns the value of a member that is a string.
func (ms members) text(name string) (string, bool) {
	raw, ok := ms.get(name)
	if !ok || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// duplicate returns the first name that stands twice.
func (ms members) duplicate() (string, bool) {
	seen := make(map[string]bool, len(ms))
	for _, m := range ms {
		if seen[m.name] {
			return m.name, true
		}
		seen[m.name] = true
	}
	return "", false
}

// checkParams says what is wrong with params, which are present and not null;
// it returns "" when nothing is. No member may stand twice, and those of
// tools/call must have their exact names, so that no two readers of one line
// can see two different calls. What is inside arguments is left to the tool.
func checkParams(method string, raw json.RawMessage) string {
	if raw[0] != '{' {
		return "params must be an object"
	}
	params, err := readMembers(raw)
	if err != nil {
		return "params cannot be read"
	}
	if name, twice := params.duplicate(); twice {
		return "duplicate member in params: " + cut(name)
	}
	if meta, ok := params.get("_meta"); ok && meta[0] == '{' {
		inner, err := readMembers(meta)
		if err != nil {
			return "_meta cannot be read"
		}
		if name, twice := inner.duplicate(); twice {
			return "duplicate member in _meta: " + cut(name)
		}
	}
	if method == methodCallTool {
		return checkCall(params)
	}
	return ""
}

func checkCall(params members) string {
	for _, m := range params {
		for _, known := range callMembers {
			if m.name != known && strings.EqualFold(m.name, known) {
				return "unknown member in params: " + cut(m.name) + "; did you mean " + known + "?"
			}
		}
	}
	if _, ok := params.text("name"); !ok {
		return "name must be a string"
	}
	for _, name := range []string{"arguments", "_meta"} {
		if raw, ok := params.get(name); ok && raw[0] != '{' && string(raw) != "null" {
			return name + " must be an object"
		}
	}
	return ""
}
