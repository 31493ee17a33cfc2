// Package contract holds what tools promise, one revision at a time.
//
// A Contract is a tool's name, description, annotations, input and output
// schema at one revision, with the renderer that turns arguments into a Draft:
// the act as the caller meant it, before target and credential are bound. Once a
// contract was served it never changes; a change is a new revision. Built-in tools
// keep their renderers in code; an operator's own tools (Published) are templates.
//
// A Snapshot is the immutable set of tools that one call is judged by. Resolve
// says which contract a call was built on, adapts it by declared steps where the
// current one differs, or refuses. It never guesses: an old call keeps its exact
// old meaning, which the caller of Resolve checks by comparing both renderings, or
// it is refused before any effect.
//
// # Digest
//
// A contract's digest is the SHA-256 of the canonical JSON (RFC 8785) of
//
//	{"annotations":…,"description":…,"input":…,"output":…,"renderer":"builtin/http_request/1","revision":1,"title":…,"tool":"http_request"}
//
// and, for a published tool, its template, result mapping, approval level and
// whether it declares its revision. The argument contract_revision, which
// declare_revision adds to the schema that is served, takes no part: its value is
// made from the digest.
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
	// Output is the schema of a success or an error envelope.
	Output json.RawMessage `json:"output"`
	// Renderer names what turns arguments into a draft: "builtin/NAME/N" or "template".
	Renderer string `json:"renderer"`
	// Published is nil for a built-in tool.
	Published *Published `json:"published,omitempty"`

	render  func(args json.RawMessage) (Draft, error)
	mapping *mapping
	digest  string
	meaning string // the digest without the revision: what a rollback brings back
}

// Digest is the contract's digest, "sha256:" and hex.
func (c *Contract) Digest() string { return c.digest }

// SameAs reports whether two contracts differ in their revision at most.
func (c *Contract) SameAs(o *Contract) bool { return c.meaning == o.meaning }

// Render turns arguments into a draft. Arguments that do not fit are an
// action.Problems, with each problem where it is.
func (c *Contract) Render(args json.RawMessage) (Draft, error) { return c.render(args) }

// Approval is the level that replaces the default by effect; ok is false where
// the default holds.
func (c *Contract) Approval() (l action.Level, ok bool) {
	if c.Published == nil || c.Published.Approval == nil {
		return action.Deny, false
	}
	return *c.Published.Approval, true
}

// seal computes the digests; after it the contract must not change.
func (c *Contract) seal() (err error) {
	if c.digest, err = c.sum(); err != nil {
		return err
	}
	unnumbered := *c
	unnumbered.Revision = 0
	c.meaning, err = unnumbered.sum()
	return err
}

func (c *Contract) sum() (string, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("contract %s: %w", c.Tool, err)
	}
	canonical, err := jcs.Transform(raw)
	if err != nil {
		return "", fmt.Errorf("contract %s: %w", c.Tool, err)
	}
	return action.Sum(canonical), nil
}
