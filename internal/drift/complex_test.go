package drift_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"executor/internal/drift"
)

// pathological pairs: each must end, small in memory, and never as compatible.
func pathological() map[string][2]string {
	nested := func(n int, leaf string) string {
		return strings.Repeat(`{"not":`, n) + leaf + strings.Repeat(`}`, n)
	}
	wide := func(n int, typ string) string {
		var b strings.Builder
		b.WriteString(`{"type":"object","properties":{`)
		for i := range n {
			fmt.Fprintf(&b, `"p%d":{"type":"%s"},`, i, typ)
		}
		return b.String() + `"z":{}}}`
	}
	doubling := func(n int, leaf, kind string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range n {
			fmt.Fprintf(&b, `"d%d":{"%s":[{"$ref":"#/$defs/d%d","minLength":%d},{"$ref":"#/$defs/d%d","maxLength":%d}]},`, i, kind, i+1, i, i+1, i+50)
		}
		fmt.Fprintf(&b, `"d%d":%s}}`, n, leaf)
		return b.String()
	}
	groups := func(n, from int) string {
		var b strings.Builder
		b.WriteString(`{"allOf":[`)
		for i := range n {
			fmt.Fprintf(&b, `{"anyOf":[{"minimum":%d},{"required":["a%d"]},{"maxLength":%d}]},`, i+from, i, i)
		}
		return b.String() + `{}]}`
	}
	long := func(n int, first string) string { return `{"enum":["` + first + `"` + strings.Repeat(`,"v"`, n) + `]}` }
	fan := func(leaf string) string {
		branches := strings.Repeat(`{"$ref":"#"},`, 12)
		return `{"$defs":{"a":{"allOf":[` + branches + `{}]}},"anyOf":[` + branches + `{"oneOf":[` + branches + leaf + `]},{"$ref":"#/$defs/a"}]}`
	}
	ladder := func(leaf string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range 20 {
			kind := []string{"anyOf", "allOf"}[i%2]
			fmt.Fprintf(&b, `"d%d":{"%s":[%s{"$ref":"#/$defs/d%d"}]},`, i, kind, strings.Repeat(fmt.Sprintf(`{"$ref":"#/$defs/d%d"},`, i+1), 11), i+1)
		}
		return b.String() + `"d20":` + leaf + `}}`
	}
	values := func(from int) string {
		var b strings.Builder
		b.WriteString(`{"enum":[`)
		for i := range 20_000 {
			fmt.Fprintf(&b, `"v%d",`, from+i)
		}
		return b.String() + `null]}`
	}
	patterns := func(typ string) string {
		var b strings.Builder
		b.WriteString(`{"properties":{`)
		for i := range 600 {
			fmt.Fprintf(&b, `"p%d":{},`, i)
		}
		b.WriteString(`"z":{}},"patternProperties":{`)
		for i := range 600 {
			fmt.Fprintf(&b, `"^[a-z]{1,40}%d(x+)+$":{"type":"%s"},`, i, typ)
		}
		return b.String() + `"^y":{}}}`
	}
	return map[string][2]string{
		"fan":                {fan(`{"type":"string"}`), fan(`{"type":"integer"}`)},
		"ladder":             {ladder(`{"type":"string"}`), ladder(`{"type":"integer"}`)},
		"many values":        {values(0), values(1)},
		"many patterns":      {patterns("string"), patterns("integer")},
		"nested":             {nested(3000, `{}`), nested(3000, `{"type":"string"}`)},
		"nested past reason": {nested(200_000, `{}`), nested(200_000, `{"type":"string"}`)},
		"nested arrays":      {`{"default":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `,"type":"string"}`, `{"type":"string"}`},
		"wide":               {wide(12_000, "string"), wide(12_000, "integer")},
		"doubling anyOf":     {doubling(40, `{"minimum":1}`, "anyOf"), doubling(40, `{"minimum":2}`, "anyOf")},
		"doubling oneOf":     {doubling(40, `{"minimum":1}`, "oneOf"), doubling(40, `{"minimum":2}`, "oneOf")},
		"doubling allOf":     {doubling(40, `{"minimum":1}`, "allOf"), doubling(40, `{"minimum":2}`, "allOf")},
		"groups":             {groups(30, 0), groups(30, 1)},
		"exponent":           {`{"minimum":1e999999999}`, `{"minimum":1e-999999999}`},
		"digits":             {`{"enum":[` + strings.Repeat("9", 100_000) + `]}`, `{"enum":[` + strings.Repeat("9", 100_001) + `]}`},
		"own tail":           {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"$ref":"#/$defs/b","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"type":"object"}`},
		"holds itself":       {`{"anyOf":[{"$ref":"#"},{"type":"string"}]}`, `{"anyOf":[{"$ref":"#"},{"type":"integer"}]}`},
		"all of itself":      {`{"allOf":[{"$ref":"#"}],"type":"object"}`, `{"allOf":[{"$ref":"#"}],"type":"string"}`},
		"long pattern":       {`{"type":"string","pattern":"` + strings.Repeat("(a+)+", 5000) + `"}`, `{"type":"string","enum":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"],"pattern":"(a*)*$"}`},
		"long enum":          {long(200_000, "a"), long(200_000, "b")},
	}
}

