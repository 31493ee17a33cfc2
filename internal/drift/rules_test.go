package drift_test

import (
	"encoding/json"
	"slices"
	"testing"

	"executor/internal/drift"
)

// one row: what changed, the rule that must be found, where, and its class.
type row struct {
	side     drift.Side
	old, new string
	rule     string
	path     string // without the leading "schema"
	class    drift.Class
	verdict  drift.Class
}

const (
	in, out = drift.Input, drift.Output
	c, h, b = drift.Compatible, drift.NeedsHuman, drift.Breaking
)

func obj(props, rest string) string {
	return `{"type":"object","properties":{` + props + `}` + rest + `,"additionalProperties":false}`
}

func schemaRows() []row {
	return []row{
		{in, obj(`"a":{}`, ``), obj(`"a":{}`, `,"required":["a"]`), "in-required-added", ".required", b, b},
		{in, obj(`"a":{}`, `,"required":["a"]`), obj(`"a":{}`, ``), "in-required-removed", ".required", c, c},
		{in, obj(`"a":{"type":"string"}`, ``), obj(``, ``), "in-prop-removed", ".properties.a", b, b},
		{in, `{"properties":{"a":{"type":"string"}}}`, `{}`, "in-prop-removed", ".properties.a", b, b},
		{in, obj(`"a":{}`, ``), obj(`"a":{},"x":{"type":"string"}`, ``), "in-prop-added-optional", ".properties.x", c, c},
		{in, `{"type":"object"}`, `{"type":"object","properties":{"x":{"type":"string"}}}`, "in-prop-added-optional", ".properties.x", c, c},
		{in, `{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":{"type":"integer"},"properties":{"x":{"type":"string"}}}`, "in-prop-added-optional", ".properties.x", h, h},
		{in, obj(`"a":{}`, ``), obj(`"a":{},"target_host":{"type":"string"}`, ``), "auth-field-added", ".properties.target_host", h, h},
		{in, obj(`"env":{"const":"dev"}`, ``), obj(`"env":{"enum":["dev","prod"]}`, ``), "auth-target-widened", ".properties.env", h, h},
		{in, obj(`"confirm":{"enum":[true]}`, ``), obj(`"confirm":{"type":"boolean"}`, ``), "auth-target-widened", ".properties.confirm", h, h},
		{in, obj(`"item_id":{"type":"string"}`, ``), obj(`"itemId":{"type":"string"}`, ``), "in-prop-rename-suspected", ".properties", h, b},
		{in, `{"type":["string","null"]}`, `{"type":"string"}`, "in-type-narrowed", ".type", b, b},
		{in, `{"type":"number"}`, `{"type":"integer"}`, "in-type-narrowed", ".type", b, b},
		{in, `{"type":"string"}`, `{"type":"integer"}`, "in-type-changed", ".type", b, b},
		{in, `{"type":"string"}`, `{"type":["string","null"]}`, "in-type-widened", ".type", c, h},
		{in, `{"type":"string"}`, `{"type":["string","null"]}`, "host-type-array-added", ".type", h, h},
		{in, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":"string"}`, "in-type-narrowed", "", b, b},
		{in, `{"anyOf":[{"type":"string","maxLength":5},{"type":"null"}]}`, `{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}`, "in-length-tightened", ".anyOf.0.maxLength", b, b},
		{in, `{"enum":["a","b"]}`, `{"enum":["a"]}`, "in-enum-value-removed", ".enum", b, b},
		{in, `{"const":"a"}`, `{"enum":["a","b"]}`, "in-enum-value-added", ".enum", c, c},
		{in, `{"type":"string"}`, `{"type":"string","enum":["a"]}`, "in-enum-constraint-added", ".enum", b, b},
		{in, `{"type":"boolean"}`, `{"type":"boolean","enum":[true,false]}`, "in-enum-constraint-added", ".enum", c, c},
		{in, `{"type":"string","enum":["a"]}`, `{"type":"string"}`, "in-enum-constraint-removed", ".enum", c, c},
		{in, `{"type":"integer","minimum":1}`, `{"type":"integer","minimum":2}`, "in-range-tightened", ".minimum", b, b},
		{in, `{"type":"number","maximum":5}`, `{"type":"number","exclusiveMaximum":5}`, "in-range-tightened", ".exclusiveMaximum", b, b},
		{in, `{"type":"integer","exclusiveMinimum":0}`, `{"type":"integer","minimum":1}`, "schema-equivalent-rewrite", "", c, c},
		{in, `{"type":"number","exclusiveMaximum":5}`, `{"type":"number","maximum":5}`, "in-range-relaxed", ".maximum", c, c},
		{in, `{"type":"number","minimum":5}`, `{"type":"number","minimum":5,"not":{"maximum":5}}`, "in-not-added", ".not", b, b},
		{in, `{"type":"number","minimum":5}`, `{"type":"number","minimum":5,"not":{"exclusiveMaximum":5}}`, "schema-equivalent-rewrite", "", c, h},
		{in, `{"type":"number","maximum":5}`, `{"type":"number"}`, "in-range-relaxed", ".maximum", c, c},
		{in, `{"type":"string","minLength":1}`, `{"type":"string"}`, "in-length-relaxed", ".minLength", c, c},
		{in, `{"type":"array","items":{},"maxItems":5}`, `{"type":"array","items":{},"maxItems":4}`, "in-items-count-tightened", ".maxItems", b, b},
		{in, `{"type":"array","items":{},"minItems":2}`, `{"type":"array","items":{},"minItems":1}`, "in-items-count-relaxed", ".minItems", c, c},
		{in, `{"type":"object","maxProperties":5}`, `{"type":"object","maxProperties":4}`, "in-props-count-tightened", ".maxProperties", b, b},
		{in, `{"type":"object","minProperties":5}`, `{"type":"object","minProperties":4}`, "in-props-count-relaxed", ".minProperties", c, c},
		{in, `{"type":"number","multipleOf":4}`, `{"type":"number","multipleOf":2}`, "in-multiple-of", ".multipleOf", c, c},
		{in, `{"type":"number","multipleOf":2}`, `{"type":"number","multipleOf":4}`, "in-multiple-of", ".multipleOf", b, b},
		{in, `{"type":"number"}`, `{"type":"number","multipleOf":4}`, "in-multiple-of", ".multipleOf", b, b},
		{in, `{"type":"number","multipleOf":4}`, `{"type":"number"}`, "in-multiple-of", ".multipleOf", c, c},
		{in, `{"type":"string"}`, `{"type":"string","pattern":"^a"}`, "in-pattern-added", ".pattern", b, b},
		{in, `{"type":"string","pattern":"^a"}`, `{"type":"string"}`, "in-pattern-removed", ".pattern", c, c},
		{in, `{"type":"string","pattern":"^a"}`, `{"type":"string","pattern":"^b"}`, "in-pattern-changed", ".pattern", h, h},
		{in, `{"type":"string"}`, `{"type":"string","format":"date"}`, "in-format-added", ".format", h, h},
		{in, `{"type":"string","format":"date"}`, `{"type":"string","format":"uuid"}`, "in-format-changed", ".format", h, h},
		{in, `{"type":"string","format":"date"}`, `{"type":"string"}`, "in-format-removed", ".format", c, c},
		{in, `{"type":"string"}`, `{"type":"string","contentEncoding":"base64"}`, "in-content-changed", ".contentEncoding", h, h},
		{in, `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, "in-additional-closed", ".additionalProperties", b, b},
		{in, `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":{"type":"string"}}`, "in-additional-opened", ".additionalProperties", c, c},
		{in, `{"type":"object","additionalProperties":{"type":"number"}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`, "in-type-narrowed", ".additionalProperties.type", b, b},
		{in, `{"type":"object"}`, `{"type":"object","patternProperties":{"^x":{"type":"string"}}}`, "in-pattern-properties-added", ".patternProperties.^x", b, b},
		{in, obj(``, ``), obj(``, `,"patternProperties":{"^x":{"type":"string"}}`), "in-pattern-properties-added", ".patternProperties.^x", c, c},
		{in, obj(``, `,"patternProperties":{"^x":{}}`), obj(``, ``), "in-pattern-properties-removed", ".patternProperties.^x", b, b},
		{in, `{"patternProperties":{"^x":{"type":"string"}}}`, `{}`, "in-pattern-properties-removed", ".patternProperties.^x", c, c},
		{in, `{"type":"object"}`, `{"type":"object","propertyNames":{"maxLength":3}}`, "in-property-names-added", ".propertyNames", b, b},
		{in, `{"type":"object","propertyNames":{"maxLength":3}}`, `{"type":"object","propertyNames":{"maxLength":2}}`, "in-property-names-tightened", ".propertyNames", b, b},
		{in, `{"type":"object","propertyNames":{"maxLength":3}}`, `{"type":"object","propertyNames":{"minLength":3}}`, "in-property-names-changed", ".propertyNames", h, h},
		{in, `{"type":"object","propertyNames":{"maxLength":3}}`, `{"type":"object"}`, "in-property-names-removed", ".propertyNames", c, c},
		{in, obj(`"a":{},"b":{}`, ``), obj(`"a":{},"b":{}`, `,"dependentRequired":{"a":["b"]}`), "in-dependent-required-added", ".dependentRequired.a", b, b},
		{in, obj(`"a":{},"b":{}`, `,"dependentRequired":{"a":["b"]}`), obj(`"a":{},"b":{}`, ``), "in-dependent-required-removed", ".dependentRequired.a", c, c},
		{in, obj(`"a":{},"b":{}`, `,"required":["b"]`), obj(`"a":{},"b":{}`, `,"required":["b"],"dependentRequired":{"a":["b"]}`), "in-dependent-required-added", ".dependentRequired.a", c, c},
		{in, obj(`"a":{},"b":{}`, ``), obj(`"a":{},"b":{}`, `,"dependentSchemas":{"a":{"required":["b"]}}`), "in-dependent-schemas-added", ".dependentSchemas.a", b, b},
		{in, `{"type":"object"}`, `{"type":"object","unevaluatedProperties":false}`, "in-unevaluated-properties-added", ".unevaluatedProperties", b, b},
		{in, `{"type":"array","items":{}}`, `{"type":"array","items":{},"uniqueItems":true}`, "in-unique-items-required", ".uniqueItems", b, b},
		{in, `{"type":"array","items":{},"uniqueItems":true}`, `{"type":"array","items":{}}`, "in-unique-items-dropped", ".uniqueItems", c, c},
		{in, `{"type":"array","items":{"type":"number"}}`, `{"type":"array","items":{"type":"integer"}}`, "in-type-narrowed", ".items.type", b, b},
		{in, `{"type":"array","prefixItems":[{}]}`, `{"type":"array","prefixItems":[{},{"type":"string"}]}`, "in-prefix-items-longer", ".prefixItems", b, b},
		{in, `{"type":"array","prefixItems":[{},{"type":"string"}]}`, `{"type":"array","prefixItems":[{}]}`, "in-prefix-items-shorter", ".prefixItems", c, c},
		{in, `{"type":"array","items":{}}`, `{"type":"array","items":{},"contains":{"const":1}}`, "in-contains-added", ".contains", b, b},
		{in, `{"type":"object","allOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","allOf":[{"required":["a"]},{"required":["b"]},{"not":{"required":["c"]}}]}`, "in-not-added", ".not", b, b},
		{in, `{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"allOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, "in-allof-branch-added", ".allOf", b, b},
		{in, `{"allOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, `{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`, "in-allof-branch-removed", ".allOf", c, c},
		{in, `{"anyOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"anyOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, "in-anyof-branch-added", ".anyOf", c, c},
		{in, `{"anyOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"anyOf":[{"pattern":"a"}]}`, "in-anyof-branch-removed", ".anyOf", b, b},
		{in, `{"anyOf":[{"type":"integer","minimum":1},{"type":"integer","minimum":5},{"type":"string"}]}`, `{"anyOf":[{"type":"integer","minimum":1},{"type":"string"}]}`, "schema-equivalent-rewrite", "", c, c},
		{in, `{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"oneOf":[{"required":["a"]},{"required":["b"]},{"required":["c"]}]}`, "in-oneof-branch-added", ".oneOf", h, h},
		{in, `{"oneOf":[{"type":"string"},{"type":"array","items":{}},{"required":["x"],"type":"object"},{"required":["y"],"type":"object"}]}`, `{"oneOf":[{"type":"string"},{"type":"array","items":{}},{"required":["x"],"type":"object"}]}`, "in-oneof-branch-removed", ".oneOf", b, b},
		{in, `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"integer"}]}`, "in-oneof-branch-added", ".oneOf", h, h},
		{in, `{"enum":["a"]}`, `{"enum":["a"],"not":{"const":"a"}}`, "in-not-added", ".not", b, b},
		{in, `{"type":"object"}`, `{"type":"object","not":{"required":["a"]}}`, "in-not-added", ".not", b, b},
		{in, `{"type":"object","not":{"required":["a"]}}`, `{"type":"object"}`, "in-not-removed", ".not", c, c},
		{in, `{"type":"object","not":{"required":["a"]}}`, `{"type":"object","not":{"required":["b"]}}`, "in-not-changed", ".not", h, h},
		{in, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, `{"type":"object"}`, "in-conditional-removed", ".then.required", c, c},
		{in, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, `{"type":"object","if":{"required":["a"]},"then":{"required":["c"]}}`, "in-conditional-changed", ".then.required", h, h},
		{in, obj(`"a":{"type":"string"}`, ``), obj(`"a":{"type":"string","default":"x"}`, ``), "in-default-added", ".properties.a.default", h, h},
		{in, obj(`"a":{"default":"x"}`, ``), obj(`"a":{}`, ``), "in-default-removed", ".properties.a.default", h, h},
		{in, obj(`"a":{"default":1}`, `,"required":["a"]`), obj(`"a":{"default":2}`, `,"required":["a"]`), "in-default-changed", ".properties.a.default", c, c},
		{in, obj(`"a":{"description":"x"}`, ``), obj(`"a":{"description":"y"}`, ``), "in-description-changed", ".properties.a.description", h, h},
		{in, obj(`"a":{}`, ``), obj(`"a":{"deprecated":true}`, ``), "in-deprecated-set", ".properties.a.deprecated", c, c},
		{in, obj(`"a":{"deprecated":true}`, ``), obj(`"a":{}`, ``), "in-deprecated-unset", ".properties.a.deprecated", c, c},
		{in, obj(`"a":{}`, ``), obj(`"a":{"examples":[1]}`, ``), "in-examples-changed", ".properties.a.examples", c, c},
		{in, obj(`"a":{}`, ``), obj(`"a":{"readOnly":true}`, ``), "in-read-only-changed", ".properties.a.readOnly", h, h},
		{in, obj(`"a":{}`, ``), obj(`"a":{"writeOnly":true}`, ``), "in-write-only-changed", ".properties.a.writeOnly", h, h},
		{in, obj(`"a":{}`, ``), obj(`"a":{"x-mcp-header":"A"}`, ``), "in-mcp-header-added", ".properties.a.x-mcp-header", b, b},
		{in, obj(`"a":{"x-mcp-header":"A"}`, ``), obj(`"a":{"x-mcp-header":"B"}`, ``), "in-mcp-header-renamed", ".properties.a.x-mcp-header", b, b},
		{in, obj(`"a":{"x-mcp-header":"A"}`, ``), obj(`"a":{}`, ``), "in-mcp-header-removed", ".properties.a.x-mcp-header", b, b},
		{in, obj(`"a":{}`, ``), obj(`"a":{"x-kind":"A"}`, ``), "schema-unknown-keyword-changed", ".properties.a.x-kind", h, h},
		{in, `{"type":"object"}`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, "schema-dialect-changed", ".$schema", h, h},
		{in, obj(`"a":{}`, ``), obj(`"a":{"$ref":"https://example.com/a.json"}`, ``), "schema-ref-external", ".properties.a.$ref", h, h},
		{in, obj(`"a":{"$ref":"https://example.com/a.json"}`, ``), obj(`"a":{"$ref":"https://example.com/a.json"}`, ``), "schema-ref-external", ".properties.a.$ref", h, h},
		{in, obj(`"a":{}`, ``), obj(`"a":{"$ref":"#/$defs/none"}`, ``), "schema-ref-unresolved", ".properties.a.$ref", h, h},
		{in, obj(`"a":{}`, ``), obj(`"a":{"type":"array"}`, ``), "host-array-without-items", ".properties.a", h, b},
		{in, obj(`"a":{"type":"string"}`, ``), obj(`"a":{"type":"string"},"é":{}`, ``), "host-name-charset", ".properties.é", h, h},
		{in, obj(`"a":{"type":"string"}`, ``), obj(`"a":{"$ref":"#/$defs/s"}`, `,"$defs":{"s":{"type":"string"}}`), "host-ref-added", ".properties.a.$ref", h, h},
		{in, obj(`"a":{"type":"string"}`, ``), obj(`"a":{"type":"string"}`, `,"anyOf":[{"required":["a"]},{}]`), "host-root-combinator-added", ".anyOf", h, h},
		{in, `{"type":"object"}`, `{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]}`, "in-composition-added", ".anyOf", b, b},
		{in, obj(`"a":{}`, ``), obj(`"a":{}`, `,"anyOf":[{"maxProperties":0},{"required":["z"]}]`), "in-composition-added", ".anyOf", b, b},
		{in, obj(`"a":{}`, ``), obj(`"a":{}`, `,"anyOf":[{"maxProperties":1},{"required":["z"]}]`), "schema-equivalent-rewrite", "", c, h},
		// A claim must not prove itself without going into the instance.
		{in, `{"type":"string"}`, `{"type":"string","anyOf":[{"$ref":"#"},{"minLength":5}]}`, "in-composition-added", ".anyOf", b, b},
		{in, `{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object"}`, "in-composition-removed", ".oneOf", c, c},
		{in, `{"type":"object"}`, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, "in-conditional-added", ".else.required", b, b},
		{in, `{"type":"object","if":{"required":["a"]},"then":{"required":["b","c"]}}`, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, "in-conditional-relaxed", ".then.required", c, c},
		{in, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, `{"type":"object","if":{"required":["a"]},"then":{"required":["b","c"]}}`, "in-conditional-tightened", ".then.required", b, b},
		{in, `{"type":"array","items":{},"contains":{"const":1}}`, `{"type":"array","items":{},"contains":{"const":2}}`, "in-contains-changed", ".contains", h, h},
		{in, `{"type":"array","items":{},"contains":{"const":1}}`, `{"type":"array","items":{},"contains":{"enum":[1,2]}}`, "in-contains-relaxed", ".contains", c, c},
		{in, `{"type":"array","items":{},"contains":{"enum":[1,2]}}`, `{"type":"array","items":{},"contains":{"const":1}}`, "in-contains-tightened", ".contains", b, b},
		{in, `{"type":"array","items":{},"contains":{"enum":[1,2]}}`, `{"type":"array","items":{}}`, "in-contains-removed", ".contains", c, c},
		{in, `{"dependentRequired":{"a":["b"]}}`, `{"dependentRequired":{"a":["c"]}}`, "in-dependent-required-changed", ".dependentRequired.a", h, h},
		{in, `{"dependentRequired":{"a":["b","c"]}}`, `{"dependentRequired":{"a":["c"]}}`, "in-dependent-required-relaxed", ".dependentRequired.a", c, c},
		{in, `{"dependentRequired":{"a":["c"]}}`, `{"dependentRequired":{"a":["b","c"]}}`, "in-dependent-required-tightened", ".dependentRequired.a", b, b},
		{in, `{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"dependentSchemas":{"a":{"required":["c"]}}}`, "in-dependent-schemas-changed", ".dependentSchemas.a", h, h},
		{in, `{"dependentSchemas":{"a":{"required":["b","c"]}}}`, `{"dependentSchemas":{"a":{"required":["c"]}}}`, "in-dependent-schemas-relaxed", ".dependentSchemas.a", c, c},
		{in, `{"dependentSchemas":{"a":{"required":["c"]}}}`, `{"dependentSchemas":{"a":{"required":["b","c"]}}}`, "in-dependent-schemas-tightened", ".dependentSchemas.a", b, b},
		{in, `{"dependentSchemas":{"a":{"required":["c"]}}}`, `{}`, "in-dependent-schemas-removed", ".dependentSchemas.a", c, c},
		{in, `{"not":{"required":["a"]}}`, `{"not":{"required":["a","b"]}}`, "in-not-relaxed", ".not", c, c},
		{in, `{"type":"object","not":{"required":["a","b"]}}`, `{"type":"object","not":{"required":["a"]}}`, "in-not-tightened", ".not", b, b},
		{in, `{"propertyNames":{"maxLength":2}}`, `{"propertyNames":{"maxLength":3}}`, "in-property-names-relaxed", ".propertyNames", c, c},
		{in, `{"oneOf":[{"title":"A","type":"string","maxLength":5},{"title":"B","type":"string","minLength":6}]}`, `{"oneOf":[{"title":"A","type":"string","maxLength":6},{"title":"B","type":"string","minLength":6}]}`, "in-subset-unproven", "", h, h},
		{in, `{"type":"array","items":{}}`, `{"type":"array","unevaluatedItems":false}`, "in-unevaluated-items-added", ".unevaluatedItems", b, b},
		{in, `{"type":"array","prefixItems":[{}],"unevaluatedItems":false}`, `{"type":"array","prefixItems":[{}]}`, "in-unevaluated-items-removed", ".unevaluatedItems", c, c},
		{in, `{"type":"array","prefixItems":[{}],"unevaluatedItems":false}`, `{"type":"array","prefixItems":[{}],"unevaluatedItems":{"type":"string"}}`, "in-unevaluated-items-changed", ".unevaluatedItems", h, h},
		{in, `{"type":"object","unevaluatedProperties":false}`, `{"type":"object"}`, "in-unevaluated-properties-removed", ".unevaluatedProperties", c, c},
		{in, `{"type":"object","unevaluatedProperties":false}`, `{"type":"object","unevaluatedProperties":{"type":"string"}}`, "in-unevaluated-properties-changed", ".unevaluatedProperties", h, h},

		{out, obj(`"a":{}`, `,"required":["a"]`), obj(``, ``), "out-prop-removed", ".properties.a", b, b},
		{out, obj(`"a":{}`, ``), obj(``, ``), "out-prop-removed", ".properties.a", h, h},
		{out, `{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, "out-prop-added", ".properties.a", c, c},
		{out, obj(``, ``), obj(`"a":{}`, ``), "out-prop-added-closed", ".properties.a", b, b},
		{out, obj(`"a":{}`, `,"required":["a"]`), obj(`"a":{}`, ``), "out-required-removed", ".required", b, b},
		{out, obj(`"a":{}`, ``), obj(`"a":{}`, `,"required":["a"]`), "out-required-added", ".required", c, c},
		{out, `{"type":"integer"}`, `{"type":"number"}`, "out-type-widened", ".type", b, b},
		{out, `{"type":"number"}`, `{"type":"integer"}`, "out-type-narrowed", ".type", c, c},
		{out, `{"type":"string"}`, `{"type":"object"}`, "out-root-type-changed", "", b, b},
		{out, `{"enum":["a"]}`, `{"enum":["a","b"]}`, "out-enum-value-added", ".enum", b, b},
		{out, `{"enum":["a","b"]}`, `{"enum":["a"]}`, "out-enum-value-removed", ".enum", c, c},
		{out, `{"type":"string","enum":["a"]}`, `{"type":"string"}`, "out-enum-constraint-removed", ".enum", b, b},
		{out, `{"type":"string"}`, `{"type":"string","enum":["a"]}`, "out-enum-constraint-added", ".enum", c, c},
		{out, `{"type":"integer","maximum":5}`, `{"type":"integer","maximum":6}`, "out-range-relaxed", ".maximum", b, b},
		{out, `{"type":"integer","maximum":6}`, `{"type":"integer","maximum":5}`, "out-range-tightened", ".maximum", c, c},
		{out, `{"type":"string","maxLength":5}`, `{"type":"string"}`, "out-length-relaxed", ".maxLength", b, b},
		{out, `{"type":"string"}`, `{"type":"string","minLength":1}`, "out-length-tightened", ".minLength", c, c},
		{out, `{"type":"array","items":{},"maxItems":5}`, `{"type":"array","items":{}}`, "out-items-count-relaxed", ".maxItems", b, b},
		{out, `{"type":"array","items":{}}`, `{"type":"array","items":{},"maxItems":5}`, "out-items-count-tightened", ".maxItems", c, c},
		{out, `{"type":"object","maxProperties":5}`, `{"type":"object","maxProperties":6}`, "out-props-count-relaxed", ".maxProperties", b, b},
		{out, `{"type":"object","maxProperties":5}`, `{"type":"object","maxProperties":4}`, "out-props-count-tightened", ".maxProperties", c, c},
		{out, `{"type":"number","multipleOf":2}`, `{"type":"number","multipleOf":4}`, "out-multiple-of", ".multipleOf", c, c},
		{out, `{"type":"number","multipleOf":4}`, `{"type":"number"}`, "out-multiple-of", ".multipleOf", b, b},
		{out, `{"type":"string","pattern":"a"}`, `{"type":"string"}`, "out-pattern-removed", ".pattern", b, b},
		{out, `{"type":"string"}`, `{"type":"string","pattern":"a"}`, "out-pattern-added", ".pattern", c, c},
		{out, `{"type":"string","pattern":"b"}`, `{"type":"string","pattern":"a"}`, "out-pattern-changed", ".pattern", h, h},
		{out, `{"type":"string","format":"date"}`, `{"type":"string"}`, "out-format-removed", ".format", h, h},
		{out, `{"type":"string","format":"date"}`, `{"type":"string","format":"uri"}`, "out-format-changed", ".format", h, h},
		{out, `{"type":"string"}`, `{"type":"string","format":"uri"}`, "out-format-added", ".format", c, c},
		{out, `{"type":"string"}`, `{"type":"string","contentMediaType":"text/html"}`, "out-content-changed", ".contentMediaType", h, h},
		{out, obj(``, ``), `{"type":"object","properties":{}}`, "out-additional-opened", ".additionalProperties", b, b},
		{out, `{"type":"object","properties":{"error":{}}}`, obj(`"error":{}`, ``), "out-additional-closed", ".additionalProperties", c, c},
		{out, `{"anyOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"anyOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, "out-anyof-branch-added", ".anyOf", b, b},
		{out, `{"anyOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, `{"anyOf":[{"pattern":"a"},{"pattern":"b"}]}`, "out-anyof-branch-removed", ".anyOf", c, c},
		{out, `{"oneOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, `{"oneOf":[{"pattern":"a"},{"pattern":"b"}]}`, "out-oneof-branch-removed", ".oneOf", h, h},
		{out, `{"oneOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"oneOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, "out-oneof-branch-added", ".oneOf", b, b},
		{out, `{"allOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, `{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`, "out-allof-branch-removed", ".allOf", b, b},
		{out, `{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`, `{"allOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"c"}]}`, "out-allof-branch-added", ".allOf", c, c},
		{out, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, `{"type":"object"}`, "out-conditional-removed", ".then.required", b, b},
		{out, `{"type":"object"}`, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, "out-conditional-added", ".then.required", c, c},
		{out, obj(`"a":{"description":"in ms"}`, ``), obj(`"a":{"description":"in s"}`, ``), "out-description-changed", ".properties.a.description", h, h},
		{out, obj(`"a":{"default":1}`, ``), obj(`"a":{"default":2}`, ``), "out-default-changed", ".properties.a.default", h, h},
		{out, `{"type":"array","items":{},"uniqueItems":true}`, `{"type":"array","items":{}}`, "out-unique-items-dropped", ".uniqueItems", b, b},
		{out, `{"type":"array","items":{}}`, `{"type":"array","items":{},"uniqueItems":true}`, "out-unique-items-required", ".uniqueItems", c, c},
		{out, `{"anyOf":[{"type":"object","required":["ok"]},{"type":"object","properties":{"error":{}},"required":["error"]}]}`, `{"type":"object","required":["ok"]}`, "out-error-envelope-missing", "", h, h},
	}
}

// TestRules holds each rule to its direction, its place and its class.
func TestRules(t *testing.T) {
	for _, r := range schemaRows() {
		t.Run(r.rule, func(t *testing.T) {
			report, err := drift.DiffSchemas(json.RawMessage(r.old), json.RawMessage(r.new), r.side, drift.Options{})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, report, r.rule, "schema"+r.path, r.class)
			if report.Verdict != r.verdict {
				t.Errorf("verdict %s, want %s: %+v", report.Verdict, r.verdict, report.Changes)
			}
		})
	}
}

func expect(t *testing.T, report drift.Report, rule, path string, class drift.Class) {
	t.Helper()
	if !slices.ContainsFunc(report.Changes, func(c drift.Change) bool { return c.Rule == rule && c.Path == path && c.Class == class }) {
		t.Errorf("no %s (%s) at %s", rule, class, path)
		for _, c := range report.Changes {
			t.Logf("found %s (%s) at %s %s", c.Rule, c.Class, c.Path, c.Reason)
		}
	}
	for _, c := range report.Changes {
		if !slices.Contains(drift.Rules(), c.Rule) {
			t.Errorf("%s is not in Rules()", c.Rule)
		}
	}
}
