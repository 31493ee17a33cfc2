package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"executor/internal/strictjson"
)

// applySteps changes arguments by declared steps and says in words what changed.
// A step that would overwrite an argument, or that meets a value it does not
// know, is an error: an adapter never guesses.
func applySteps(steps []Step, args json.RawMessage) (json.RawMessage, string, error) {
	if len(steps) == 0 {
		return args, "unchanged", nil
	}
	members, err := strictjson.Members(args)
	if err != nil {
		return nil, "", err
	}
	var words []string
	for _, s := range steps {
		did, err := s.apply(members)
		if err != nil {
			return nil, "", err
		}
		words = append(words, did...)
	}
	if len(words) == 0 {
		words = []string{"unchanged"}
	}
	out, err := encodeMembers(members)
	return out, strings.Join(words, ", "), err
}

func (s Step) apply(m map[string]json.RawMessage) (did []string, err error) {
	for _, name := range keys(s.Default) {
		if _, given := m[name]; !given {
			m[name] = s.Default[name]
			did = append(did, fmt.Sprintf("%s set to %s", name, s.Default[name]))
		}
	}
	for _, from := range keys(s.Rename) {
		to := s.Rename[from]
		v, given := m[from]
		if !given {
			continue
		}
		if _, taken := m[to]; taken {
			return nil, fmt.Errorf("%s cannot become %s, which is given too", from, to)
		}
		delete(m, from)
		m[to] = v
		did = append(did, fmt.Sprintf("%s is now %s", from, to))
	}
	for _, name := range keys(s.Map) {
		v, given := m[name]
		if !given {
			continue
		}
		key, err := mapKey(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		to, known := s.Map[name][key]
		if !known {
			return nil, fmt.Errorf("%s: no new value is declared for %s", name, v)
		}
		m[name] = to
		did = append(did, fmt.Sprintf("%s %s is now %s", name, v, to))
	}
	return did, nil
}

// mapKey is a value as the file names it: a string by its characters, anything
// else by its JSON.
func mapKey(v json.RawMessage) (string, error) {
	if v[0] != '"' {
		return string(v), nil
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err
}

// encodeMembers writes an object with its members in order of name, their bytes kept.
func encodeMembers(m map[string]json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, name := range keys(m) {
		if i > 0 {
			out.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(m[name])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
