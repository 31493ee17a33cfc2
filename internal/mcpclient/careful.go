package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Errors of a Careful client.
var (
	// ErrDecision: the call was not sent, or was refused before any effect, and going
	// on would need a choice that is a person's. Match *Decision for it.
	ErrDecision = errors.New("a person must decide")
	// ErrOutputContract: a result lacks what the caller planned to use.
	ErrOutputContract = errors.New("the result lost a field that was planned on")
	// ErrRefresh: the list of tools changed and could not be read again; nothing was sent.
	ErrRefresh = errors.New("the list of tools changed and cannot be read")
	// ErrNoTool: the server lists no such tool.
	ErrNoTool = errors.New("no such tool")
)

// A Decision is what stopped a call, for a person.
type Decision struct {
	Tool    string
	Reasons []string
}

func (d *Decision) Error() string {
	text := d.Tool + ": " + ErrDecision.Error()
	for _, r := range d.Reasons {
		text += "; " + r
	}
	return text
}

// Is reports that a Decision is an ErrDecision.
func (d *Decision) Is(target error) bool { return target == ErrDecision }

// A Careful is a client for programs that plan calls and send them later. A plan
// keeps the contract that it was made from. When the server's tools change, the
// list is read again before anything is sent, and a planned call is sent only with
// its exact old meaning, or repaired where the repair is certain, or not at all.
//
// Certain is: the server named a stale contract or a missing argument in its own
// envelope, no effect began, the tool's permissions are what they were, and the new
// schema leaves one value that carries no authority. It is tried once. A token that
// declares the contract is never renewed: a server that demands it does so because
// an old call could be mistaken for a new one.
//
// It is safe for concurrent use. Whoever dialed it closes it.
type Careful struct {
	session *mcp.ClientSession

	mu      sync.Mutex
	tools   map[string]*known
	changed bool
}

// DialCareful connects and lists the server's tools.
func DialCareful(ctx context.Context, t mcp.Transport, name, version string) (*Careful, error) {
	c := &Careful{}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: version}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.note() },
	})
	session, err := client.Connect(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("mcp server: %w", err)
	}
	c.session = session
	if c.tools, err = list(ctx, session); err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return c, nil
}

// Close ends the session.
func (c *Careful) Close() error { return c.session.Close() }

func (c *Careful) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = true
}

// current is the tool as it is listed now; the list is read again after a change.
func (c *Careful) current(ctx context.Context, tool string) (*known, error) {
	c.mu.Lock()
	stale := c.changed
	c.mu.Unlock()
	if stale {
		if err := c.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.tools[tool]
	if !ok {
		return nil, fmt.Errorf("%q: %w", tool, ErrNoTool)
	}
	return k, nil
}

// Refresh reads the list of tools again, all pages, and takes it over at once.
func (c *Careful) Refresh(ctx context.Context) error {
	c.mu.Lock()
	c.changed = false
	c.mu.Unlock()
	tools, err := list(ctx, c.session)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.changed = true
		return fmt.Errorf("%w: %w", ErrRefresh, err)
	}
	c.tools = tools
	return nil
}

// An Attempt is one message that was sent for a planned call.
type Attempt struct {
	Number    int             `json:"attempt"`
	Revision  int             `json:"revision"`
	Arguments json.RawMessage `json:"arguments"`
	// Refused is the error code of the server's envelope, "" for a result.
	Refused string `json:"refused,omitempty"`
}

// An Outcome is what became of a planned call. RequestID stays the same over all
// attempts.
type Outcome struct {
	RequestID string          `json:"request_id"`
	Attempts  []Attempt       `json:"attempts"`
	Result    json.RawMessage `json:"result"`
	IsError   bool            `json:"is_error"`
}

// Do sends a planned call. Errors: ErrDecision, ErrOutputContract, ErrRefresh,
// ErrNoTool, and those of the connection; after any but ErrOutputContract and the
// last, nothing was done. The outcome tells what was sent, beside an error too.
func (c *Careful) Do(ctx context.Context, p *Plan) (*Outcome, error) {
	out := &Outcome{RequestID: p.id}
	now, err := c.current(ctx, p.known.name)
	if err != nil {
		return out, err
	}
	if !now.same(p.known) && !now.accepts(p.known.claim.Revision) {
		if p, err = p.repair(now); err != nil {
			return out, err
		}
	}
	refused, err := c.send(ctx, p, out)
	if err != nil || refused == nil {
		return out, err
	}
	if !refused.repairable() {
		return out, nil
	}
	if err := c.Refresh(ctx); err != nil {
		return out, err
	}
	if now, err = c.current(ctx, p.known.name); err != nil {
		return out, err
	}
	if now.same(p.known) { // a new list mends nothing
		return out, nil
	}
	if p, err = p.repair(now); err != nil {
		return out, err
	}
	_, err = c.send(ctx, p, out)
	return out, err
}

// Unlisted sends a call of a tool that the server does not list: one of this program
// knows the tools that were retired, and its refusal says what replaced them.
// Errors: ErrNoTool, and those of the connection.
func (c *Careful) Unlisted(ctx context.Context, tool string, args json.RawMessage) (*Outcome, error) {
	id, err := newID()
	if err != nil {
		return nil, err
	}
	members, err := argumentsOf(args)
	if err != nil {
		return nil, err
	}
	out := &Outcome{RequestID: id}
	_, err = c.send(ctx, &Plan{id: id, known: &known{name: tool}, args: members}, out)
	var wire *jsonrpc.Error
	if errors.As(err, &wire) && wire.Code == jsonrpc.CodeInvalidParams {
		err = fmt.Errorf("%q: %w", tool, ErrNoTool)
	}
	return out, err
}

// envelope is the refusal of a server of this program.
type envelope struct {
	Code     string `json:"error_code"`
	Started  *bool  `json:"side_effect_started"`
	Problems []struct {
		Path    string `json:"path"`
		Problem string `json:"problem"`
	} `json:"problems"`
}

// repairable reports whether the refusal is one that a new list can mend.
func (e *envelope) repairable() bool {
	if e.Started == nil || *e.Started {
		return false
	}
	return e.Code == "STALE_TOOL_SCHEMA" || e.Code == "INVALID_ARGUMENTS" && len(e.Problems) > 0
}

// send sends one attempt. refused is set for a refusal by the server itself,
// never for the words of something behind it.
func (c *Careful) send(ctx context.Context, p *Plan, out *Outcome) (refused *envelope, err error) {
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	attempt := Attempt{Number: len(out.Attempts) + 1, Revision: p.known.claim.Revision, Arguments: args}
	meta := mcp.Meta{"executor/request": map[string]any{"request_id": out.RequestID, "attempt": attempt.Number}}
	if p.known.claim.Revision > 0 {
		meta[contractKey] = map[string]any{"revision": p.known.claim.Revision, "digest": p.known.claim.Digest}
	}
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: p.known.name, Arguments: args})
	if err != nil {
		out.Attempts = append(out.Attempts, attempt)
		return nil, fmt.Errorf("tools/call %s: %w", p.known.name, err)
	}
	if out.Result, err = json.Marshal(res.StructuredContent); err != nil {
		return nil, err
	}
	out.IsError = res.IsError
	if _, ours := res.Meta[contractKey]; ours && res.IsError {
		refused = &envelope{}
		if err := json.Unmarshal(out.Result, refused); err != nil {
			return nil, err
		}
		attempt.Refused = refused.Code
	}
	out.Attempts = append(out.Attempts, attempt)
	if !res.IsError {
		return nil, p.check(out.Result)
	}
	return refused, nil
}

func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}
