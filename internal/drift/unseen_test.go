package drift_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"executor/internal/drift"
)

// sprinkle writes words into a schema at random places.
func sprinkle(t *rapid.T, v any, depth int, words ...string) any {
	m, ok := v.(map[string]any)
	if !ok || depth == 0 {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		switch k {
		case "properties", "$defs", "patternProperties", "dependentSchemas":
			named := map[string]any{}
			for name, s := range e.(map[string]any) {
				named[name] = sprinkle(t, s, depth-1, words...)
			}
			out[k] = named
		case "items", "not", "if", "then", "else", "additionalProperties", "contains":
			out[k] = sprinkle(t, e, depth-1, words...)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			var list []any
			for _, s := range e.([]any) {
				list = append(list, sprinkle(t, s, depth-1, words...))
			}
			out[k] = list
		default:
			out[k] = e
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "word?") == 0 {
		k := rapid.SampledFrom(words).Draw(t, "word")
		out[k] = fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "text"))
	}
	return out
}

// TestNothingUnseen: where the hash of a schema moved, the report is not empty.
func TestNothingUnseen(t *testing.T) {
	all := []string{"title", "description", "default"}
	property := func(t *rapid.T) {
		old := sprinkle(t, genRoot(t), 4, all...)
		next := old
		if rapid.Bool().Draw(t, "words") {
			next = sprinkle(t, next, 4, all...)
		} else {
			next = mutate(t, next, 4)
		}
		for _, field := range []string{"inputSchema", "outputSchema"} {
			a, b := listOf(t, field, old), listOf(t, field, next)
			report := drift.Diff(a, b, drift.Options{})
			if a.Hash() != b.Hash() && len(report.Changes) == 0 {
				t.Fatalf("%s moved unseen\nold %s\nnew %s", field, a.Canonical(), b.Canonical())
			}
			if a.Hash() == b.Hash() && len(report.Changes) != 0 {
				t.Fatalf("%s did not move: %+v", field, report.Changes)
			}
		}
	}
	for range 2 {
		rapid.Check(t, property)
	}
}

// TestWordsAreForPeople: where only titles and descriptions moved, a person is asked.
func TestWordsAreForPeople(t *testing.T) {
	property := func(t *rapid.T) {
		old := sprinkle(t, genRoot(t), 4, "title", "description")
		next := sprinkle(t, old, 4, "title", "description")
		for _, field := range []string{"inputSchema", "outputSchema"} {
			a, b := listOf(t, field, old), listOf(t, field, next)
			report := drift.Diff(a, b, drift.Options{})
			if a.Hash() != b.Hash() && report.Verdict != drift.NeedsHuman {
				t.Fatalf("%s: %s\nold %s\nnew %s", field, report.Verdict, a.Canonical(), b.Canonical())
			}
		}
	}
	for range 2 {
		rapid.Check(t, property)
	}
}

func listOf(t *rapid.T, field string, schema any) *drift.Snapshot {
	raw, err := json.Marshal([]any{map[string]any{"name": "t", field: schema}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := drift.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
