package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"executor/internal/mcpclient"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server spelled is what is kept: digits, order, unknown fields, and tools
// that the SDK would leave out.
func TestListingKeepsTheBytes(t *testing.T) {
	want := `{"capabilities":{"tools":{},"later":{"x":1.50}},"instructions":"Read <this>.","server":{"name":"script","version":"1"},` + strings.TrimSuffix(faithful[1:], `,"extra":true}`) + "}"
	for name, c := range map[string]*mcpclient.Client{
		"stdio": run(t, "plain", options),
		"json":  dial(t, serveHTTP(t, "plain", false).URL, options),
	} {
		l, err := list(t, c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := string(l.JSON()); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	l, err := list(t, dial(t, serveHTTP(t, "plain", true).URL, options))
	if err != nil {
		t.Fatal(err)
	}
	// Sent over several lines, so the white space is another.
	if got := string(l.Tools[0]); !strings.Contains(got, "12345678901234567890.10") || !strings.Contains(got, "1E+2") || !strings.Contains(got, "bad name") {
		t.Errorf("events: got %s", got)
	}
}

func TestRevisionsOfTheProtocol(t *testing.T) {
	legacy := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer() }, nil)
	stateless := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer() }, &mcp.StreamableHTTPOptions{Stateless: true})
	for _, c := range []struct {
		name     string
		client   func() *mcpclient.Client
		protocol string
		tools    string
	}{
		{"stdio, newest", func() *mcpclient.Client { return run(t, "sdk", options) }, "2026-07-28", "alpha"},
		{"stdio, old", func() *mcpclient.Client { return run(t, "plain", options) }, "2025-06-18", "exact"},
		{"stdio, with a banner", func() *mcpclient.Client { return run(t, "chatty", options) }, "2025-06-18", "exact"},
		{"stdio, ends at discover", func() *mcpclient.Client { return run(t, "brittle", options) }, "2025-06-18", "exact"},
		{"http, stateful", func() *mcpclient.Client { return dial(t, serve(t, legacy), options) }, "2025-11-25", "alpha"},
		{"http, stateless", func() *mcpclient.Client { return dial(t, serve(t, stateless), options) }, "2026-07-28", "alpha"},
		{"http, old, events", func() *mcpclient.Client { return dial(t, serveHTTP(t, "plain", true).URL, options) }, "2025-06-18", "exact"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := c.client()
			l, err := list(t, client)
			if err != nil {
				t.Fatal(err)
			}
			if l.Protocol != c.protocol || names(l) != c.tools {
				t.Errorf("revision %s with %s, want %s with %s", l.Protocol, names(l), c.protocol, c.tools)
			}
			if l.Instructions == nil || l.Capabilities == nil || l.Server == nil {
				t.Errorf("left out: %s", l.JSON())
			}
		})
	}
}

func serve(t *testing.T, h http.Handler) string {
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL
}

// A server that does not answer server/discover gets initialize after a third of the time.
func TestDeafServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	c, err := mcpclient.Run(ctx, command("deaf"), options)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Protocol() != "2025-06-18" {
		t.Errorf("revision %s", c.Protocol())
	}
}

func TestPagesThatChange(t *testing.T) {
	for _, role := range []string{"pages", "expired", "noticed"} {
		for transport, c := range map[string]*mcpclient.Client{
			"stdio": run(t, role, options), "http": dial(t, serveHTTP(t, role, true).URL, options),
		} {
			l, err := list(t, c)
			if err != nil || names(l) != "a b d e f g" {
				t.Errorf("%s over %s: got %s, %v", role, transport, names(l), err)
			}
		}
	}
	if l, err := list(t, run(t, "restless", options)); !errors.Is(err, mcpclient.ErrUnstable) {
		t.Errorf("a list that never rests: got %s, %v", names(l), err)
	}
}

func TestBounds(t *testing.T) {
	small := options
	small.Limits = mcpclient.Limits{Message: 1 << 20, List: 1 << 20, Pages: 50}
	few := options
	few.Limits = mcpclient.Limits{Pages: 5}
	for _, c := range []struct {
		role string
		opt  mcpclient.Options
		want error
	}{
		{"huge", options, mcpclient.ErrTooLarge},
		{"endless", small, mcpclient.ErrTooLarge},
		{"endless", few, mcpclient.ErrTooLarge},
		{"circle", options, mcpclient.ErrProtocol},
		{"abyss", options, mcpclient.ErrProtocol},
		{"none", options, mcpclient.ErrProtocol},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := list(t, run(t, c.role, c.opt))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.want) {
			t.Errorf("%s over stdio: %v", c.role, err)
		}
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; c.role == "huge" && got > 150 {
			t.Errorf("%s over stdio took %d MiB", c.role, got)
		}
		for _, events := range []bool{false, true} {
			if _, err := list(t, dial(t, serveHTTP(t, c.role, events).URL, c.opt)); !errors.Is(err, c.want) {
				t.Errorf("%s over http, events %t: %v", c.role, events, err)
			}
		}
	}
	for _, events := range []bool{false, true} {
		if _, err := list(t, dial(t, serveHTTP(t, "flood", events).URL, small)); !errors.Is(err, mcpclient.ErrTooLarge) {
			t.Errorf("a flood over http, events %t: %v", events, err)
		}
	}
}

