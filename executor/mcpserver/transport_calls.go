package mcpserver

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// callOverhead is what an unanswered call costs beside its line: its goroutine
// and its bookkeeping.
const callOverhead = 4 << 10

// maxExactInteger is the largest integer up to which a float64 has every one.
const maxExactInteger = 1 << 53

// A call is a request that was handed to the SDK and is not yet answered.
type call struct {
	wire      wireID
	id        jsonrpc.ID // what the SDK knows it by
	method    string
	cost      int
	cancelled bool
}

// waitsFor reports whether the end of input waits for the call.
func (c *call) waitsFor() bool { return c.method != methodListen }

// calls are the calls in flight of one connection, found by either id.
type calls struct {
	limit int

	mu        sync.Mutex
	byWire    map[string]*call
	byID      map[jsonrpc.ID]*call
	made      uint64 // ids made up so far
	cost      int
	pending   int // calls that the end of input waits for
	ended     bool
	idle      chan struct{} // closed once ended and none is pending
	handshake bool          // a call has succeeded
}

func newCalls(limit int) *calls {
	return &calls{
		limit:  limit,
		byWire: make(map[string]*call),
		byID:   make(map[jsonrpc.ID]*call),
		idle:   make(chan struct{}),
	}
}

// admit registers the call of an envelope whose line had size bytes.
func (cs *calls) admit(e envelope, size int) (*call, *fault) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	key := e.id.key()
	if cs.byWire[key] != nil {
		return nil, inUse(e)
	}
	c := &call{wire: e.id, method: e.method, cost: size + callOverhead}
	if len(cs.byWire) > 0 && cs.cost+c.cost > cs.limit {
		return nil, &fault{id: e.id, code: CodeBusy, text: "too much is unanswered on this connection: wait for replies"}
	}
	c.id = cs.internalID(e.id)
	cs.byWire[key], cs.byID[c.id] = c, c
	cs.cost += c.cost
	if c.waitsFor() {
		cs.pending++
	}
	return c, nil
}

// inUse reports whether a call in flight has the client's id w.
func (cs *calls) inUse(w wireID) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byWire[w.key()] != nil
}

func inUse(e envelope) *fault {
	return &fault{id: e.id, code: CodeInvalidRequest, text: "id already in use"}
}

// internalID returns the id that the SDK gets. It is the client's own, because
// the SDK repeats it in subscription notifications, unless the SDK cannot hold
// that one exactly or holds an equal one.
func (cs *calls) internalID(w wireID) jsonrpc.ID {
	if id, ok := exactID(w); ok && cs.byID[id] == nil {
		return id
	}
	for {
		cs.made++
		id, _ := jsonrpc.MakeID(fmt.Sprintf("id %d of the transport", cs.made))
		if cs.byID[id] == nil {
			return id
		}
	}
}

// exactID makes the SDK's form of an id, which it takes as a float64.
func exactID(w wireID) (jsonrpc.ID, bool) {
	if w.isString {
		id, err := jsonrpc.MakeID(w.text)
		return id, err == nil
	}
	n, err := strconv.ParseInt(w.text, 10, 64)
	if err != nil || n > maxExactInteger || n < -maxExactInteger {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(float64(n))
	return id, err == nil
}

// cancel marks the call with that id: it will not be answered.
func (cs *calls) cancel(w wireID) (jsonrpc.ID, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.byWire[w.key()]
	if c == nil || c.method == methodInitialize {
		return jsonrpc.ID{}, false
	}
	c.cancelled = true
	return c.id, true
}

// take frees the ids of a call that is about to be answered: the client may
// use its id again as soon as it sees the reply. done must follow.
func (cs *calls) take(id jsonrpc.ID) *call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.byID[id]
	if c == nil {
		return nil
	}
	delete(cs.byID, id)
	delete(cs.byWire, c.wire.key())
	return c
}

// done counts a call as answered, after its reply was written or withheld.
func (cs *calls) done(c *call) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.cost -= c.cost
	if !c.waitsFor() {
		return
	}
	cs.pending--
	if cs.ended && cs.pending == 0 {
		close(cs.idle)
	}
}

// end says that no more calls come. The channel is closed when all that the end
// waits for are answered. It must be called once.
func (cs *calls) end() <-chan struct{} {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.ended = true
	if cs.pending == 0 {
		close(cs.idle)
	}
	return cs.idle
}

// uncoded is the code for a failure of c that came without one, which is how
// the SDK refuses what is out of order around the handshake.
func (cs *calls) uncoded(c *call) int64 {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.method == methodInitialize || !cs.handshake {
		return CodeInvalidRequest
	}
	return CodeInternal
}

// succeeded notes that a call has a result.
func (cs *calls) succeeded() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.handshake = true
}
