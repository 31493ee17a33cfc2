package drift

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Profile is how strictly a server is read. The zero value is the usual one.
type Profile string

const (
	// Strict asks a person where an open object starts to type a key.
	Strict Profile = "strict"
	// DefaultsApplied is for servers known to apply their defaults: a changed one breaks.
	DefaultsApplied Profile = "defaults-applied"
)

// Options tune a comparison. The zero value is the usual profile and limits.
type Options struct {
	Profile   Profile
	Limits    Limits
	Transport string // "stdio", "http" or "" for unknown
	Protocol  string // the MCP revision spoken, a date; "" for unknown
	Root      string // where the paths of DiffSchemas start; "" is "schema"
}

// Diff compares two snapshots. It does no I/O, uses no clock, and its answer
// depends on its arguments only. What it cannot prove it calls NeedsHuman.
// Both snapshots are only read; concurrent calls are fine.
func Diff(old, new *Snapshot, opt Options) Report {
	opt.Limits = opt.Limits.withDefaults()
	d := &differ{opt: opt, total: &budget{left: opt.Limits.TotalSteps}}
	d.servers(old, new)
	d.tools(old, new)
	return finish(d.out)
}

// DiffSchemas compares two schemas alone. Paths start at opt.Root. An empty
// schema text is `true`, which accepts everything. The error matches ErrMalformed or ErrTooLarge.
func DiffSchemas(old, new json.RawMessage, side Side, opt Options) (Report, error) {
	opt.Limits = opt.Limits.withDefaults()
	var raw [2]any
	for i, text := range []json.RawMessage{old, new} {
		if len(text) == 0 {
			raw[i] = true
			continue
		}
		v, err := decode(text)
		if err != nil {
			return Report{}, fmt.Errorf("read schema: %w", err)
		}
		raw[i] = v
	}
	d := &differ{opt: opt, total: &budget{left: opt.Limits.TotalSteps}}
	if opt.Root == "" {
		opt.Root = "schema"
	}
	d.schemas("", opt.Root, side, raw[0], raw[1], canonical(setForm(raw[0])) == canonical(setForm(raw[1])))
	return finish(d.out), nil
}

type differ struct {
	opt   Options
	total *budget
	out   []Change
}

func (d *differ) add(c Change) {
	r := ruleNamed(c.Rule)
	if c.Class == "" {
		c.Class = r.class
	}
	if c.Effect == "" {
		c.Effect = r.effect
	}
	d.out = append(d.out, c)
}

// schemas compares one side of one tool. same says that the canonical forms are equal.
func (d *differ) schemas(tool, path string, side Side, o, n any, same bool) {
	for _, ref := range externalRefs(n) {
		d.add(Change{Tool: tool, Rule: "schema-ref-external", Path: path + ref.path + ".$ref", After: ref.text, Security: true, Level: "error",
			Reason: "never fetched: what stands behind the pointer is not part of the contract and can change unseen"})
	}
	if same {
		return
	}
	if a, b := schemaURI(o), schemaURI(n); a != b {
		d.add(Change{Tool: tool, Rule: "schema-dialect-changed", Path: path + ".$schema", Before: a, After: b})
	}
	d.walk(tool, path, side, o, n)
}

func (d *differ) walk(tool, path string, side Side, o, n any) {
	od, oldErr := load(o, d.opt.Limits)
	nd, newErr := load(n, d.opt.Limits)
	if errors.Is(oldErr, errTooComplex) || errors.Is(newErr, errTooComplex) {
		d.tooComplex(tool, path)
		return
	}
	steps := &budget{left: min(d.opt.Limits.Steps, d.total.left)}
	start := steps.left
	w := &walker{side: side, tool: tool, opt: d.opt, p: newProver(steps), old: od, new: nd, active: map[pair]bool{}}
	w.run(path)
	d.total.take(start - steps.left)
	d.out = append(d.out, w.out...)
	if steps.spent() {
		d.tooComplex(tool, path)
	}
}

func (d *differ) tooComplex(tool, path string) {
	d.add(Change{Tool: tool, Rule: "schema-too-complex", Path: path,
		Reason: fmt.Sprintf("over the bounds: depth %d, %d subschemas, %d steps", d.opt.Limits.Depth, d.opt.Limits.Subschemas, d.opt.Limits.Steps)})
}

// A pointer is a $ref out of the schema and where it stands.
type pointer struct{ path, text string }

// externalRefs lists references that name another document than this schema
// and what it embeds. It looks at raw JSON: most schemas have none.
func externalRefs(v any) []pointer {
	var refs []pointer
	ids := map[string]bool{}
	collectRefs(v, "", &refs, ids)
	var out []pointer
	for _, r := range refs {
		uri := r.text
		for i := range uri {
			if uri[i] == '#' {
				uri = uri[:i]
				break
			}
		}
		if uri != "" && !ids[uri] {
			out = append(out, r)
		}
	}
	return out
}

func collectRefs(v any, path string, refs *[]pointer, ids map[string]bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if id, ok := m["$id"].(string); ok {
		ids[trimHash(id)] = true
	}
	for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if text, ok := m[k].(string); ok {
			*refs = append(*refs, pointer{path, text})
		}
	}
	for _, k := range sortedKeys(m) {
		switch h := keywordHolds(k); h {
		case holdsSchema, holdsSchemas:
			if list, ok := m[k].([]any); ok {
				for i, e := range list {
					collectRefs(e, path+"."+k+"."+itoa(i), refs, ids)
				}
				continue
			}
			collectRefs(m[k], path+"."+k, refs, ids)
		case holdsSchemaMap:
			named, _ := m[k].(map[string]any)
			for _, name := range sortedKeys(named) {
				collectRefs(named[name], path+"."+k+"."+name, refs, ids)
			}
		}
	}
}
