package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"executor/internal/action"
)

// An HTTPTemplate turns arguments into one HTTP request. It is structure, not
// text: an argument stays in its path segment, query value, header value or JSON node.
type HTTPTemplate struct {
	Method string `json:"method"`
	// URL is an RFC 6570 template with {x}, {/x}, {?x} and {&x}; scheme, host and
	// port are constants, or {x} of an argument that is an enum of strings.
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	// JSON is a value in which {"$arg": "x"} stands for an argument.
	JSON       json.RawMessage `json:"json,omitempty"`
	Credential string          `json:"credential,omitempty"`
}

// An SSHTemplate turns arguments into one command: an argument stays in its
// element of argv.
type SSHTemplate struct {
	Host  string   `json:"host"`
	Argv  []string `json:"argv"`
	Stdin string   `json:"stdin,omitempty"`
}

// A template is compiled: it renders arguments that its input schema accepted.
type template interface {
	render(args map[string]json.RawMessage) (Draft, error)
	// uses lists the arguments that it takes.
	uses() []string
}

func compileTemplate(f *File, in *input) (t template, err error) {
	if f.HTTP != nil {
		t, err = compileHTTP(f.HTTP, in)
	} else {
		t, err = compileSSH(f.SSH, in)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range t.uses() {
		if !slices.Contains(in.properties, name) {
			return nil, fmt.Errorf("the template takes the argument %q, which the input schema does not have", name)
		}
	}
	for _, name := range in.properties {
		if !slices.Contains(t.uses(), name) {
			return nil, fmt.Errorf("the argument %q has no place in the template: a call that gives it would mean no more than one that does not", name)
		}
	}
	return t, nil
}

// renderTemplate is the renderer of a published contract.
func renderTemplate(in *input, t template, args json.RawMessage) (Draft, error) {
	members, err := in.read(args)
	if err != nil {
		return nil, err
	}
	return t.render(members)
}

// text is a string with arguments in it, such as "--branch={branch}".
type text []part

// A part is a literal, or the argument that stands there.
type part struct {
	literal string
	arg     string
}

// parseText reads a string with {name} in it; {{ and }} stand for braces.
func parseText(s string) (text, error) {
	var out text
	literal := func(s string) {
		if n := len(out); n > 0 && out[n-1].arg == "" {
			out[n-1].literal += s
		} else if s != "" {
			out = append(out, part{literal: s})
		}
	}
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			literal(s)
			return out, nil
		}
		literal(s[:i])
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			literal(s[i : i+1])
			s = s[i+2:]
		case s[i] == '}':
			return nil, errors.New("a } without its {; write }} for the character")
		default:
			name, rest, ok := strings.Cut(s[i+1:], "}")
			if !ok || !argumentName(name) {
				return nil, errors.New("a { without its }, or without an argument's name; write {{ for the character")
			}
			out = append(out, part{arg: name})
			s = rest
		}
	}
	return out, nil
}

func argumentName(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

func (t text) uses() []string {
	var out []string
	for _, p := range t {
		if p.arg != "" {
			out = append(out, p.arg)
		}
	}
	return out
}

// literals are the constant parts alone.
func (t text) literals() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.literal)
	}
	return b.String()
}

// expand puts the arguments in. ok is false when one of them is absent.
func (t text) expand(args map[string]json.RawMessage) (s string, ok bool, err error) {
	var b strings.Builder
	for _, p := range t {
		if p.arg == "" {
			b.WriteString(p.literal)
			continue
		}
		raw, given := args[p.arg]
		if !given {
			return "", false, nil
		}
		v, err := scalar(p.arg, raw)
		if err != nil {
			return "", false, err
		}
		b.WriteString(v)
	}
	return b.String(), true, nil
}

// scalar is an argument as text: a string's characters, a number's or a boolean's
// own spelling.
func scalar(name string, raw json.RawMessage) (string, error) {
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case '{', '[', 'n':
		return "", action.Problems{{Path: pointer(name), Problem: "a string, number or boolean is due here"}}
	}
	return string(raw), nil
}

// scalarOnly refuses a property that could not stand in a text.
func (in *input) scalarOnly(name string) error {
	p := in.schema.Properties[name]
	if p == nil {
		return nil // reported as unknown
	}
	for _, t := range append(slices.Clone(p.Types), p.Type) {
		if t == "object" || t == "array" || t == "null" {
			return fmt.Errorf("the argument %q of type %s cannot stand in a text", name, t)
		}
	}
	return nil
}
