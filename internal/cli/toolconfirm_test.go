package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What no comparison settles is asked before anything is published, and a no
// publishes nothing.
func TestPublishAsks(t *testing.T) {
	home := typedHome(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const one = `tool: deploy
description: Deploy a branch.
revision: 1
input: {type: object, properties: {branch: {type: string}}, required: [branch], additionalProperties: false}
http: {method: POST, url: "https://ci.example.com/v1/previews", json: {branch: {$arg: branch}}, credential: ci}
`
	pass := write("pw", "correct horse")
	first := write("one.yaml", one)
	second := write("two.yaml", strings.NewReplacer("revision: 1", "revision: 2", "Deploy a branch.", "Deploy a tag.").Replace(one))
	const wording = "Does an old call still mean this? deploy.description [tool-description-changed] [y/N] "

	p := atTerminal(t, home, "tool", "publish", first, "--passphrase-file", pass)
	p.answer("Publish deploy revision 1? [y/N] ", "y\r")
	p.await("deploy revision 1 is published")
	p.ends(0)
	p = atTerminal(t, home, "tool", "publish", second, "--passphrase-file", pass)
	p.answer(wording, "n\r")
	p.await("not confirmed; nothing was changed")
	p.ends(1)
	p = atTerminal(t, home, "tool", "publish", second, "--passphrase-file", pass)
	p.answer(wording, "y\r")
	p.answer("Publish deploy revision 2? [y/N] ", "\r")
	p.await("not confirmed; nothing was changed")
	p.ends(1)
	p = atTerminal(t, home, "tool", "list", "--passphrase-file", pass, "--jq", ".[0].revision")
	if got := strings.TrimSpace(p.ends(0)); got != "1" {
		t.Errorf("revision %q is published, want 1", got)
	}
}
