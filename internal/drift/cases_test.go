package drift_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"executor/internal/drift"
)

type expectation struct {
	Verdict    drift.Class
	Acceptable []drift.Class
	Changes    []struct {
		Rule, Path, Name, Effect, Hint, Reason, Level string
		Class                                         drift.Class
		Values                                        []any
		Added, Codepoints                             []string
		Effective                                     *drift.Effective
	}
}

func snapshot(t testing.TB, path string) *drift.Snapshot {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := drift.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCases holds the differ against what happened to real servers.
func TestCases(t *testing.T) {
	dirs, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(dirs) < 30 {
		t.Fatalf("found %d cases, want 30 (%v)", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want expectation
			raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			got := drift.Diff(snapshot(t, dir+"/before.json"), snapshot(t, dir+"/after.json"), drift.Options{})
			check(t, want, got)
		})
	}
}

func check(t *testing.T, want expectation, got drift.Report) {
	t.Helper()
	if got.Verdict != want.Verdict && !slices.Contains(want.Acceptable, got.Verdict) {
		t.Errorf("verdict %q, want %q", got.Verdict, want.Verdict)
	}
	for _, w := range want.Changes {
		found := slices.ContainsFunc(got.Changes, func(c drift.Change) bool {
			return c.Rule == w.Rule && c.Path == w.Path && c.Class == w.Class && matches(c.Name, w.Name) &&
				matches(c.Effect, w.Effect) && matches(c.Hint, w.Hint) && matches(c.Reason, w.Reason) && matches(c.Level, w.Level) &&
				(w.Values == nil || slices.Equal(c.Values, w.Values)) && (w.Added == nil || slices.Equal(c.Added, w.Added)) &&
				(w.Codepoints == nil || slices.Equal(c.Codepoints, w.Codepoints)) &&
				(w.Effective == nil || c.Effective != nil && *c.Effective == *w.Effective)
		})
		if !found {
			t.Errorf("missing %+v", w)
		}
	}
	// Nothing beside what is listed: a finding nobody asked for is noise.
	for _, c := range got.Changes {
		if len(want.Changes) > 0 && !slices.ContainsFunc(want.Changes, func(w struct {
			Rule, Path, Name, Effect, Hint, Reason, Level string
			Class                                         drift.Class
			Values                                        []any
			Added, Codepoints                             []string
			Effective                                     *drift.Effective
		}) bool {
			return w.Rule == c.Rule && strings.HasPrefix(c.Path, w.Path)
		}) && c.Rule != "out-root-type-changed" {
			t.Errorf("also found %s at %s (%s) %s", c.Rule, c.Path, c.Class, c.Reason)
		}
	}
}

func matches(got, want string) bool { return want == "" || got == want }
