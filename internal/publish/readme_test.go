package publish_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"executor/internal/contract"
	"executor/internal/publish"
)

// The contract file that the README shows is one, and does what is said there.
func TestTheContractFileOfTheReadme(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(raw), "```yaml\ntool: ")
	yaml, _, ok2 := strings.Cut(rest, "\n```")
	if !ok || !ok2 {
		t.Fatal("the README shows no contract file")
	}
	shown := "tool: " + yaml + "\n"
	before, _, _ := strings.Cut(shown, "accepts:")
	first := edit(t, before, "revision: 2", "revision: 1", "region: {$arg: region}", "region: us-east-preview",
		"[branch, region]", "[branch]", "    region: {type: string, enum: [us-east-preview, eu-preview]}\n", "")
	ops := []contract.Op{report(t, nil, first, day("2026-11-30")).Op()}
	r, err := publish.Judge(file(t, shown), ops, publish.Options{Now: day("2026-12-01").Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind != contract.Migration || !r.Publishable() || len(r.Checks) != 1 || r.Checks[0].Outcome != publish.Proved {
		t.Errorf("%s", r.Text())
	}
}
