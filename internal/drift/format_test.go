package drift_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"executor/internal/drift"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// reports are the ones that every format is shown with.
func reports(t *testing.T) map[string]drift.Report {
	t.Helper()
	merge := func(file string) *drift.Snapshot {
		var tools []json.RawMessage
		for _, dir := range []string{"02-param-renamed-closed-schema", "25-description-poisoned-hidden-unicode", "34-bounds-tightened-and-relaxed",
			"40-authority-selector-widened", "27-destructive-hint-dropped", "32-oneof-discriminated-branch-added", "26-description-and-title-reworded"} {
			raw, err := os.ReadFile(filepath.Join("testdata/cases", dir, file))
			if err != nil {
				t.Fatal(err)
			}
			var list struct{ Tools []json.RawMessage }
			if err := json.Unmarshal(raw, &list); err != nil {
				t.Fatal(err)
			}
			tools = append(tools, list.Tools...)
		}
		raw, err := json.Marshal(map[string]any{"tools": tools, "instructions": "from " + file})
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, string(raw))
	}
	mixed := drift.Diff(merge("before.json"), merge("after.json"), drift.Options{})
	o, err := drift.ParseOverrides([]byte(`
ignore:
  - {rule: tool-title-changed, until: 2027-01-31, reason: agreed with the team}
  - {rule: in-length-tightened, until: 2026-01-31, reason: long over}
severity:
  - {rule: in-prop-removed, path: "count_events.**", class: needs-human, reason: "nobody sends it"}
`))
	if err != nil {
		t.Fatal(err)
	}
	same := merge("before.json")
	hostile := `{"tools":[{"name":"x\u001b[31m|` + "`" + `","description":"a\n::error::owned\r\u202e"}]}`
	return map[string]drift.Report{
		"mixed":    o.Apply(mixed, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)),
		"empty":    drift.Diff(same, same, drift.Options{}),
		"hostile":  drift.Diff(parse(t, `{"tools":[{"name":"y"}]}`), parse(t, hostile), drift.Options{}),
		"describe": drift.Diff(parse(t, `{"tools":[{"name":"y","description":"one"}]}`), parse(t, `{"tools":[{"name":"y","description":"two\nlines"}]}`), drift.Options{}),
	}
}

func TestFormats(t *testing.T) {
	for name, r := range reports(t) {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", r.Text())
			golden(t, name+".md", r.Markdown())
			golden(t, name+".github", r.GitHub("contracts/pins/my, server.json"))
			raw, err := r.JSON()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", raw)
			sarif, err := r.SARIF("contracts/pins/server.json")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".sarif", sarif)
		})
	}
}

// TestSARIFSchema checks against the OASIS schema as published by schemastore (2.1.0-rtm.5).
func TestSARIFSchema(t *testing.T) {
	raw, err := os.ReadFile("testdata/sarif-2.1.0-rtm.5.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(strings.Replace(string(raw), `"$schema": "http://json-schema.org/draft-04/schema#"`, `"$schema": "http://json-schema.org/draft-07/schema#"`, 1)), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range reports(t) {
		sarif, err := r.SARIF("contracts/pins/server.json")
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(sarif, &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v["runs"].([]any)[0].(map[string]any)["results"] = []any{map[string]any{"level": "loud", "message": map[string]any{"text": "x"}}}
		if resolved.Validate(v) == nil {
			t.Fatal("the schema refuses nothing")
		}
	}
}

// TestNoRawControl: whatever a server says, no format lets a control or an invisible character through.
func TestNoRawControl(t *testing.T) {
	for name, r := range reports(t) {
		raw, _ := r.JSON()
		sarif, _ := r.SARIF("f")
		for format, text := range map[string]string{"text": string(r.Text()), "markdown": string(r.Markdown()), "github": string(r.GitHub("f")), "json": string(raw), "sarif": string(sarif)} {
			if i := strings.IndexFunc(text, func(r rune) bool {
				return r != '\n' && r < 0x20 || r == 0x7f || r == 0x202e || r == 0x200b || 0xE0000 <= r && r <= 0xE007F
			}); i >= 0 {
				t.Errorf("%s as %s: %q", name, format, text[max(0, i-20):i+4])
			}
		}
		if strings.Contains(string(r.GitHub("f")), "\n::error::owned") {
			t.Errorf("%s: a description wrote a workflow command", name)
		}
	}
}
