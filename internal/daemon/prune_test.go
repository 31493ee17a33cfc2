package daemon

import (
	"encoding/json"
	"net"
	"path/filepath"
	"testing"
	"time"

	"executor/executor"
	"executor/internal/contract"
	"executor/internal/policy"
	"executor/vault"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const note1 = `
tool: note
description: Keep a note.
revision: 1
input: {type: object, properties: {text: {type: string}}, required: [text], additionalProperties: false}
http: {method: POST, url: "https://api.example.com/notes", json: {text: {$arg: text}}}
`

const note2 = `
tool: note
description: Keep a note somewhere.
revision: 2
input: {type: object, properties: {text: {type: string}, at: {type: string}}, required: [text, at], additionalProperties: false}
http: {method: POST, url: "https://api.example.com/notes", json: {text: {$arg: text}, at: {$arg: at}}}
accepts: [{revision: 1, change: migration, until: 2099-12-31, adapt: [{default: {at: here}}]}]
`

func (h *Home) put(t *testing.T, op contract.Op) {
	t.Helper()
	body, err := json.Marshal(op)
	if err != nil {
		t.Fatal(err)
	}
	err = h.Vault.Update(t.Context(), "test", func(e *vault.Edit) error {
		_, err := e.Put(vault.Item{Kind: policy.KindTool, Name: "note", Body: body})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a prune changes is in the lists that agents see, though no contract changed.
func TestAPruneReachesTheListsOfConnectedAgents(t *testing.T) {
	h := newHome(t)
	for _, y := range []string{note1, note2} {
		f, err := contract.ParseFile([]byte(y))
		if err != nil {
			t.Fatal(err)
		}
		h.put(t, contract.Op{Op: contract.OpPublish, At: time.Now(), File: f, Kind: contract.Migration})
	}
	d, err := assemble(Config{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	session := dial(t, d)
	if got := accepts(t, session); len(got) != 2 {
		t.Fatalf("revisions %v are accepted", got)
	}
	h.put(t, contract.Op{Op: contract.OpPrune, At: time.Now(), Revisions: []int{1}})
	if err := d.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := accepts(t, session); len(got) != 1 || got[0] != 2 {
		t.Errorf("after the prune the list says that %v are accepted", got)
	}
}

// dial connects an agent to d.
func dial(t *testing.T, d *daemon) *mcp.ClientSession {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	here, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.agents.server.Serve(t.Context(), here, executor.SessionInfo{}, d.agents.stop) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: there, Writer: there}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		<-ended
	})
	return session
}

// accepts are the revisions of the tool note that its listing says are accepted.
func accepts(t *testing.T, s *mcp.ClientSession) []int {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name != "note" {
			continue
		}
		raw, err := json.Marshal(tool.Meta[contract.MetaKey])
		if err != nil {
			t.Fatal(err)
		}
		c, err := contract.ParseClaim(raw)
		if err != nil {
			t.Fatal(err)
		}
		return c.Accepts
	}
	t.Fatal("the tool is not listed")
	return nil
}
