package drift_test

import (
	"fmt"
	"strings"
	"testing"

	"executor/internal/drift"
)

// bigList is tools/list of a large server: tools × parameters, each parameter described.
func bigList(tools, params int, edit string) []byte {
	var b strings.Builder
	b.WriteString(`{"tools":[`)
	for i := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"Does thing %d.","inputSchema":{"type":"object","additionalProperties":false,"required":["p0","p1"],"properties":{`, i, i)
		for j := range params {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"p%d":{"type":"string","description":"parameter %d","maxLength":%d,"enum":["a","b","c"]}`, j, j, 100+j)
		}
		fmt.Fprintf(&b, `%s}},"outputSchema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}`, edit)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkThousandTools(b *testing.B) {
	before, after := bigList(1000, 30, ""), bigList(1000, 30, `,"extra":{"type":"integer"}`)
	for b.Loop() {
		old, err := drift.Parse(before)
		if err != nil {
			b.Fatal(err)
		}
		next, err := drift.Parse(after)
		if err != nil {
			b.Fatal(err)
		}
		if r := drift.Diff(old, next, drift.Options{}); r.Verdict != drift.Compatible || len(r.Changes) != 1000 {
			b.Fatalf("%s with %d changes", r.Verdict, len(r.Changes))
		}
	}
}
