package drift_test

import (
	"os"
	"path/filepath"
	"testing"

	"executor/internal/drift"
)

// FuzzParse: what parses keeps its hashes through Encode, and differs from
// itself in nothing but pointers that lead out.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/cases/*/after.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`[{"name":"t","inputSchema":{"$ref":"#","enum":[1e400,-0,0.1]}}]`))
	f.Add([]byte(`{"result":{"tools":[{"name":"\ud83d\ude00"}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := drift.Parse(raw)
		if err != nil {
			return
		}
		encoded, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := drift.Parse(encoded)
		if err != nil {
			t.Fatalf("%v in %s", err, encoded)
		}
		if again.Hash() != s.Hash() || again.ContractHash() != s.ContractHash() {
			t.Fatalf("hashes moved: %s", encoded)
		}
		for _, c := range drift.Diff(s, again, drift.Options{}).Changes {
			if c.Rule != "schema-ref-external" {
				t.Fatalf("differs from itself: %+v", c)
			}
		}
	})
}

// FuzzDiffSchemas: two schemas of any content have a report with a consistent
// verdict, in every format; different canonical forms never pass as nothing
// unless only annotations that no rule covers moved.
func FuzzDiffSchemas(f *testing.F) {
	for _, r := range schemaRows() {
		f.Add(r.old, r.new)
	}
	f.Add(`{"anyOf":[{"$ref":"#"}]}`, `{"allOf":[{"$ref":"#"}],"if":{"$ref":"#"},"then":{"$ref":"#/then"}}`)
	f.Fuzz(func(t *testing.T, old, next string) {
		for _, side := range []drift.Side{in, out} {
			report, err := drift.DiffSchemas([]byte(old), []byte(next), side, drift.Options{Limits: drift.Limits{Steps: 20_000}})
			if err != nil {
				return
			}
			worst := drift.None
			rank := map[drift.Class]int{drift.None: 0, c: 1, h: 2, b: 3}
			for _, change := range report.Changes {
				if rank[change.Class] > rank[worst] {
					worst = change.Class
				}
			}
			if worst != report.Verdict {
				t.Fatalf("verdict %s, worst %s", report.Verdict, worst)
			}
			report.Text()
			report.Markdown()
			report.GitHub("f")
			if _, err := report.JSON(); err != nil {
				t.Fatal(err)
			}
			if _, err := report.SARIF("f"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzParseOverrides(f *testing.F) {
	f.Add([]byte(`ignore: [{rule: tool-title-changed, until: 2027-01-01, reason: ok}]`))
	f.Add([]byte(`{"severity":[{"rule":"tool-title-changed","class":"breaking","reason":"ok"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := drift.ParseOverrides(raw)
		if err != nil {
			return
		}
		for _, i := range append(o.Ignore, o.Severity...) {
			if i.Reason == "" || i.Rule == "" {
				t.Fatalf("%+v", i)
			}
		}
	})
}
