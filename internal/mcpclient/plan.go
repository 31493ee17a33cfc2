package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"executor/internal/drift"
	"executor/internal/strictjson"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Plan is a call that was built on one contract and not yet sent.
type Plan struct {
	id    string
	known *known
	args  map[string]json.RawMessage
	needs []string
}

// revisionArgument declares the contract that a call was built on; its one value
// stands in the schema.
const revisionArgument = "contract_revision"

// Plan builds a call on the tool as it is listed now and checks it against the
// tool's input schema. needs names the members of the result that the caller will
// use: a result without one of them is ErrOutputContract.
func (c *Careful) Plan(ctx context.Context, tool string, args json.RawMessage, needs ...string) (*Plan, error) {
	now, err := c.current(ctx, tool)
	if err != nil {
		return nil, err
	}
	members, err := argumentsOf(args)
	if err != nil {
		return nil, err
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	p := &Plan{id: id, known: now, args: members, needs: needs}
	if value, ok := only(now.input.Properties[revisionArgument]); ok && members[revisionArgument] == nil {
		members[revisionArgument] = value
	}
	if lost := now.lost(needs); len(lost) > 0 {
		return nil, fmt.Errorf("%w: %s; nothing was sent", ErrOutputContract, strings.Join(lost, ", "))
	}
	return p, p.validate()
}

// argumentsOf reads the members of arguments, of which none may be twice.
func argumentsOf(args json.RawMessage) (map[string]json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := strictjson.Check(args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	members, err := strictjson.Members(args)
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	return members, nil
}

func (p *Plan) validate() error {
	raw, err := p.arguments()
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if err := p.known.resolved.Validate(v); err != nil {
		return fmt.Errorf("arguments of %s: %w", p.known.name, err)
	}
	return nil
}

func (p *Plan) arguments() (json.RawMessage, error) { return json.Marshal(p.args) }

// check looks for what the caller needs in a result.
func (p *Plan) check(result json.RawMessage) error {
	if len(p.needs) == 0 {
		return nil
	}
	members, err := strictjson.Members(result)
	if err != nil {
		return fmt.Errorf("%w: the result is no object", ErrOutputContract)
	}
	for _, name := range p.needs {
		if _, ok := members[name]; !ok {
			return fmt.Errorf("%w: %s", ErrOutputContract, name)
		}
	}
	return nil
}

// lost lists the needed members that the tool's output schema does not have.
func (k *known) lost(needs []string) []string {
	if k.output == nil {
		return nil
	}
	var out []string
	for _, name := range needs {
		if !declares(k.output, name) {
			out = append(out, name)
		}
	}
	return out
}

// declares looks for a property in a schema and in the branches of its root.
func declares(s *jsonschema.Schema, name string) bool {
	if s.Properties[name] != nil {
		return true
	}
	for _, branch := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		if declares(branch, name) {
			return true
		}
	}
	return false
}

// repair builds the planned call anew on another contract of the tool, where that
// takes no choice. Otherwise it is a *Decision.
func (p *Plan) repair(now *known) (*Plan, error) {
	d := &Decision{Tool: now.name}
	if why := permissions(p.known.annotations, now.annotations); why != "" {
		d.Reasons = append(d.Reasons, why)
	}
	if lost := now.lost(p.needs); len(lost) > 0 {
		return nil, fmt.Errorf("%w: %s; nothing was done", ErrOutputContract, strings.Join(lost, ", "))
	}
	next := &Plan{id: p.id, known: now, args: maps.Clone(p.args), needs: p.needs}
	delete(next.args, revisionArgument)
	for name := range next.args {
		if now.input.Properties[name] == nil {
			d.Reasons = append(d.Reasons, fmt.Sprintf("the argument %q is not known any more", name))
		}
	}
	for _, name := range now.input.Required {
		if _, given := next.args[name]; given {
			continue
		}
		value, ok := only(now.input.Properties[name])
		switch {
		case name == revisionArgument:
			// Its value says that whoever built the call read the new description.
			d.Reasons = append(d.Reasons, "the server takes only calls that were built on its new description")
		case drift.IsAuthority(name):
			d.Reasons = append(d.Reasons, fmt.Sprintf("the new argument %q chooses on whom or where it is done", name))
		case !ok:
			d.Reasons = append(d.Reasons, fmt.Sprintf("the new argument %q leaves a choice", name))
		default:
			next.args[name] = value
		}
	}
	if len(d.Reasons) == 0 {
		if err := next.validate(); err != nil {
			d.Reasons = append(d.Reasons, "it does not fit the new schema: "+err.Error())
		}
	}
	if len(d.Reasons) > 0 {
		slices.Sort(d.Reasons)
		return nil, d
	}
	return next, nil
}

// only is the one value that a schema leaves: a constant, the single member of an
// enum, or a default. An object or array is none: what it holds may carry authority.
func only(s *jsonschema.Schema) (json.RawMessage, bool) {
	var v any
	switch {
	case s == nil:
		return nil, false
	case s.Const != nil:
		v = *s.Const
	case len(s.Enum) == 1:
		v = s.Enum[0]
	case s.Default != nil:
		v = s.Default
	default:
		return nil, false
	}
	raw, err := json.Marshal(v)
	return raw, err == nil && raw[0] != '{' && raw[0] != '['
}

// permissions says what the tool may do now that it might not before, by its
// effective annotations, or "".
func permissions(was, is mcp.ToolAnnotations) string {
	open := func(b *bool) bool { return b == nil || *b }
	switch {
	case was.ReadOnlyHint && !is.ReadOnlyHint:
		return "the tool no longer only reads"
	case !open(was.DestructiveHint) && open(is.DestructiveHint):
		return "the tool may destroy now"
	case !open(was.OpenWorldHint) && open(is.OpenWorldHint):
		return "the tool reaches further now"
	}
	return ""
}
