package contract_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"executor/internal/contract"
)

// wide is a tool of 20 fields at a revision; each later one renames a field and
// sets another, so that its calls go through one adapter step a revision.
func wide(t testing.TB, revision int) string {
	var properties, body, required []string
	for i := range 20 {
		name := fmt.Sprintf("f%d", i)
		if i < revision-1 {
			name = fmt.Sprintf("g%d", i)
		}
		kind := []string{"type: string, minLength: 1, maxLength: 80", "type: integer, minimum: 0", "type: boolean", "type: string, enum: [a, b, c]"}[i%4]
		properties = append(properties, fmt.Sprintf("%s: {%s}", name, kind))
		body = append(body, fmt.Sprintf("f%d: {$arg: %s}", i, name))
		required = append(required, name)
	}
	accepts := ""
	for n := 1; n < revision; n++ {
		adapt := ""
		if n == revision-1 {
			adapt = fmt.Sprintf(", adapt: [{rename: {f%d: g%d}}]", n-1, n-1)
		}
		accepts += fmt.Sprintf("  - {revision: %d, change: migration, until: 2099-01-31%s}\n", n, adapt)
	}
	if accepts != "" {
		accepts = "accepts:\n" + accepts
	}
	return fmt.Sprintf(`
tool: deploy
description: Twenty fields.
revision: %d
input: {type: object, properties: {%s}, required: [%s], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/previews", json: {%s}, credential: ci}
%s`, revision, strings.Join(properties, ", "), strings.Join(required, ", "), strings.Join(body, ", "), accepts)
}

func wideCall(t testing.TB) json.RawMessage {
	m := map[string]any{}
	for i := range 20 {
		m[fmt.Sprintf("f%d", i)] = []any{"a text of some words", 12345, true, "b"}[i%4]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// BenchmarkResolve20FieldsTwoSteps resolves a call of revision 1 under revision 3:
// validated against the old schema, adapted twice, rendered by both contracts and
// validated again. The goal is 150 µs at the median.
func BenchmarkResolve20FieldsTwoSteps(b *testing.B) {
	tool := history(b, contract.Migration, wide(b, 1), wide(b, 2), wide(b, 3))
	s := snapshot(b, tool)
	one, _ := tool.Revision(1)
	origin := contract.Origin{Claim: &contract.Claim{Revision: 1, Digest: one.Digest()}, Now: day("2027-01-01")}
	args := wideCall(b)
	times := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		r, err := s.Resolve("deploy", args, origin)
		if err != nil {
			b.Fatal(err)
		}
		if body(b, r.Draft) != body(b, r.Old) || !strings.Contains(r.Adapter, "revision 2 to 3") {
			b.Fatal("not adapted")
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "p50-µs")
}

// BenchmarkOldRevision reports what one more earlier revision of a 20-field tool
// holds in memory.
func BenchmarkOldRevision(b *testing.B) {
	const revisions = 18
	var tools []*contract.Tool
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var yamls []string
	for n := 1; n <= revisions; n++ {
		yamls = append(yamls, wide(b, n))
	}
	history(b, contract.Migration, yamls...) // what is made once is made
	before := heap()
	for range 5 {
		tools = append(tools, history(b, contract.Migration, yamls...))
	}
	after := heap()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(after-before)/float64(len(tools)*revisions)/1024, "KiB/revision")
	runtime.KeepAlive(tools)
}
