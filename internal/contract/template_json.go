package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"executor/internal/strictjson"
)

// argKey marks a node that stands for an argument: {"$arg": "branch"}.
const argKey = "$arg"

// A node is a JSON value with arguments in it.
type node struct {
	literal json.RawMessage // compact; nil for the others
	arg     string
	object  []member
	array   []*node
	isArray bool
}

type member struct {
	name  json.RawMessage // a JSON string
	value *node
}

// parseNode reads a JSON template. Members are ordered by name: two spellings of
// one template are one.
func parseNode(raw json.RawMessage) (*node, error) {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case '{':
		return parseObject(raw)
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		n := &node{isArray: true}
		for _, it := range items {
			child, err := parseNode(it)
			if err != nil {
				return nil, err
			}
			n.array = append(n.array, child)
		}
		return n, nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, raw)
	return &node{literal: compact.Bytes()}, err
}

func parseObject(raw json.RawMessage) (*node, error) {
	members, err := strictjson.Members(raw)
	if err != nil {
		return nil, err
	}
	if arg, ok := members[argKey]; ok {
		var name string
		if err := json.Unmarshal(arg, &name); err != nil || len(members) != 1 {
			return nil, errors.New(`{"$arg": "NAME"} stands alone`)
		}
		return &node{arg: name}, nil
	}
	n := &node{object: []member{}}
	for _, name := range keys(members) {
		child, err := parseNode(members[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		n.object = append(n.object, member{quoted, child})
	}
	return n, nil
}

func (n *node) uses() []string {
	var out []string
	if n.arg != "" {
		out = append(out, n.arg)
	}
	for _, m := range n.object {
		out = append(out, m.value.uses()...)
	}
	for _, c := range n.array {
		out = append(out, c.uses()...)
	}
	return out
}

// absent reports whether the node stands for an argument that was not given: its
// member, or its element, is then left out.
func (n *node) absent(args map[string]json.RawMessage) bool {
	_, given := args[n.arg]
	return n.arg != "" && !given
}

// write puts the arguments in, byte for byte but for white space.
func (n *node) write(out *bytes.Buffer, args map[string]json.RawMessage) {
	switch {
	case n.arg != "":
		if n.absent(args) || json.Compact(out, args[n.arg]) != nil {
			out.WriteString("null")
		}
	case n.object != nil:
		out.WriteByte('{')
		first := true
		for _, m := range n.object {
			if m.value.absent(args) {
				continue
			}
			if !first {
				out.WriteByte(',')
			}
			first = false
			out.Write(m.name)
			out.WriteByte(':')
			m.value.write(out, args)
		}
		out.WriteByte('}')
	case n.isArray:
		out.WriteByte('[')
		first := true
		for _, c := range n.array {
			if c.absent(args) {
				continue
			}
			if !first {
				out.WriteByte(',')
			}
			first = false
			c.write(out, args)
		}
		out.WriteByte(']')
	default:
		out.Write(n.literal)
	}
}
