package drift

import "slices"

// Rules lists every rule id that a report can hold, sorted. Ids are stable:
// people put them in files of overrides.
func Rules() []string {
	var out []string
	for id := range wholeRules {
		out = append(out, id)
	}
	out = append(out, "sec-hidden-unicode", "sec-ansi-escape", "sec-instruction-phrase", "sec-new-url", "sec-homoglyph-name",
		"auth-field-added", "auth-target-widened", "out-error-envelope-missing",
		"host-root-combinator-added", "host-type-array-added", "host-ref-added", "host-array-without-items", "host-name-charset")
	out = append(out, "in-prop-added-optional", "in-mcp-header-added", "in-mcp-header-renamed", "in-mcp-header-removed",
		"in-default-added", "in-default-removed", "out-schema-added", "out-schema-removed", "out-root-type-changed",
		"out-prop-added", "out-prop-added-closed")
	for _, side := range []string{"in-", "out-"} {
		for _, id := range bothSides() {
			out = append(out, side+id)
		}
	}
	slices.Sort(out)
	return out
}

// bothSides lists the rules that the input and the output side share.
func bothSides() []string {
	out := []string{"subset-unproven", "required-added", "required-removed", "prop-removed", "prop-rename-suspected",
		"type-narrowed", "type-widened", "type-changed", "enum-value-added", "enum-value-removed",
		"enum-constraint-added", "enum-constraint-removed", "multiple-of",
		"pattern-added", "pattern-removed", "pattern-changed", "format-added", "format-removed", "format-changed", "content-changed",
		"additional-closed", "additional-opened", "unique-items-required", "unique-items-dropped",
		"prefix-items-longer", "prefix-items-shorter", "composition-added", "composition-removed",
		"anyof-branch-added", "anyof-branch-removed", "oneof-branch-added", "oneof-branch-removed",
		"allof-branch-added", "allof-branch-removed", "description-changed", "default-changed",
		"deprecated-set", "deprecated-unset", "examples-changed", "read-only-changed", "write-only-changed"}
	for _, id := range []string{"range", "length", "items-count", "props-count"} {
		out = append(out, id+"-tightened", id+"-relaxed")
	}
	out = append(out, "pattern-properties-added", "pattern-properties-removed")
	for _, id := range []string{"unevaluated-properties", "unevaluated-items"} {
		out = append(out, id+"-added", id+"-removed", id+"-changed")
	}
	for _, id := range []string{"property-names", "dependent-required", "dependent-schemas", "contains", "not", "conditional"} {
		out = append(out, id+"-added", id+"-removed", id+"-changed", id+"-tightened", id+"-relaxed")
	}
	return out
}
