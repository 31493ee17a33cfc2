package executor_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"executor/approval"
	"executor/executor"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
	"executor/journal"
)

// screens notes what was on the screen and answers with v.
func (w *world) screens(v approval.Verdict) func() []string {
	var mu sync.Mutex
	var seen []string
	w.operator(func(p *approval.Prompt) approval.Answer {
		var b strings.Builder
		for _, s := range p.Sheet.Sections {
			for _, f := range s.Fields {
				fmt.Fprintf(&b, "%s: %s\n", f.Label, f.Text)
			}
		}
		mu.Lock()
		seen = append(seen, b.String())
		mu.Unlock()
		return approval.Answer{Verdict: v}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), seen...)
	}
}

// fits wants a success in the shape that tools/list promises.
func fits(t *testing.T, tool string, r executor.Reply) {
	t.Helper()
	tools, err := contract.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range tools {
		if one.Name != tool {
			continue
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(one.Current.Output, &s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(r.Structured)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil || r.IsError {
			t.Errorf("%s answered %s, which does not fit: %v", tool, raw, err)
		}
		return
	}
	t.Fatalf("no tool %s", tool)
}

func TestAReadIsAskedOnceForEachFile(t *testing.T) {
	w := newWorld(t)
	screens := w.screens(approval.Yes)
	w.runner.answer = func(a action.Action) (executor.Response, error) {
		f := a.(*action.File)
		info := executor.FileInfo{Name: "f", Size: 3, Mode: 0o640, Modified: time.Unix(0, 0)}
		if f.Operation == action.ListDir {
			return &executor.FileResponse{Entries: []executor.FileInfo{info, {Name: "a\xff", Mode: fs.ModeDir | 0o755}}, Total: 3}, nil
		}
		return &executor.FileResponse{Info: info, Content: []byte("ab\n"), Bytes: 3, SHA256: action.Sum([]byte("ab\n"))}, nil
	}
	read := `{"host":"web-1","path":"/etc/hosts"}`
	for range 2 {
		got := w.call("ssh_read_file", read)
		fits(t, "ssh_read_file", got)
		if got.Structured["content"] != "ab\n" || got.Structured["mode"] != "0640" || got.Structured["sha256"] != action.Sum([]byte("ab\n")) {
			t.Errorf("%v", got.Structured)
		}
	}
	if n := len(screens()); n != 1 {
		t.Fatalf("asked %d times for one file", n)
	}
	if s := screens()[0]; !strings.Contains(s, "read: /etc/hosts\nhost: web-1 (deploy@10.0.0.7:22)\n") ||
		!strings.Contains(s, "ssh_read_file: exactly this action on ssh://web-1, at 10.0.0.7:22 as deploy with credential web version 1") {
		t.Errorf("the screen showed\n%s", s)
	}
	w.call("ssh_read_file", `{"host":"web-1","path":"/etc/shadow"}`)
	list := w.call("ssh_list_dir", `{"host":"web-1","path":"/etc/hosts"}`)
	if n := len(screens()); n != 3 {
		t.Errorf("asked %d times for two files and a directory", n)
	}
	fits(t, "ssh_list_dir", list)
	raw, _ := json.Marshal(list.Structured["entries"])
	if string(raw) != `[{"mode":"0640","modified":"1970-01-01T00:00:00Z","name":"f","size":3,"type":"file"},{"mode":"0755","modified":"0001-01-01T00:00:00Z","name_base64":"Yf8=","size":0,"type":"dir"}]` || list.Structured["truncated"] != true {
		t.Errorf("%s", raw)
	}
	last := w.activities()[1]
	if last.Decision.Level != "session" || !strings.Contains(last.Decision.Basis, "exactly") || last.DownstreamTarget != "ssh://web-1" {
		t.Errorf("the second read: %+v", last.Decision)
	}
}

func TestTheDigestOfAFileWithASecretIsNotTold(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	w.runner.answer = func(action.Action) (executor.Response, error) {
		content := []byte("token=" + canary + "\n")
		return &executor.FileResponse{Content: content, Bytes: int64(len(content)), SHA256: action.Sum(content)}, nil
	}
	got := w.call("ssh_read_file", `{"host":"web-1","path":"/srv/.env"}`)
	fits(t, "ssh_read_file", got)
	noSecret(t, "the reply", got)
	if got.Structured["content"] != "token=[credential api]\n" || got.Structured["sha256"] != nil || got.Structured["redactions"] != 1 {
		t.Errorf("%v", got.Structured)
	}
	noSecret(t, "the journal", w.last())
}

func TestAWriteIsShownWholeAndAskedEachTime(t *testing.T) {
	w := newWorld(t)
	screens := w.screens(approval.Yes)
	w.runner.answer = func(a action.Action) (executor.Response, error) {
		return &executor.FileResponse{Info: executor.FileInfo{Mode: 0o600}, Bytes: 6, SHA256: "sha256:x", Replaced: true}, nil
	}
	digest := "sha256:" + strings.Repeat("ab", 32)
	for range 2 {
		fits(t, "ssh_write_file", w.call("ssh_write_file", `{"host":"web-1","path":"/srv/x","content":"hello\n","overwrite":true,"expected_sha256":"`+digest+`"}`))
	}
	fits(t, "ssh_write_file", w.call("ssh_write_file", `{"host":"web-1","path":"/srv/x","content_base64":"AP8=","mode":"0600"}`))
	s := screens()
	if len(s) != 3 {
		t.Fatalf("asked %d times for three writes", len(s))
	}
	for _, want := range []string{"write: /srv/x\n", "what is there: is REPLACED, if it is a file with " + digest, "mode: that of the file which is replaced",
		"content: 6 bytes, " + action.Sum([]byte("hello\n")), "content text: hello\n"} {
		if !strings.Contains(s[0], want) {
			t.Errorf("no %q on the screen:\n%s", want, s[0])
		}
	}
	for _, want := range []string{"what is there: stays", "mode: 0600", "content in base64: AP8="} {
		if !strings.Contains(s[2], want) {
			t.Errorf("no %q on the screen:\n%s", want, s[2])
		}
	}
}

// The mark is shown and given to the runner, and two runs of one command are one act.
func TestTheMarkIsShownAndIsNoPartOfTheAct(t *testing.T) {
	w := newWorld(t)
	screens := w.screens(approval.Yes)
	var ids, digests []string
	for range 2 {
		got := w.call("ssh_exec", `{"host":"web-1","command":"uptime"}`)
		ids = append(ids, got.Structured["activity_id"].(string))
		digests = append(digests, w.last().ActionDigest)
	}
	if digests[0] != digests[1] || ids[0] == ids[1] {
		t.Errorf("digests %q, ids %q", digests, ids)
	}
	if !w.vault.lease.is(ids[1]) {
		t.Errorf("the runner was not told the activity %s", ids[1])
	}
	for i, s := range screens() {
		if !strings.Contains(s, "mark: EXECUTOR_ACTIVITY="+ids[i]+", ") {
			t.Errorf("no mark on the screen:\n%s", s)
		}
	}
}

func TestJumpHostsAreShownAndTheStrictestCounts(t *testing.T) {
	w := newWorld(t)
	items := append(webHost(t),
		item(t, policy.KindCredential, "inner", 1, policy.Credential{Type: policy.SSHKey, Targets: []string{"ssh://10.0.0.9:22"}, Approval: action.None}),
		item(t, policy.KindHost, "db-1", 1, policy.Host{
			Addr: "10.0.0.9:22", User: "db", Credential: "inner", Approval: action.None, Jump: "web-1",
			HostKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ4bCwKf1nVwJrcwvZtPYxqPSGmfFhQ2rLlTzJvZ8m9"},
		}))
	w.vault.set(t, items...)
	screens := w.screens(approval.Yes)
	if got := w.call("ssh_exec", `{"host":"db-1","command":"uptime"}`); got.IsError {
		t.Fatal(got.Text)
	}
	want := "by way of: deploy@10.0.0.7:22\ncredential: web version 1 (ssh-key, in ssh authentication)\nhost: db-1 (db@10.0.0.9:22)\ncredential: inner version 1 (ssh-key, in ssh authentication)\n"
	if s := screens(); len(s) != 1 || !strings.Contains(s[0], want) {
		t.Errorf("the screen showed %q", s)
	}
	hops := w.runner.ran[0].(*action.SSH).Hops
	if len(hops) != 2 || hops[0].Credential.Name != "web" || hops[1].Credential.Name != "inner" {
		t.Errorf("%+v", hops)
	}
	items[1] = item(t, policy.KindHost, "web-1", 2, policy.Host{
		Addr: "10.0.0.7:22", User: "deploy", Credential: "web", Approval: action.Presence, HostKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ4bCwKf1nVwJrcwvZtPYxqPSGmfFhQ2rLlTzJvZ8m9"},
	})
	alone := newWorld(t) // without an operator
	alone.vault.set(t, items...)
	alone.call("ssh_read_file", `{"host":"db-1","path":"/etc/hosts"}`)
	if got := alone.last(); got.Decision.Level != "presence" {
		t.Errorf("a jump host of level presence: %+v", got.Decision)
	}
	items[1] = item(t, policy.KindHost, "web-1", 3, policy.Host{
		Addr: "10.0.0.7:22", User: "deploy", Credential: "web", Jump: "db-1", HostKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ4bCwKf1nVwJrcwvZtPYxqPSGmfFhQ2rLlTzJvZ8m9"},
	})
	w.vault.set(t, items...)
	if got := w.call("ssh_exec", `{"host":"db-1","command":"uptime"}`); code(got) != string(executor.CredentialNotBound) || !strings.Contains(got.Text, "circle") {
		t.Errorf("a circle: %s", got.Text)
	}
	if w.last().Outcome.Status != journal.Refused {
		t.Errorf("%+v", w.last().Outcome)
	}
}
