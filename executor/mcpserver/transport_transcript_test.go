package mcpserver_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"executor/executor/mcpserver"

	"github.com/rogpeppe/go-internal/txtar"
)

// Each file of testdata/transport is one session: the lines that the client
// sends before it closes its output, and those that it gets, in any order. In
// an expected line the string "*" stands for any value.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transport/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			w := newWorld(t, mcpserver.TransportOptions{MaxLine: 4096})
			w.send(strings.TrimSuffix(parts["send"], "\n"))
			compare(t, w.rest(), strings.Split(strings.TrimSpace(parts["get"]), "\n"))
		})
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	for _, pattern := range want {
		at := -1
		for i, line := range got {
			if matches(decode(t, pattern), decode(t, line)) {
				at = i
				break
			}
		}
		if at < 0 {
			t.Errorf("missing %s", pattern)
			continue
		}
		got = append(got[:at:at], got[at+1:]...)
	}
	for _, line := range got {
		t.Errorf("unexpected %s", line)
	}
}

func matches(pattern, got any) bool {
	if pattern == "*" {
		return true
	}
	want, ok := pattern.(map[string]any)
	if !ok {
		return reflect.DeepEqual(pattern, got)
	}
	have, ok := got.(map[string]any)
	if !ok || len(have) != len(want) {
		return false
	}
	for name, value := range want {
		if other, ok := have[name]; !ok || !matches(value, other) {
			return false
		}
	}
	return true
}
