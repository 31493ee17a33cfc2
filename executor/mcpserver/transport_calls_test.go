package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func wire(t *testing.T, raw string) wireID {
	t.Helper()
	id, ok := parseID(json.RawMessage(raw))
	if !ok {
		t.Fatalf("%s is no id", raw)
	}
	return id
}

func TestTheSDKGetsTheClientsIDWhereItCan(t *testing.T) {
	for raw, want := range map[string]any{
		"0": int64(0), "-7": int64(-7), `""`: "", `"a"`: "a",
		"9007199254740992": int64(9007199254740992), "9007199254740993": "id 1 of the transport",
		"-9007199254740993": "id 1 of the transport", "99999999999999999999": "id 1 of the transport",
	} {
		cs := newCalls(1 << 20)
		c, wrong := cs.admit(envelope{id: wire(t, raw), method: "ping"}, 1)
		if wrong != nil || c.id.Raw() != want {
			t.Errorf("%s became %#v, %v; want %#v", raw, c.id.Raw(), wrong, want)
		}
	}
}

func TestInitializeIsNotCancelled(t *testing.T) {
	cs := newCalls(1 << 20)
	for raw, method := range map[string]string{"1": methodInitialize, "2": methodCallTool} {
		if _, wrong := cs.admit(envelope{id: wire(t, raw), method: method}, 1); wrong != nil {
			t.Fatal(wrong)
		}
	}
	if id, ok := cs.cancel(wire(t, "1")); ok || id != (jsonrpc.ID{}) {
		t.Errorf("initialize was cancelled: %v", id)
	}
	if id, ok := cs.cancel(wire(t, "2")); !ok || id.Raw() != int64(2) {
		t.Errorf("tools/call was not cancelled: %v", id)
	}
}
