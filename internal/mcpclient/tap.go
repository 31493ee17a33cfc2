package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// A tap watches the messages of one session. It keeps the results of a few methods
// as they stood, takes tools out of what the SDK gets to see, and remembers the
// first thing that went wrong below the SDK, whose errors lose their kind.
type tap struct {
	mu      sync.Mutex
	asked   map[string]string          // method by request id, as spelled
	results map[string]json.RawMessage // newest result by method
	changes int                        // list_changed notifications so far
	err     error
}

// The methods whose results are kept.
const (
	methodInitialize  = "initialize"
	methodDiscover    = "server/discover"
	methodListTools   = "tools/list"
	noticeListChanged = "notifications/tools/list_changed"
)

func newTap() *tap { return &tap{asked: map[string]string{}, results: map[string]json.RawMessage{}} }

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
}

// sent looks at a message that goes out.
func (t *tap) sent(raw []byte) {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.ID == nil {
		return
	}
	switch m.Method {
	case methodInitialize, methodDiscover, methodListTools:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.asked[string(m.ID)] = m.Method
		if m.Method == methodInitialize {
			t.err = nil // what discover met is over
		}
		delete(t.results, m.Method)
	}
}

// received looks at a message that came in and returns what the SDK is to see of it.
// What is no JSON is passed on, for the SDK to refuse.
func (t *tap) received(raw []byte) []byte {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		if len(raw) > 0 {
			_ = t.fail(fmt.Errorf("%w: a message is no JSON: %w", ErrProtocol, err))
		}
		return raw
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.Method == noticeListChanged {
		t.changes++
	}
	method, ok := t.asked[string(m.ID)]
	if !ok || m.Method != "" || m.Result == nil {
		return raw
	}
	delete(t.asked, string(m.ID))
	t.results[method] = bytes.Clone(m.Result)
	if method != methodListTools {
		return raw
	}
	return append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...), `,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}}`...)
}

// result is the newest answer to a method.
func (t *tap) result(method string) json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.results[method]
}

// changed counts the list_changed notifications so far.
func (t *tap) changed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changes
}

// fail remembers the first error and returns err.
func (t *tap) fail(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
	return err
}

func (t *tap) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
