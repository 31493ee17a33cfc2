package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"executor/internal/strictjson"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/itchyny/gojq"
)

// A ResultMapping gives a tool's answer its own shape. JQ is applied to the
// downstream's JSON body (HTTP) or to the result of ssh_exec (SSH); $status,
// $headers and $result are what http_request would have answered. Output is the
// schema that what comes out is checked against.
type ResultMapping struct {
	JQ     string          `json:"jq"`
	Output json.RawMessage `json:"output"`
}

// mappingTime bounds one run of a mapping.
const mappingTime = 2 * time.Second

// ErrResultContract is returned when an answer does not fit the contract of the call.
var ErrResultContract = errors.New("the answer does not fit the tool's output schema")

// A mapping is a compiled ResultMapping. It is safe for concurrent use.
type mapping struct {
	code   *gojq.Code
	output *jsonschema.Resolved
}

// reserved are the names of the error envelope and of every result (see the error
// codes): a mapping that used one could be mistaken for the program's own word.
func reserved() []string {
	return []string{"error_code", "message", "tool", "required_action", "side_effect_started", "current_revision", "schema_revision", "activity_id", "problems"}
}

// compileResult makes the output schema that is served: the mapping's own, or
// that of the built-in tool of the kind, joined with the error envelope.
func (c *Contract) compileResult(f *File) error {
	envelope, err := builtinFiles.ReadFile("builtin/envelope.json")
	if err != nil {
		return err
	}
	success, err := f.success()
	if err != nil {
		return err
	}
	if f.Result != nil {
		if c.mapping, err = compileMapping(f.Result); err != nil {
			return err
		}
	}
	c.Output, err = json.Marshal(map[string]any{"type": "object", "anyOf": []json.RawMessage{success, envelope}})
	return err
}

// success is the schema of a successful result.
func (f *File) success() (json.RawMessage, error) {
	if f.Result != nil {
		return f.Result.Output, nil
	}
	file := "builtin/http_request.1.json"
	if f.SSH != nil {
		file = "builtin/ssh_exec.1.json"
	}
	raw, err := builtinFiles.ReadFile(file)
	if err != nil {
		return nil, err
	}
	members, err := strictjson.Members(raw)
	return members["output"], err
}

func compileMapping(r *ResultMapping) (*mapping, error) {
	query, err := gojq.Parse(r.JQ)
	if err != nil {
		return nil, fmt.Errorf("jq: %w", err)
	}
	m := &mapping{}
	if m.code, err = gojq.Compile(query, gojq.WithVariables([]string{"$status", "$headers", "$result"})); err != nil {
		return nil, fmt.Errorf("jq: %w", err)
	}
	var schema jsonschema.Schema
	if len(r.Output) == 0 {
		return nil, errors.New("output: the schema of what the mapping makes is due")
	}
	if err := json.Unmarshal(r.Output, &schema); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	if schema.Type != "object" {
		return nil, errors.New("output: type: object is due at the root")
	}
	for name := range schema.Properties {
		if slices.Contains(reserved(), name) {
			return nil, fmt.Errorf("output: the name %s is reserved", name)
		}
	}
	if m.output, err = schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return m, nil
}

// Map gives a result its shape. result is what http_request or ssh_exec would
// answer; without a mapping it is the answer. An answer that does not fit is
// ErrResultContract.
func (c *Contract) Map(ctx context.Context, result map[string]any) (map[string]any, error) {
	if c.mapping == nil {
		return result, nil
	}
	plain, err := plainJSON(result)
	if err != nil {
		return nil, err
	}
	var input any = plain
	if _, isHTTP := plain["status"]; isHTTP {
		body, ok := plain["json"]
		if !ok {
			return nil, fmt.Errorf("%w: it is not JSON", ErrResultContract)
		}
		input = body
	}
	return c.mapping.run(ctx, input, plain)
}

// plainJSON is v as the decoder makes it, with numbers that keep their digits.
func plainJSON(v map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out map[string]any
	err = d.Decode(&out)
	return out, err
}

// fits validates against the output schema, with numbers as the validator knows them.
func (m *mapping) fits(out map[string]any) error {
	raw, err := json.Marshal(out)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return m.output.Validate(v)
}

func (m *mapping) run(ctx context.Context, input any, result map[string]any) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, mappingTime)
	defer cancel()
	iter := m.code.RunWithContext(ctx, input, result["status"], result["headers"], result)
	v, ok := iter.Next()
	if err, failed := v.(error); failed || !ok {
		return nil, fmt.Errorf("%w: the mapping failed: %v", ErrResultContract, err)
	}
	out, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: the mapping made no object", ErrResultContract)
	}
	for _, name := range reserved() {
		if _, taken := out[name]; taken {
			return nil, fmt.Errorf("%w: the mapping made the reserved name %s", ErrResultContract, name)
		}
	}
	if err := m.fits(out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrResultContract, err)
	}
	return out, nil
}
