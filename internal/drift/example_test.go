package drift_test

import (
	"fmt"

	"executor/internal/drift"
)

func ExampleParse() {
	a, _ := drift.Parse([]byte(`{"tools":[{"name":"open_ticket","inputSchema":{"type":"object","required":["b","a"]}}]}`))
	b, _ := drift.Parse([]byte(`[{"inputSchema":{"required":["a","b"],"type":"object"},"name":"open_ticket"}]`))
	fmt.Println(string(a.Canonical()))
	fmt.Println(a.Hash() == b.Hash(), a.ContractHash() == b.ContractHash())
	// Output:
	// {"tools":[{"inputSchema":{"required":["a","b"],"type":"object"},"name":"open_ticket"}]}
	// true true
}

func ExampleDiff() {
	old, _ := drift.Parse([]byte(`[{"name":"tail","inputSchema":{"type":"object","properties":{"lines":{"type":"number"}}}}]`))
	next, _ := drift.Parse([]byte(`[{"name":"tail","inputSchema":{"type":"object","properties":{"lines":{"type":"integer"}}}}]`))
	fmt.Print(string(drift.Diff(old, next, drift.Options{}).Text()))
	// Output:
	// tail
	//   BREAKING        tail.inputSchema.properties.lines.type  [in-type-narrowed]  -number — an old call is refused
	//
	// breaking: 1 breaking, 0 for a person to judge, 0 compatible; version step: major
}
