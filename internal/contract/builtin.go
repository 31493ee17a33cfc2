package contract

import (
	"embed"
	"encoding/json"
	"fmt"

	"executor/internal/strictjson"
)

//go:embed builtin/*.json
var builtinFiles embed.FS

// Builtin returns the program's own tools.
func Builtin() ([]*Tool, error) {
	var out []*Tool
	for _, b := range []struct {
		file   string
		render func(json.RawMessage) (Draft, error)
	}{
		{"http_get.1", renderHTTPGet},
		{"http_request.1", renderHTTPRequest},
		{"list_targets.1", renderListTargets},
		{"ssh_exec.1", renderSSHExec},
		{"ssh_list_dir.1", renderSSHListDir},
		{"ssh_read_file.1", renderSSHReadFile},
		{"ssh_write_file.1", renderSSHWriteFile},
	} {
		c, err := loadBuiltin(b.file)
		if err != nil {
			return nil, fmt.Errorf("built-in contract %s: %w", b.file, err)
		}
		c.render = b.render
		out = append(out, NewTool(c))
	}
	return out, nil
}

// loadBuiltin reads one contract. Its output schema is the success alone; the
// error envelope, which every tool may answer with, is joined to it here.
func loadBuiltin(file string) (*Contract, error) {
	raw, err := builtinFiles.ReadFile("builtin/" + file + ".json")
	if err != nil {
		return nil, err
	}
	c := &Contract{}
	if err := strictjson.Decode(raw, c); err != nil {
		return nil, err
	}
	envelope, err := builtinFiles.ReadFile("builtin/envelope.json")
	if err != nil {
		return nil, err
	}
	c.Output, err = json.Marshal(map[string]any{
		"type":  "object",
		"anyOf": []json.RawMessage{c.Output, envelope},
	})
	if err != nil {
		return nil, err
	}
	return c, c.seal()
}
