package drift

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool      `json:"tool"`
	Results    []sarifResult  `json:"results"`
	ColumnKind string         `json:"columnKind"`
	Properties map[string]any `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string       `json:"id"`
	Short   sarifText    `json:"shortDescription"`
	Default sarifDefault `json:"defaultConfiguration"`
}

type sarifDefault struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   map[string]any     `json:"properties"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

// SARIF is the report in SARIF 2.1.0 (OASIS). file is the contract's file in
// the repository, relative to its root, as a URI reference. Changes have a
// stable fingerprint of tool, rule, path and name.
func (r Report) SARIF(file string) ([]byte, error) {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "executor contract", Rules: []sarifRule{}}}, Results: []sarifResult{},
		ColumnKind: "unicodeCodePoints", Properties: map[string]any{"verdict": r.Verdict, "bump": r.Bump}}
	if r.Note != "" {
		run.Properties["note"] = r.Note
	}
	index := map[string]int{}
	for _, c := range r.Changes {
		if _, ok := index[c.Rule]; !ok {
			index[c.Rule] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(c.Rule))
		}
		run.Results = append(run.Results, c.sarif(file, index[c.Rule]))
	}
	out, err := json.MarshalIndent(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode SARIF: %w", err)
	}
	return append(out, '\n'), nil
}

func sarifRuleOf(id string) sarifRule {
	r := ruleNamed(id)
	text := meets(r.effect)
	if text == "" {
		text = "nothing that a call meets"
	}
	return sarifRule{ID: id, Short: sarifText{id + ": " + text}, Default: sarifDefault{sarifLevel(Change{Class: r.class})}}
}

func sarifLevel(c Change) string {
	if l := c.level(); l != "" {
		return l
	}
	return "note"
}

func (c Change) sarif(file string, index int) sarifResult {
	text := c.Path + " [" + c.Rule + "]"
	if d := c.detail(); d != "" {
		text += " " + d
	}
	for _, note := range c.remarks() {
		text += "; " + note
	}
	sum := sha256.Sum256([]byte(canonical([]any{c.Tool, c.Rule, c.Path, c.Name, c.Hint})))
	out := sarifResult{RuleID: c.Rule, RuleIndex: index, Level: sarifLevel(c), Message: sarifText{safe(text)},
		Locations:    []sarifLocation{{Physical: sarifPhysical{sarifArtifact{file}, sarifRegion{1}}, Logical: []sarifLogical{{safe(c.Path)}}}},
		Fingerprints: map[string]string{"executorContract/v1": hex.EncodeToString(sum[:16])},
		Properties:   map[string]any{"class": c.Class, "effect": c.Effect}}
	if c.Ignored {
		out.Suppressions = []sarifSuppression{{"external", c.IgnoreReason}}
	}
	return out
}
