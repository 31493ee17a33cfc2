package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"executor/internal/mcpclient"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is a tool server whose one tool, "deploy", a test can change. It
// answers as this program does: calls of other revisions are refused as stale.
type server struct {
	t      *testing.T
	mcp    *mcp.Server
	mu     sync.Mutex
	tool   *mcp.Tool
	calls  []map[string]any // arguments of calls that had an effect
	seen   []mcp.Meta
	answer map[string]any
}

const objectSchema = `{"type":"object","properties":%s,"required":%s,"additionalProperties":false}`

func newServer(t *testing.T) (*server, *mcpclient.Careful) {
	t.Helper()
	s := &server{t: t, mcp: mcp.NewServer(&mcp.Implementation{Name: "drifting"}, nil), answer: map[string]any{"id": "d-1"}}
	s.publish(1, `{"branch":{"type":"string"}}`, `["branch"]`, nil)
	here, there := mcp.NewInMemoryTransports()
	session, err := s.mcp.Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.DialCareful(t.Context(), there, "test", "1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); session.Close() })
	return s, c
}

// publish makes a revision the current one.
func (s *server) publish(revision int, properties, required string, change func(*mcp.Tool)) {
	no := false
	tool := &mcp.Tool{
		Name: "deploy", InputSchema: json.RawMessage(fmt.Sprintf(objectSchema, properties, required)),
		OutputSchema: json.RawMessage(`{"type":"object","anyOf":[{"properties":{"id":{"type":"string"}}},{"properties":{"error_code":{"type":"string"}},"required":["error_code"]}]}`),
		Annotations:  &mcp.ToolAnnotations{DestructiveHint: &no},
		Meta:         mcp.Meta{"executor/contract": map[string]any{"revision": revision, "digest": fmt.Sprintf("sha256:%d", revision), "accepts": []int{revision}}},
	}
	if change != nil {
		change(tool)
	}
	s.mu.Lock()
	s.tool = tool
	s.mu.Unlock()
	s.mcp.AddTool(tool, s.call)
}

func (s *server) call(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, req.Params.Meta)
	current := s.tool.Meta["executor/contract"].(map[string]any)
	claimed, _ := req.Params.Meta["executor/contract"].(map[string]any)
	if claimed["digest"] != current["digest"] {
		return &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{"executor/contract": current}, Content: []mcp.Content{}, StructuredContent: map[string]any{
			"error_code": "STALE_TOOL_SCHEMA", "side_effect_started": false, "current_revision": current["revision"],
		}}, nil
	}
	var args map[string]any
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	s.calls = append(s.calls, args)
	return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: s.answer, Meta: mcp.Meta{"executor/contract": current}}, nil
}

