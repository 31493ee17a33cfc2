// Package contract holds what tools promise, one revision at a time.
//
// A Contract is a tool's name, description, annotations, input and output
// schema at one revision, with the renderer that turns arguments into a Draft:
// the act as the caller meant it, before target and credential are bound. Once a
// contract was served it never changes; a change is a new revision.
//
// A Snapshot is the immutable set of contracts that one call is judged by.
// Resolve says which contract a call was built on, or refuses. It never guesses:
// a call that declares a revision gets that revision's meaning or a refusal.
//
// # Digest
//
// A contract's digest is the SHA-256 of the canonical JSON (RFC 8785) of
//
//	{"annotations":…,"description":…,"input":…,"output":…,"renderer":"builtin/http_request/1","revision":1,"title":…,"tool":"http_request"}
package contract

import (
	"encoding/json"
	"fmt"

	"executor/internal/action"

	"github.com/gowebpki/jcs"
)

// Annotations are the hints of an MCP tool. All four are always stated, so that
// no client falls back on a default.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// A Contract is a tool at one revision. It is immutable.
type Contract struct {
	Tool        string          `json:"tool"`
	Revision    int             `json:"revision"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Annotations Annotations     `json:"annotations"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output"`
	// Renderer names the template that turns arguments into a draft.
	Renderer string `json:"renderer"`

	render func(args json.RawMessage) (Draft, error)
	digest string
}

// Digest is the contract's digest, "sha256:" and hex.
func (c *Contract) Digest() string { return c.digest }

// Render turns arguments into a draft. Arguments that do not fit are an
// action.Problems, with each problem where it is.
func (c *Contract) Render(args json.RawMessage) (Draft, error) { return c.render(args) }

// seal computes the digest; after it the contract must not change.
func (c *Contract) seal() error {
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("contract %s: %w", c.Tool, err)
	}
	canonical, err := jcs.Transform(raw)
	if err != nil {
		return fmt.Errorf("contract %s: %w", c.Tool, err)
	}
	c.digest = action.Sum(canonical)
	return nil
}
