package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sdkVersion is the release of @modelcontextprotocol/sdk that is driven.
const sdkVersion = "1.32.2"

// sdk installs the SDK, once for this machine, and returns its node_modules.
func sdk(t testing.TB) string {
	t.Helper()
	needs(t, "node", "node")
	needs(t, "npm", "npm")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "executor-e2e", "mcp-sdk-"+sdkVersion)
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol", "sdk", "package.json")); err == nil {
		return modules
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "install-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	npm := exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", fresh, "@modelcontextprotocol/sdk@"+sdkVersion)
	npm.Dir, npm.WaitDelay = fresh, time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		missing(t, "npm cannot fetch the MCP SDK: "+err.Error()+"\n"+string(out))
	}
	if err := os.Rename(fresh, dir); err != nil { // somebody else was quicker
		if _, err := os.Stat(modules); err != nil {
			t.Fatal(err)
		}
	}
	return modules
}

// A step is a line of testdata/client.mjs.
type step struct {
	Step     string
	Server   string
	Names    []string
	Schemas  bool
	IsError  bool
	Result   map[string]any
	Progress int
	Rejected bool
	Text     string
	Message  string
}

// The program, driven by the MCP project's own client with the environment that
// it gives to servers.
func TestThirdPartyClient(t *testing.T) {
	t.Parallel()
	modules := sdk(t)
	w := newWorld(t)
	web := newAPI(t)
	w.credential("api", "--type", "bearer", "--target", web.URL+"/v1/")
	box := w.sshd()
	box.register("box")
	screen := w.serve()

	script, err := os.ReadFile("testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(w.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", w.file("client.mjs", string(script)), binary, w.home, web.URL, "box")
	cmd.Dir = w.dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := w.capture("stderr of node")
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	seen := w.capture("what node got")
	steps := map[string]step{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		seen.Write(append(lines.Bytes(), '\n'))
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		steps[s.Step] = s
		switch s.Step {
		case "get sent", "ssh sent":
			screen.answers("y")
		case "delete sent":
			screen.answers("n not today")
		case "stderr", "transport error":
			t.Errorf("%s: %s%s", s.Step, s.Text, s.Message)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("node: %v\n%s", err, stderr)
	}

	if s := steps["connected"]; s.Server != "executor" {
		t.Errorf("connected: %+v", s)
	}
	if s := steps["listed"]; strings.Join(s.Names, " ") != "http_get http_request list_targets ssh_exec ssh_list_dir ssh_read_file ssh_write_file" || !s.Schemas {
		t.Errorf("listed: %+v", s)
	}
	for name, want := range map[string]struct {
		isError bool
		field   string
		value   any
	}{
		"targets": {false, "schema_revision", 1.0}, "get": {false, "status", 200.0}, "ssh": {false, "exit_code", 7.0},
		"refused": {true, "error_code", "INVALID_ARGUMENTS"}, "unknown host": {true, "error_code", "UNKNOWN_HOST"}, "delete": {true, "error_code", "APPROVAL_DENIED"},
	} {
		if s, ok := steps[name]; !ok || s.IsError != want.isError || s.Result[want.field] != want.value {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := steps["get"]; s.Progress == 0 {
		t.Error("no progress while the GET waited")
	}
	if s := steps["aborted"]; !s.Rejected {
		t.Errorf("a call that was aborted: %+v", s)
	}
	for _, name := range []string{"ping", "closed"} {
		if _, ok := steps[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if n := len(web.requests()); n != 1 {
		t.Errorf("%d requests, one was allowed", n)
	}
	w.status("cancelled")
	w.verified()
}
