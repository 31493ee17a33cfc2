package drift

import (
	"encoding/json"
	"slices"
	"strings"
)

// text compares one field of a tool as it stands.
func (d *differ) text(a, b *Tool, field, id string) {
	before, had := a.fields[field]
	after, has := b.fields[field]
	if had != has || canonical(before) != canonical(after) {
		d.add(Change{Tool: a.Name, Rule: id, Path: a.Name + "." + field, Before: before, After: after})
	}
}

// meta compares _meta without declared revisions, and fields that no rule names.
func (d *differ) meta(a, b *Tool) {
	before, after := withoutRevision(a.fields["_meta"]), withoutRevision(b.fields["_meta"])
	if canonical(before) != canonical(after) {
		d.add(Change{Tool: a.Name, Rule: "tool-meta-changed", Path: a.Name + "._meta", Before: before, After: after})
	}
	known := []string{"name", "title", "description", "icons", "_meta", "execution", "annotations", "inputSchema", "outputSchema"}
	for _, k := range sortedKeys(joined(a.fields, b.fields)) {
		if !slices.Contains(known, k) {
			d.text(a, b, k, "tool-meta-changed")
		}
	}
}

func withoutRevision(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]any{}
	for k, e := range m {
		if !revisionKey(k) {
			out[k] = e
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// revisionKey knows executor/contract and the same label under other prefixes.
func revisionKey(k string) bool {
	return strings.HasSuffix(k, "/contract") || strings.HasSuffix(k, "/revision") || k == "revision"
}

// declaredRevision is the whole number a tool says its contract has.
func declaredRevision(t *Tool) (int64, bool) {
	meta, _ := t.fields["_meta"].(map[string]any)
	for _, k := range sortedKeys(meta) {
		if !revisionKey(k) {
			continue
		}
		v := meta[k]
		if m, ok := v.(map[string]any); ok {
			v = m["revision"]
		}
		if n, ok := v.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				return i, true
			}
		}
	}
	return 0, false
}

// revisions holds the declared number against what changed.
func (d *differ) revisions(a, b *Tool, changes []Change) {
	from, had := declaredRevision(a)
	to, has := declaredRevision(b)
	if !had || !has {
		if had != has {
			d.add(Change{Tool: a.Name, Rule: "tool-meta-changed", Path: a.Name + "._meta", Reason: "a declared revision came or went"})
		}
		return
	}
	c := Change{Tool: a.Name, Path: a.Name + "._meta", Before: from, After: to}
	switch {
	case to < from:
		c.Rule = "revision-went-back"
	case to == from && a.ContractHash() != b.ContractHash() && !onlyRewritten(changes):
		c.Rule = "revision-not-bumped"
	case to > from && len(changes) == 0:
		c.Rule = "revision-bumped-without-change"
	default:
		return
	}
	d.add(c)
}

func onlyRewritten(changes []Change) bool {
	return len(changes) > 0 && !slices.ContainsFunc(changes, func(c Change) bool { return c.Rule != "schema-equivalent-rewrite" })
}

func (d *differ) taskSupport(a, b *Tool) {
	before, after := field(a, "execution", "taskSupport"), field(b, "execution", "taskSupport")
	if canonical(before) != canonical(after) {
		c := Change{Tool: a.Name, Rule: "tool-task-support-changed", Path: a.Name + ".execution.taskSupport", Before: before, After: after}
		if after == "required" {
			c.Class, c.Effect = Breaking, effRefused
		}
		d.add(c)
		return
	}
	d.rest(a, b, "execution", "taskSupport")
}

// rest reports fields beside the known ones of an object.
func (d *differ) rest(a, b *Tool, object string, known ...string) {
	before, _ := a.fields[object].(map[string]any)
	after, _ := b.fields[object].(map[string]any)
	for _, k := range sortedKeys(joined(before, after)) {
		if !slices.Contains(known, k) && canonical(before[k]) != canonical(after[k]) {
			d.add(Change{Tool: a.Name, Rule: "tool-meta-changed", Path: a.Name + "." + object + "." + k, Before: before[k], After: after[k]})
		}
	}
}

func field(t *Tool, object, k string) any {
	m, _ := t.fields[object].(map[string]any)
	return m[k]
}

// A hint is an annotation with the specification's default and what its two
// directions mean to whoever approved calls under it.
type hint struct {
	name           string
	absent         bool
	toTrue, toFals string
}

func hints() []hint {
	return []hint{
		{"readOnlyHint", false, "ann-readonly-claimed", "ann-readonly-lost"},
		{"destructiveHint", true, "ann-destructive-raised", "ann-destructive-lowered"},
		{"idempotentHint", false, "ann-idempotent-claimed", "ann-idempotent-lost"},
		{"openWorldHint", true, "ann-openworld-raised", "ann-openworld-lowered"},
	}
}

func (d *differ) annotations(a, b *Tool) {
	known := []string{"title"}
	for _, h := range hints() {
		known = append(known, h.name)
		before, after := h.effective(a), h.effective(b)
		if before == after {
			continue
		}
		id := h.toFals
		if after {
			id = h.toTrue
		}
		d.add(Change{Tool: a.Name, Rule: id, Path: a.Name + ".annotations." + h.name, Before: field(a, "annotations", h.name),
			After: field(b, "annotations", h.name), Effective: &Effective{before, after}})
	}
	if before, after := field(a, "annotations", "title"), field(b, "annotations", "title"); canonical(before) != canonical(after) {
		d.add(Change{Tool: a.Name, Rule: "ann-title-changed", Path: a.Name + ".annotations.title", Before: before, After: after})
	}
	d.rest(a, b, "annotations", known...)
}

func (h hint) effective(t *Tool) bool {
	if v, ok := field(t, "annotations", h.name).(bool); ok {
		return v
	}
	return h.absent
}