func TestDeepSchemaArrives(t *testing.T) {
	l, err := list(t, run(t, "deep", options))
	if err != nil || len(l.Tools) != 1 || len(l.Tools[0]) < 9000*8 {
		t.Errorf("got %d tools, %v", len(l.Tools), err)
	}
}

func TestDeath(t *testing.T) {
	c := run(t, "die", options)
	_, err := list(t, c)
	if !errors.Is(err, mcpclient.ErrEnded) || !strings.Contains(err.Error(), "exit status 9") {
		t.Errorf("in a list: %v", err)
	}
	_, err = mcpclient.Run(t.Context(), command("stillborn"), options)
	if !errors.Is(err, mcpclient.ErrEnded) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("at the greeting: %v", err)
	}
}

// A server that hangs is given up and its command is gone.
func TestHanging(t *testing.T) {
	cmd := command("hang")()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := mcpclient.Start(ctx, cmd, "test", "1")
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := c.List(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("list: %v", err)
	}
	c.Close()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if err := syscall.Kill(cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the command lives: %v", err)
	}

	soon, cancel = context.WithTimeout(t.Context(), 600*time.Millisecond)
	defer cancel()
	if _, err := mcpclient.Run(soon, command("mute"), options); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("greeting over stdio: %v", err)
	}
	soon, cancel = context.WithTimeout(t.Context(), 600*time.Millisecond)
	defer cancel()
	url := serveHTTP(t, "mute", false).URL
	if _, err := mcpclient.Dial(soon, mcpclient.Endpoint{URL: url, Transport: http.DefaultTransport}, options); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("greeting over http: %v", err)
	}
}

// A command that ignores the end of its input and the request to end is killed.
func TestStubborn(t *testing.T) {
	cmd := command("stubborn")()
	c, err := mcpclient.Start(t.Context(), cmd, "test", "1")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := syscall.Kill(cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the command lives: %v", err)
	}
}

func TestNoSuchCommand(t *testing.T) {
	_, err := mcpclient.Start(t.Context(), command("x")(), "test", "1")
	if err != nil && !errors.Is(err, mcpclient.ErrEnded) {
		t.Errorf("%v", err)
	}
	cmd := command("x")()
	cmd.Path = filepath.Join(t.TempDir(), "nosuch")
	if _, err := mcpclient.Start(t.Context(), cmd, "test", "1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestRefusalsOverHTTP(t *testing.T) {
	for _, c := range []struct {
		code int
		want error
		text string
	}{
		{http.StatusUnauthorized, mcpclient.ErrUnauthorized, "HTTP 401"},
		{http.StatusForbidden, mcpclient.ErrUnauthorized, "HTTP 403"},
		{http.StatusTemporaryRedirect, mcpclient.ErrRedirected, "to /elsewhere"},
	} {
		hits := 0
		url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits++
			if r.URL.Path == "/elsewhere" || r.Header.Get("Authorization") != "Bearer canary" {
				t.Errorf("%d: a request for %s with %q", c.code, r.URL.Path, r.Header.Get("Authorization"))
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.code)
		}))
		_, err := mcpclient.Dial(t.Context(), mcpclient.Endpoint{URL: url, Transport: http.DefaultTransport, Authorize: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer canary")
			return nil
		}}, options)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || hits == 0 {
			t.Errorf("%d: %v after %d requests", c.code, err, hits)
		}
	}
	refused := errors.New("not bound")
	_, err := mcpclient.Dial(t.Context(), mcpclient.Endpoint{URL: "http://127.0.0.1:1/", Transport: http.DefaultTransport, Authorize: func(*http.Request) error { return refused }}, options)
	if !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}

// The word of a change comes over both transports, in each way that the protocol has.
func TestListChanged(t *testing.T) {
	changed := make(chan struct{}, 100)
	opt := options
	opt.Changed = func() { changed <- struct{}{} }
	wait := func(name string, c *mcpclient.Client) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: no word of the change", name)
		}
		if l, err := list(t, c); err != nil || names(l) != "alpha beta" {
			t.Errorf("%s: got %s, %v", name, names(l), err)
		}
		for len(changed) > 0 {
			<-changed
		}
	}

	signal := filepath.Join(t.TempDir(), "go")
	cmd := command("sdk")()
	cmd.Env = append(cmd.Env, "SIGNAL="+signal)
	stdio, err := mcpclient.Run(t.Context(), func() *exec.Cmd { return cmd }, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer stdio.Close()
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait("stdio", stdio)

	for _, stateless := range []bool{false, true} {
		s := sdkServer()
		h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless})
		c := dial(t, serve(t, h), opt)
		add(s, "beta", `{"type":"object"}`)
		wait(fmt.Sprintf("http, stateless %t", stateless), c)
	}
}

func TestToolsReadsRevisions(t *testing.T) {
	c := run(t, "plain", options)
	tools, err := c.Tools(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Name != "exact" || tools[0].Revision != 0 {
		t.Errorf("got %+v, %v", tools, err)
	}
}

func TestListingIsJSON(t *testing.T) {
	if got := (mcpclient.Listing{}).JSON(); !json.Valid(got) || string(got) != `{"tools":[]}` {
		t.Errorf("got %s", got)
	}
}