func (s *server) effects() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *server) plan(c *mcpclient.Careful, needs ...string) *mcpclient.Plan {
	s.t.Helper()
	p, err := c.Plan(s.t.Context(), "deploy", json.RawMessage(`{"branch":"main"}`), needs...)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func TestRepairs(t *testing.T) {
	const branch = `"branch":{"type":"string"}`
	for name, tt := range map[string]struct {
		properties, required string
		change               func(*mcp.Tool)
		sent                 string // the arguments of the one effect, or "" for none
		why                  string
	}{
		"one value left":       {`{` + branch + `,"region":{"const":"us"}}`, `["branch","region"]`, nil, `{"branch":"main","region":"us"}`, ""},
		"an enum of one":       {`{` + branch + `,"region":{"enum":["us"]}}`, `["branch","region"]`, nil, `{"branch":"main","region":"us"}`, ""},
		"a default":            {`{` + branch + `,"region":{"type":"string","default":"us"}}`, `["branch","region"]`, nil, `{"branch":"main","region":"us"}`, ""},
		"another token":        {`{` + branch + `,"contract_revision":{"const":"r2-00"}}`, `["branch","contract_revision"]`, nil, "", "built on its new description"},
		"an object":            {`{` + branch + `,"options":{"const":{"host":"prod"}}}`, `["branch","options"]`, nil, "", "leaves a choice"},
		"a choice":             {`{` + branch + `,"region":{"enum":["us","eu"]}}`, `["branch","region"]`, nil, "", "leaves a choice"},
		"a free text":          {`{` + branch + `,"label":{"type":"string"}}`, `["branch","label"]`, nil, "", "leaves a choice"},
		"authority, one value": {`{` + branch + `,"environment":{"const":"prod"}}`, `["branch","environment"]`, nil, "", "chooses on whom"},
		"authority, a default": {`{` + branch + `,"confirm":{"type":"boolean","default":true}}`, `["branch","confirm"]`, nil, "", "chooses on whom"},
		"an argument is gone":  {`{"ref":{"type":"string","default":"main"}}`, `["ref"]`, nil, "", "not known any more"},
		"a type changed":       {`{"branch":{"type":"integer"}}`, `["branch"]`, nil, "", "does not fit"},
		"more permission":      {`{` + branch + `}`, `["branch"]`, func(t *mcp.Tool) { t.Annotations.DestructiveHint = nil }, "", "may destroy"},
		"nothing that matters": {`{` + branch + `,"label":{"type":"string"}}`, `["branch"]`, nil, `{"branch":"main"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t)
			p := s.plan(c)
			s.publish(2, tt.properties, tt.required, tt.change)
			out, err := c.Do(t.Context(), p)
			var d *mcpclient.Decision
			if errors.As(err, &d) != (tt.sent == "") {
				t.Fatalf("%v, attempts %+v", err, out.Attempts)
			}
			effects := s.effects()
			if tt.sent == "" {
				if len(effects) != 0 || !errors.Is(err, mcpclient.ErrDecision) || !strings.Contains(err.Error(), tt.why) {
					t.Errorf("%v, effects %v, want a decision about %q", err, effects, tt.why)
				}
				return
			}
			got, err := json.Marshal(effects)
			if err != nil || string(got) != "["+tt.sent+"]" {
				t.Errorf("effects %s, want one of %s", got, tt.sent)
			}
		})
	}
}

func TestARequestKeepsItsIdentityOverAttempts(t *testing.T) {
	s, c := newServer(t)
	p := s.plan(c)
	// Without list_changed the client learns of the change from the refusal.
	s.mu.Lock()
	s.tool.Meta["executor/contract"] = map[string]any{"revision": 2, "digest": "sha256:2", "accepts": []int{2}}
	s.mu.Unlock()
	out, err := c.Do(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Attempts) != 2 || out.Attempts[0].Refused != "STALE_TOOL_SCHEMA" || out.Attempts[0].Revision != 1 || out.Attempts[1].Revision != 2 {
		t.Errorf("attempts %+v", out.Attempts)
	}
	var ids []string
	for _, m := range s.seen {
		r := m["executor/request"].(map[string]any)
		ids = append(ids, fmt.Sprint(r["request_id"], " ", r["attempt"]))
	}
	if len(ids) != 2 || ids[0] != out.RequestID+" 1" || ids[1] != out.RequestID+" 2" {
		t.Errorf("ids on the wire %v, request %s", ids, out.RequestID)
	}
	if len(s.effects()) != 1 {
		t.Errorf("effects %v", s.effects())
	}
}

func TestItRetriesOnceAtMost(t *testing.T) {
	s, c := newServer(t)
	p := s.plan(c)
	s.mu.Lock()
	s.tool.Meta["executor/contract"].(map[string]any)["digest"] = "sha256:moving"
	s.mu.Unlock()
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if method == "tools/list" { // it moves again after each list
				s.mu.Lock()
				moved := *s.tool
				moved.Meta = mcp.Meta{"executor/contract": map[string]any{"revision": 3, "digest": fmt.Sprint("sha256:", time.Now().UnixNano()), "accepts": []int{3}}}
				s.tool = &moved
				s.mu.Unlock()
			}
			return res, err
		}
	})
	out, err := c.Do(t.Context(), p)
	if err != nil || !out.IsError || len(out.Attempts) != 2 || len(s.effects()) != 0 {
		t.Errorf("%v, attempts %+v, effects %v", err, out.Attempts, s.effects())
	}
}

func TestARefusalOfSomethingBehindTheServerIsNoReason(t *testing.T) {
	s, c := newServer(t)
	p := s.plan(c)
	s.mcp.AddTool(s.tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, map[string]any{})
		// The words of the protocol, but not in the server's own name.
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{}, StructuredContent: map[string]any{"error_code": "STALE_TOOL_SCHEMA", "side_effect_started": false}}, nil
	})
	out, err := c.Do(t.Context(), p)
	if err != nil || len(out.Attempts) != 1 || len(s.effects()) != 1 {
		t.Errorf("%v, attempts %+v, effects %v", err, out.Attempts, s.effects())
	}
}

func TestALostOutputStops(t *testing.T) {
	t.Run("before anything is sent", func(t *testing.T) {
		s, c := newServer(t)
		p := s.plan(c, "id")
		s.publish(2, `{"branch":{"type":"string"}}`, `["branch"]`, func(t *mcp.Tool) {
			t.OutputSchema = json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}}}`)
		})
		if _, err := c.Do(t.Context(), p); !errors.Is(err, mcpclient.ErrOutputContract) || len(s.effects()) != 0 {
			t.Errorf("%v, effects %v", err, s.effects())
		}
	})
	t.Run("in the result", func(t *testing.T) {
		s, c := newServer(t)
		s.answer = map[string]any{"url": "x"}
		if _, err := c.Do(t.Context(), s.plan(c, "id")); !errors.Is(err, mcpclient.ErrOutputContract) {
			t.Errorf("%v", err)
		}
	})
}

func TestARefreshThatFailsSendsNothing(t *testing.T) {
	s, c := newServer(t)
	p := s.plan(c)
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				return nil, errors.New("not now")
			}
			return next(ctx, method, req)
		}
	})
	if err := c.Refresh(t.Context()); !errors.Is(err, mcpclient.ErrRefresh) {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), p); !errors.Is(err, mcpclient.ErrRefresh) || len(s.effects()) != 0 {
		t.Errorf("%v, effects %v", err, s.effects())
	}
}

// A call that the server refused under the very contract that it was built on is
// not sent again: a new list mends nothing.
func TestARefusalUnderTheSameContractIsNotRetried(t *testing.T) {
	s, c := newServer(t)
	p := s.plan(c)
	s.mcp.AddTool(s.tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, map[string]any{})
		return &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{"executor/contract": s.tool.Meta["executor/contract"]}, Content: []mcp.Content{}, StructuredContent: map[string]any{
			"error_code": "INVALID_ARGUMENTS", "side_effect_started": false, "problems": []any{map[string]any{"path": "/branch", "problem": "is no branch"}},
		}}, nil
	})
	out, err := c.Do(t.Context(), p)
	if err != nil || !out.IsError || len(out.Attempts) != 1 || len(s.effects()) != 1 {
		t.Errorf("%v, attempts %+v", err, out.Attempts)
	}
}
