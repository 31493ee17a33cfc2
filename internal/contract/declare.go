package contract

import (
	"encoding/json"
	"fmt"
	"strings"

	"executor/internal/strictjson"
)

// A Claim names a contract: what a caller's _meta says its call was built on, and
// what this program says on each tool and each result.
type Claim struct {
	Revision int    `json:"revision"`
	Digest   string `json:"digest"`
	// Accepts lists the revisions that the current contract takes. It is sent by this
	// program, and not used where a caller sends it.
	Accepts []int `json:"accepts,omitempty"`
}

// ParseClaim reads the value of _meta["executor/contract"]; nil when there is none.
func ParseClaim(raw json.RawMessage) (*Claim, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var c Claim
	if err := strictjson.Decode(raw, &c); err != nil {
		return nil, fmt.Errorf("_meta[%q]: %w", MetaKey, err)
	}
	if c.Revision < 1 {
		return nil, fmt.Errorf("_meta[%q]: revision: a whole number from 1 up is due", MetaKey)
	}
	return &c, nil
}

// Declares reports whether the served schema demands contract_revision.
func (c *Contract) Declares() bool { return c.Published != nil && c.Published.Declare }

// Token is the value of contract_revision: opaque, so that a model copies the one
// that it holds. For revision 2 it looks like "r2-7f3a91c4".
func (c *Contract) Token() string {
	hex := strings.TrimPrefix(c.digest, "sha256:")
	return fmt.Sprintf("r%d-%s", c.Revision, hex[:8])
}

// ServedInput is the input schema as tools/list shows it.
func (c *Contract) ServedInput() (json.RawMessage, error) {
	if !c.Declares() {
		return c.Input, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(c.Input, &schema); err != nil {
		return nil, err
	}
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	properties[RevisionArgument] = map[string]any{
		"const":       c.Token(),
		"description": "Copy this value. It says which description of this tool your call was built on.",
	}
	required, _ := schema["required"].([]any)
	schema["properties"], schema["required"] = properties, append(required, RevisionArgument)
	return json.Marshal(schema)
}