func TestPathologicalSchemas(t *testing.T) {
	for name, pair := range pathological() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, side := range []drift.Side{in, out} {
				report, err := drift.DiffSchemas(json.RawMessage(pair[0]), json.RawMessage(pair[1]), side, drift.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if report.Verdict == c || report.Verdict == drift.None {
					t.Errorf("verdict %s: %+v", report.Verdict, report.Changes)
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
				t.Errorf("allocated %d MiB", used>>20)
			}
		})
	}
}

// TestTooComplex wants the rule by name where the bounds are what stopped it.
func TestTooComplex(t *testing.T) {
	all := pathological()
	for _, name := range []string{"nested", "nested past reason", "wide"} {
		report, err := drift.DiffSchemas(json.RawMessage(all[name][0]), json.RawMessage(all[name][1]), in, drift.Options{})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, report, "schema-too-complex", "schema", h)
	}
	report, err := drift.DiffSchemas(json.RawMessage(`{"type":"string"}`), json.RawMessage(`{"type":"integer"}`), in, drift.Options{Limits: drift.Limits{Steps: 3}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, report, "schema-too-complex", "schema", h)
}

// TestSpentBudgetIsNotConsent: with every number of steps the verdict is the true one or worse.
func TestSpentBudgetIsNotConsent(t *testing.T) {
	old, next := `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]},"b":{"enum":[1,2]}}}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"enum":[2,3]}}}`
	for steps := 1; steps < 200; steps++ {
		report, err := drift.DiffSchemas(json.RawMessage(old), json.RawMessage(next), in, drift.Options{Limits: drift.Limits{Steps: steps}})
		if err != nil {
			t.Fatal(err)
		}
		if report.Verdict != b && report.Verdict != h {
			t.Fatalf("%d steps: %s", steps, report.Verdict)
		}
	}
}

// TestTotalBudget: many costly schemas share one budget.
func TestTotalBudget(t *testing.T) {
	pair := pathological()["groups"]
	list := func(schema string) string {
		var tools []string
		for i := range 200 {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d","inputSchema":%s}`, i, schema))
		}
		return `{"tools":[` + strings.Join(tools, ",") + `]}`
	}
	report := drift.Diff(parse(t, list(pair[0])), parse(t, list(pair[1])), drift.Options{Limits: drift.Limits{TotalSteps: 500_000}})
	if report.Verdict != b && report.Verdict != h {
		t.Errorf("verdict %s", report.Verdict)
	}
	complexity := 0
	for _, c := range report.Changes {
		if c.Rule == "schema-too-complex" {
			complexity++
		}
	}
	if complexity < 150 {
		t.Errorf("%d of 200 stopped by the total budget", complexity)
	}
}

func TestDeterministic(t *testing.T) {
	old, next := snapshot(t, "testdata/cases/02-param-renamed-closed-schema/before.json"), snapshot(t, "testdata/cases/02-param-renamed-closed-schema/after.json")
	first := drift.Diff(old, next, drift.Options{}).Text()
	for range 20 {
		if again := drift.Diff(old, next, drift.Options{}).Text(); !slices.Equal(first, again) {
			t.Fatalf("first %s\nthen %s", first, again)
		}
	}
}
