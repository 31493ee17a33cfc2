package publish

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"executor/internal/contract"
	"executor/internal/drift"
)

// proves reports whether the new template, with the steps put in, is the old one,
// and every old argument still fits. It gives up where that takes more than looking:
// a default for an argument that old calls may give, a map, a constant inside a URL
// expression.
func proves(old, next *contract.Contract, steps []contract.Step) bool {
	names, constants, ok := substitution(old, steps)
	if !ok || !inputHolds(old, next, names, constants) {
		return false
	}
	a, b := old.Published, next.Published
	put := &substitute{names: names, constants: constants, ok: true}
	var before, after any
	switch {
	case a.HTTP != nil && b.HTTP != nil:
		before, after = put.untouched().http(a.HTTP), put.http(b.HTTP)
	case a.SSH != nil && b.SSH != nil:
		before, after = put.untouched().ssh(a.SSH), put.ssh(b.SSH)
	default:
		return false
	}
	x, err := write(before)
	y, err2 := write(after)
	return put.ok && err == nil && err2 == nil && x == y
}

// substitution says what each new argument is in terms of the old ones.
func substitution(old *contract.Contract, steps []contract.Step) (names map[string]string, constants map[string]json.RawMessage, ok bool) {
	names, constants = map[string]string{}, map[string]json.RawMessage{}
	for name := range properties(old.Input) {
		names[name] = name
	}
	for _, s := range steps {
		if s.Map != nil {
			return nil, nil, false
		}
		for name, value := range s.Default {
			if names[name] != "" || constants[name] != nil {
				return nil, nil, false
			}
			constants[name] = value
		}
		for _, from := range sortedNames(s.Rename) {
			to := s.Rename[from]
			if names[to] != "" || constants[to] != nil {
				return nil, nil, false
			}
			if v, constant := constants[from]; constant {
				delete(constants, from)
				constants[to] = v
			} else if names[from] != "" {
				names[to] = names[from]
				delete(names, from)
			}
		}
	}
	return names, constants, true
}

// inputHolds asks the differ whether the new schema, in terms of the old arguments,
// takes every old call and fills in the same defaults.
func inputHolds(old, next *contract.Contract, names map[string]string, constants map[string]json.RawMessage) bool {
	schema, _ := decode(next.Input).(map[string]any)
	if schema == nil {
		return false
	}
	if len(constants) > 0 || renamed(names) {
		for keyword := range schema {
			if !plainKeyword(keyword) {
				return false // it may speak of arguments by their new names
			}
		}
	}
	have, _ := schema["properties"].(map[string]any)
	properties := map[string]any{}
	for name, s := range have {
		switch {
		case names[name] != "":
			properties[names[name]] = s
		case constants[name] == nil:
			return false // new and optional: its place in the template is new
		}
	}
	var required []any
	list, _ := schema["required"].([]any)
	for _, r := range list {
		name, _ := r.(string)
		if names[name] != "" {
			name = names[name]
		} else if constants[name] != nil {
			continue
		}
		required = append(required, name)
	}
	schema["properties"], schema["required"] = properties, required
	if required == nil {
		delete(schema, "required")
	}
	r, err := drift.DiffSchemas(old.Input, raw(schema), drift.Input, drift.Options{Profile: drift.DefaultsApplied})
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(r.Changes, func(c drift.Change) bool {
		return c.Class != drift.Compatible && !isWording(c.Rule) && !strings.HasPrefix(c.Rule, "auth-") || strings.Contains(c.Rule, "default")
	})
}

func renamed(names map[string]string) bool {
	for now, then := range names {
		if now != then {
			return true
		}
	}
	return false
}

// plainKeyword reports whether a keyword at the root of a schema speaks of its
// properties one by one, or of none.
func plainKeyword(keyword string) bool {
	return slices.Contains([]string{"type", "properties", "required", "additionalProperties", "title", "description", "$schema", "$defs", "definitions", "$comment"}, keyword)
}

// A substitute writes a template in terms of other arguments. ok turns false where
// it cannot.
type substitute struct {
	names     map[string]string
	constants map[string]json.RawMessage
	ok        bool
	keep      bool
}

// untouched writes a template as it is, in the same form.
func (*substitute) untouched() *substitute { return &substitute{keep: true, ok: true} }

func (p *substitute) http(t *contract.HTTPTemplate) any {
	headers := map[string]string{}
	for name, value := range t.Headers {
		headers[strings.ToLower(name)] = p.text(value)
	}
	body := any(nil)
	if t.JSON != nil {
		body = p.json(decode(t.JSON))
	}
	return []any{t.Method, p.url(t.URL), headers, body, t.JSON != nil, t.Credential}
}

func (p *substitute) ssh(t *contract.SSHTemplate) any {
	argv := make([]string, len(t.Argv))
	for i, element := range t.Argv {
		argv[i] = p.text(element)
	}
	return []any{t.Host, argv, p.text(t.Stdin)}
}

func (p *substitute) json(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = p.json(e)
		}
		return out
	case map[string]any:
		if name, ok := v["$arg"].(string); ok {
			return p.node(name)
		}
		out := map[string]any{}
		for name, e := range v {
			out[name] = p.json(e)
		}
		return out
	}
	return v
}

func (p *substitute) node(name string) any {
	if c, ok := p.constants[name]; ok {
		return decode(c)
	}
	return map[string]any{"$arg": p.name(name)}
}

func (p *substitute) name(name string) string {
	switch {
	case p.keep:
		return name
	case p.names[name] == "": // new and optional: absent from every old call
		p.ok = false
	}
	return p.names[name]
}

var textArgument = regexp.MustCompile(`\{\{|\}\}|\{[A-Za-z0-9_-]+\}`)

// text puts arguments into header values, elements of argv and stdin.
func (p *substitute) text(s string) string {
	return textArgument.ReplaceAllStringFunc(s, func(m string) string {
		name := strings.Trim(m, "{}")
		if m == "{{" || m == "}}" {
			return m
		}
		c, constant := p.constants[name]
		if !constant {
			return "{" + p.name(name) + "}"
		}
		var v string
		if json.Unmarshal(c, &v) != nil {
			v = string(c)
		}
		if strings.HasPrefix(v, "-") {
			p.ok = false // as an argument it would be refused; as text it is not
		}
		return strings.NewReplacer("{", "{{", "}", "}}").Replace(v)
	})
}

var urlExpression = regexp.MustCompile(`\{[^}]*\}`)

// url puts arguments into the expressions of a URL template. A constant is put
// into {x} alone, and only where no character of it would be escaped.
func (p *substitute) url(s string) string {
	return urlExpression.ReplaceAllStringFunc(s, func(m string) string {
		inner := strings.Trim(m, "{}")
		operator := ""
		if inner != "" && strings.ContainsAny(inner[:1], "/?&") {
			operator, inner = inner[:1], inner[1:]
		}
		c, constant := p.constants[inner]
		if constant && operator == "" {
			var v string
			if json.Unmarshal(c, &v) != nil {
				v = string(c)
			}
			p.ok = p.ok && strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") == ""
			return v
		}
		parts := strings.Split(inner, ",")
		for i, name := range parts {
			if strings.ContainsAny(name, ":*") {
				p.ok = p.ok && p.keep
				continue
			}
			if _, constant := p.constants[name]; constant || operator != "" && p.name(name) != name && strings.ContainsAny(operator, "?&") {
				p.ok = false // ?x=… spells the argument's own name
			}
			parts[i] = p.name(name)
		}
		return "{" + operator + strings.Join(parts, ",") + "}"
	})
}
