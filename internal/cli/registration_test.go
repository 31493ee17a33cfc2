package cli_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"executor/internal/cli"
)

// What init prints is pasted into files and shells, whatever the paths hold.
func TestRegistrationParses(t *testing.T) {
	for _, home := range []string{"/srv/executor", `/srv/my "home" \ it's $HOME <&> é`} {
		binary, args := "/opt/my tools/executor", []string{"mcp", "--home", home}
		text := cli.Registration(binary, args)

		var cursor struct {
			Servers map[string]struct {
				Command string
				Args    []string
				Timeout int
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(between(t, text, `  {"mcpServers"`, "\n\n")), &cursor); err != nil {
			t.Fatalf("the JSON for Cursor: %v", err)
		}
		got := cursor.Servers["executor"]
		check(t, "Cursor", got.Command, got.Args, binary, args)
		if got.Timeout < 600_000 {
			t.Errorf("Cursor waits %d ms, and an approval may take ten minutes", got.Timeout)
		}

		toml := parseTOML(t, between(t, text, "  [mcp_servers.executor]", "\n\n"))
		var command string
		var words []string
		unmarshal(t, toml["command"], &command)
		unmarshal(t, toml["args"], &words)
		check(t, "Codex", command, words, binary, args)
		var seconds int
		unmarshal(t, toml["tool_timeout_sec"], &seconds)
		if seconds < 600 {
			t.Errorf("Codex waits %d s", seconds)
		}
		if !filepath.IsAbs(command) || !filepath.IsAbs(words[2]) {
			t.Errorf("%s %s is not absolute", command, words[2])
		}
	}
}

func check(t *testing.T, client, command string, words []string, binary string, args []string) {
	t.Helper()
	if command != binary || !slices.Equal(words, args) {
		t.Errorf("%s would run %q %q, want %q %q", client, command, words, binary, args)
	}
}

// between returns the text from start up to end.
func between(t *testing.T, text, start, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, start)
	if !found {
		t.Fatalf("%q is not in:\n%s", start, text)
	}
	rest, _, _ = strings.Cut(rest, end)
	return start + rest
}

var tomlLine = regexp.MustCompile(`^  ([a-z_]+) = (.*)$`)

// parseTOML reads the little TOML that init prints: one table of keys whose basic
// strings, arrays and integers are spelled as in JSON (TOML 1.0, "String").
func parseTOML(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(text, "\n")
	for _, line := range lines[1:] {
		m := tomlLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a line of TOML: %q", line)
		}
		if strings.Contains(m[2], `\/`) {
			t.Errorf("TOML has no escape \\/: %s", line)
		}
		out[m[1]] = m[2]
	}
	return out
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
