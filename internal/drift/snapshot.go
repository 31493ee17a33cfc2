package drift

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// MaxSnapshotBytes is the most that Parse reads.
const MaxSnapshotBytes = 64 << 20

// ErrNotTools is the error of JSON that is not a list of tools.
var ErrNotTools = errors.New("not a tools/list result")

// A Snapshot is what one server said in tools/list, all pages together. It is
// read-only after Parse and safe for concurrent use.
type Snapshot struct {
	// Tools are sorted by name; a name may occur twice if the server said so.
	Tools  []*Tool
	fields map[string]any
}

// A Tool is one entry of the list, with everything the server put there.
type Tool struct {
	Name              string
	fields            map[string]any
	schemas           map[string]verbatim // canonical, sets sorted
	surface, contract string
}

func newTool(name string, fields map[string]any) *Tool {
	t := &Tool{Name: name, fields: fields, schemas: map[string]verbatim{}}
	for _, k := range []string{"inputSchema", "outputSchema"} {
		if v, ok := fields[k]; ok {
			t.schemas[k] = verbatim(canonical(setForm(v)))
		}
	}
	t.surface, t.contract = digest(canonical(t.document())), digest(canonical(t.promise()))
	return t
}

// Parse reads a snapshot file, a bare `{"tools": […]}` result, a bare array of
// tools, or the JSON-RPC response around either. It returns an error matching
// ErrTooLarge, ErrMalformed or ErrNotTools.
func Parse(raw []byte) (*Snapshot, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	if m, ok := v.(map[string]any); ok && m["tools"] == nil && m["result"] != nil {
		v = m["result"]
	}
	if list, ok := v.([]any); ok {
		v = map[string]any{"tools": list}
	}
	fields, _ := v.(map[string]any)
	list, ok := fields["tools"].([]any)
	if !ok {
		return nil, fmt.Errorf("read snapshot: %w: no array of tools", ErrNotTools)
	}
	return newSnapshot(fields, list)
}

func newSnapshot(fields map[string]any, list []any) (*Snapshot, error) {
	s := &Snapshot{fields: fields}
	for i, e := range list {
		tool, _ := e.(map[string]any)
		name, ok := tool["name"].(string)
		if !ok || name == "" {
			return nil, fmt.Errorf("read snapshot: %w: tool %d has no name", ErrNotTools, i)
		}
		s.Tools = append(s.Tools, newTool(name, tool))
	}
	slices.SortStableFunc(s.Tools, func(a, b *Tool) int {
		if a.Name != b.Name {
			return compareText(a.Name, b.Name)
		}
		return compareText(a.SurfaceHash(), b.SurfaceHash())
	})
	return s, nil
}

// Instructions is what the server tells the model about itself.
func (s *Snapshot) Instructions() string {
	text, _ := s.fields["instructions"].(string)
	return text
}

// Hash is the surface hash: everything a model reads, and the capabilities.
// It is "sha256:" and 64 hex digits over Canonical, and the snapshot's address in a Store.
func (s *Snapshot) Hash() string { return digest(string(s.Canonical())) }

// ContractHash covers names, schemas and annotations, in the same spelling.
func (s *Snapshot) ContractHash() string {
	list := make([]any, len(s.Tools))
	for i, t := range s.Tools {
		list[i] = []any{t.Name, t.ContractHash()}
	}
	return digest(canonical(list))
}

// Canonical is the RFC 8785 form of the tools (sorted by name, sets in schemas
// sorted), the instructions and the capabilities. Who the server says it is,
// cursors and cache hints take no part.
func (s *Snapshot) Canonical() []byte { return []byte(canonical(s.document())) }

func (s *Snapshot) document() map[string]any {
	tools := make([]any, len(s.Tools))
	for i, t := range s.Tools {
		tools[i] = t.document()
	}
	doc := map[string]any{"tools": tools}
	for _, k := range []string{"instructions", "capabilities"} {
		if v, ok := s.fields[k]; ok {
			doc[k] = v
		}
	}
	return doc
}

// Encode is the snapshot as a file: Canonical's content with the `server` field,
// indented, keys sorted, with a final newline. Parse(Encode()) has the same hashes.
func (s *Snapshot) Encode() ([]byte, error) {
	doc := s.document()
	if v, ok := s.fields["server"]; ok {
		doc["server"] = v
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(canonical(doc)), "", "  "); err != nil {
		return nil, fmt.Errorf("encode snapshot: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (t *Tool) document() map[string]any {
	doc := make(map[string]any, len(t.fields))
	for k, v := range t.fields {
		doc[k] = v
		if text, ok := t.schemas[k]; ok {
			doc[k] = text
		}
	}
	return doc
}

// ContractHash covers the input schema, the output schema and the annotations,
// but not the name: a tool renamed keeps it.
func (t *Tool) ContractHash() string { return t.contract }

func (t *Tool) promise() map[string]any {
	doc := map[string]any{}
	for k, text := range t.schemas {
		doc[k] = text
	}
	if m, ok := t.fields["annotations"].(map[string]any); ok && len(m) > 0 {
		doc["annotations"] = m
	}
	return doc
}

// SurfaceHash covers everything the server said of the tool.
func (t *Tool) SurfaceHash() string { return t.surface }

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
