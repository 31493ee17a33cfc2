package drift_test

import (
	"errors"
	"testing"
	"time"

	"executor/internal/drift"
)

func overrides(t *testing.T, text string) drift.Overrides {
	t.Helper()
	o, err := drift.ParseOverrides([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOverrides(t *testing.T) {
	report := drift.Diff(parse(t, tool(``)), parse(t, tool(`,"title":"x","description":"y"`)), drift.Options{})
	now := time.Date(2026, 11, 30, 23, 30, 0, 0, time.FixedZone("", -5*3600))
	for _, r := range []struct {
		name, file string
		verdict    drift.Class
		ignored    int
		expired    int
	}{
		{"none", ``, h, 0, 0},
		{"one", `ignore: [{rule: tool-title-changed, until: 2027-01-01, reason: ok}]`, h, 1, 0},
		{"both", `{"ignore":[{"rule":"tool-title-changed","until":"2027-01-01","reason":"ok"},{"rule":"tool-description-changed","path":"t.*","until":"2027-01-01","reason":"ok"}]}`, drift.None, 2, 0},
		{"last day", `ignore: [{rule: tool-title-changed, until: 2026-11-30, reason: ok}]`, h, 1, 0},
		{"day before", `ignore: [{rule: tool-title-changed, until: 2026-11-29, reason: ok}]`, h, 0, 1},
		{"other path", `ignore: [{rule: tool-title-changed, path: u.title, until: 2027-01-01, reason: ok}]`, h, 0, 0},
		{"star stops at a point", `ignore: [{rule: tool-title-changed, path: "*", until: 2027-01-01, reason: ok}]`, h, 0, 0},
		{"two stars do not", `ignore: [{rule: tool-title-changed, path: "**", until: 2027-01-01, reason: ok}]`, h, 1, 0},
		{"point is a point", `ignore: [{rule: tool-title-changed, path: "txtitle", until: 2027-01-01, reason: ok}]`, h, 0, 0},
		{"raised", `severity: [{rule: tool-title-changed, class: breaking, reason: strict}]`, b, 0, 0},
		{"lowered, expired", `severity: [{rule: tool-title-changed, class: breaking, until: 2026-01-01, reason: strict}]`, h, 0, 0},
	} {
		t.Run(r.name, func(t *testing.T) {
			got := overrides(t, r.file).Apply(report, now)
			ignored, expired := 0, 0
			for _, c := range got.Changes {
				if c.Ignored {
					ignored++
				}
				if c.IgnoreExpired != "" {
					expired++
				}
			}
			if got.Verdict != r.verdict || ignored != r.ignored || expired != r.expired || len(got.Changes) != len(report.Changes) {
				t.Errorf("verdict %s, %d ignored, %d expired, %d changes", got.Verdict, ignored, expired, len(got.Changes))
			}
		})
	}
	if report.Changes[0].Ignored || report.Changes[1].Ignored {
		t.Error("Apply changed its argument")
	}
}

func TestOverridesRefused(t *testing.T) {
	for _, text := range []string{
		`ignore: [{rule: tool-title-changed, until: 2027-01-01}]`,
		`ignore: [{rule: tool-title-changed, until: 2027-01-01, reason: " "}]`,
		`ignore: [{rule: tool-title-changed, reason: ok}]`,
		`ignore: [{rule: tool-title-change, until: 2027-01-01, reason: ok}]`,
		`ignore: [{rule: tool-title-changed, until: soon, reason: ok}]`,
		`ignore: [{rule: tool-title-changed, until: 2027-01-01, reason: ok, class: compatible}]`,
		`ignore: [{rule: tool-title-changed, until: 2027-01-01, reason: ok, unless: x}]`,
		`severity: [{rule: tool-title-changed, class: none, reason: ok}]`,
		`severity: [{rule: tool-title-changed, class: fine, reason: ok}]`,
		`ignored: []`, `[`, `- a`,
		"ignore: []\nignore: []",
	} {
		if _, err := drift.ParseOverrides([]byte(text)); !errors.Is(err, drift.ErrOverrides) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
