package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"executor/internal/action"
	"executor/internal/strictjson"

	"github.com/google/jsonschema-go/jsonschema"
)

// An input is a compiled input schema (JSON Schema 2020-12). It holds for the
// arguments of one contract and is safe for concurrent use.
type input struct {
	schema     *jsonschema.Schema
	resolved   *jsonschema.Resolved
	properties []string
	defaults   map[string]json.RawMessage
}

// RevisionArgument is the argument that declare_revision adds to a schema.
const RevisionArgument = "contract_revision"

// compileInput refuses schemas whose calls could not be judged: a root that is no
// closed object, references to other documents, or a property of our own.
func compileInput(raw json.RawMessage) (*input, error) {
	if len(raw) == 0 {
		return nil, errors.New("a JSON Schema of type object is due")
	}
	in := &input{schema: &jsonschema.Schema{}, defaults: map[string]json.RawMessage{}}
	if err := json.Unmarshal(raw, in.schema); err != nil {
		return nil, err
	}
	if in.schema.Type != "object" {
		return nil, errors.New("type: object is due at the root")
	}
	var err error
	if in.resolved, err = in.schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
		return nil, err
	}
	for name, p := range in.schema.Properties {
		if name == RevisionArgument {
			return nil, fmt.Errorf("property %s: the name is taken; say declare_revision: true", RevisionArgument)
		}
		in.properties = append(in.properties, name)
		if p.Default != nil {
			in.defaults[name] = p.Default
		}
	}
	slices.Sort(in.properties)
	return in, nil
}

// read checks arguments against the schema and applies its defaults. Members keep
// their bytes: a number keeps its digits.
func (in *input) read(args json.RawMessage) (map[string]json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := strictjson.Check(args); err != nil {
		return nil, asProblems(err)
	}
	members, err := strictjson.Members(args)
	if err != nil {
		return nil, asProblems(err)
	}
	c := &checker{}
	for _, name := range keys(members) {
		if !slices.Contains(in.properties, name) {
			c.add(pointer(name), "unknown argument"+in.meant(name))
		}
	}
	for _, name := range in.schema.Required {
		if _, ok := members[name]; !ok {
			c.add(pointer(name), "is missing")
		}
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	for name, value := range in.defaults {
		if _, ok := members[name]; !ok {
			members[name] = value
		}
	}
	return members, in.validate(members)
}

// meant names the argument that a case variant was taken for.
func (in *input) meant(name string) string {
	for _, p := range in.properties {
		if strings.EqualFold(p, name) {
			return fmt.Sprintf(" (did you mean %q?)", p)
		}
	}
	return ""
}

func (in *input) validate(members map[string]json.RawMessage) error {
	c := &checker{}
	instance := make(map[string]any, len(members))
	for name, raw := range members {
		// Numbers become float64, which is exact enough to judge them by a schema; what
		// is sent keeps its bytes.
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return action.Problems{{Path: pointer(name), Problem: "is not JSON"}}
		}
		instance[name] = v
	}
	err := in.resolved.Validate(instance)
	if err == nil {
		return nil
	}
	// The library names the first problem only, in its own words; which argument it
	// is about is found by asking of each alone.
	for _, name := range keys(members) {
		if why := in.member(name, instance[name]); why != "" {
			c.add(pointer(name), why)
		}
	}
	if len(c.problems) == 0 {
		c.add("", "the arguments together do not fit the input schema: "+lastClause(err))
	}
	return c.err()
}

// member says what is wrong with one argument alone, or "".
func (in *input) member(name string, v any) string {
	p := in.schema.Properties[name]
	if p == nil {
		return ""
	}
	alone := &jsonschema.Schema{Type: "object", Defs: in.schema.Defs, Definitions: in.schema.Definitions,
		Properties: map[string]*jsonschema.Schema{name: p.CloneSchemas()}}
	r, err := alone.Resolve(nil)
	if err != nil {
		return ""
	}
	if err := r.Validate(map[string]any{name: v}); err != nil {
		return "does not fit: " + lastClause(err)
	}
	return ""
}

// lastClause drops the path through the schema from an error of the validator.
func lastClause(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "/properties/"); i >= 0 {
		if _, rest, ok := strings.Cut(text[i:], ": "); ok {
			return rest
		}
	}
	return strings.TrimPrefix(text, "validating root: ")
}

func asProblems(err error) error {
	var found strictjson.Errors
	if !errors.As(err, &found) {
		return action.Problems{{Problem: err.Error()}}
	}
	problems := make(action.Problems, len(found))
	for i, e := range found {
		problems[i] = action.Problem{Path: e.Path, Problem: e.Problem}
	}
	return problems
}
