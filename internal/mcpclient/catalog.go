package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// contractKey is where servers of this program name a tool's contract.
const contractKey = "executor/contract"

// A claim is what a server says of a contract in _meta.
type claim struct {
	Revision int    `json:"revision"`
	Digest   string `json:"digest"`
	Accepts  []int  `json:"accepts"`
}

// A known is one tool as it was listed.
type known struct {
	name        string
	claim       claim // zero where the server names none
	annotations mcp.ToolAnnotations
	input       *jsonschema.Schema
	resolved    *jsonschema.Resolved
	output      *jsonschema.Schema // nil where there is none
}

// same reports whether two listings of a tool promise the same.
func (k *known) same(o *known) bool {
	if k.claim.Digest != "" || o.claim.Digest != "" {
		return k.claim.Digest == o.claim.Digest
	}
	a, errA := json.Marshal([]any{k.input, k.output, k.annotations})
	b, errB := json.Marshal([]any{o.input, o.output, o.annotations})
	return errA == nil && errB == nil && string(a) == string(b)
}

// accepts reports whether the server says that it still takes calls of revision n.
func (k *known) accepts(n int) bool {
	for _, a := range k.claim.Accepts {
		if a == n {
			return true
		}
	}
	return false
}

// list reads all pages of tools/list.
func list(ctx context.Context, s *mcp.ClientSession) (map[string]*known, error) {
	out := map[string]*known{}
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		k, err := learn(t)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
		out[t.Name] = k
	}
	return out, nil
}

func learn(t *mcp.Tool) (*known, error) {
	k := &known{name: t.Name}
	if t.Annotations != nil {
		k.annotations = *t.Annotations
	}
	if err := convert(t.Meta[contractKey], &k.claim); err != nil {
		return nil, err
	}
	k.input = &jsonschema.Schema{}
	if err := convert(t.InputSchema, k.input); err != nil {
		return nil, err
	}
	var err error
	if k.resolved, err = k.input.Resolve(nil); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if t.OutputSchema != nil {
		k.output = &jsonschema.Schema{}
		err = convert(t.OutputSchema, k.output)
	}
	return k, err
}

// convert reads a decoded JSON value into another form.
func convert(from, to any) error {
	if from == nil {
		return nil
	}
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}
