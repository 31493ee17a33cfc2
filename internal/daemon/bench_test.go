package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"executor/approval"
	"executor/approval/console"
	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/mcpclient"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/vault"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// roleVariable makes the test binary one of the processes that a benchmark needs.
const roleVariable = "EXECUTOR_BENCH_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "mcp":
		if err := daemon.Bridge(context.Background(), os.Stdin, os.Stdout, os.Getenv("EXECUTOR_BENCH_SOCKET"), daemon.BridgeWait); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "noop":
		s := mcp.NewServer(&mcp.Implementation{Name: "noop"}, nil)
		s.AddTool(&mcp.Tool{Name: "noop", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
		if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

func role(name string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{roleVariable + "=" + name}, env...)
	cmd.Stderr = os.Stderr
	return cmd
}

func connect(b *testing.B, cmd *exec.Cmd) *mcpclient.Client {
	b.Helper()
	c, err := mcpclient.Start(b.Context(), cmd, "bench", "1")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

// yes is a screen where everything is approved.
func yes(ctx context.Context, seat console.Seat) error {
	defer seat.Close()
	for {
		e, err := seat.Next(ctx)
		if err != nil {
			return nil
		}
		if e.Kind == approval.Opened {
			_ = seat.Shown(ctx, e.ID)
			_ = seat.Answer(ctx, approval.Answer{ID: e.ID, Digest: e.Prompt.Digest, Verdict: approval.Yes})
		}
	}
}

// serveHome serves a fresh home that has one bearer credential for target.
func serveHome(b testing.TB, target string) (dir string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "h")
	pass := secret.New([]byte("bench"))
	if err := daemon.CreateHome(b.Context(), dir, pass, 12); err != nil {
		b.Fatal(err)
	}
	home, err := daemon.OpenHome(b.Context(), dir, pass)
	if err != nil {
		b.Fatal(err)
	}
	body, err := json.Marshal(policy.Credential{Type: policy.Bearer, Targets: []string{target}, Approval: action.None})
	if err != nil {
		b.Fatal(err)
	}
	err = home.Vault.Update(b.Context(), "bench", func(e *vault.Edit) error {
		_, err := e.Put(vault.Item{Kind: policy.KindCredential, Name: "api", Body: body, Secret: secret.New([]byte("canary-7d1e9b40c2f8"))})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	debug.SetGCPercent(400) // as the command sets it
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- daemon.Serve(ctx, daemon.Config{Home: home, Terminal: yes, Ready: func() { close(ready) }})
	}()
	select {
	case <-ready:
	case err := <-done:
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			b.Error(err)
		}
		home.Close()
	})
	return dir
}

// BenchmarkCall measures a whole call (client, bridge process, daemon, approval
// given for the session, journal on disk, HTTP API on loopback) beside its floor:
// the same GET by a bare client, a no-op tool call over the SDK's stdio, and two
// appends with fsync. The call and the parts of the floor take turns, since in a
// loop of its own each part runs hotter than it ever does inside a call. It
// reports medians, their ratio, and what 32 callers in one session do to the rate.
func BenchmarkCall(b *testing.B) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"ok":true}`)
	}))
	defer api.Close()
	dir := serveHome(b, api.URL+"/v1/")
	agent := connect(b, role("mcp", "EXECUTOR_BENCH_SOCKET="+filepath.Join(dir, daemon.AgentSocket)))
	noop := connect(b, role("noop"))
	args := json.RawMessage(`{"method":"GET","url":"` + api.URL + `/v1/me"}`)
	call := func() error {
		res, err := agent.Call(b.Context(), "http_request", args)
		if err == nil && res.IsError {
			err = fmt.Errorf("%s", res.Structured)
		}
		return err
	}
	file, err := os.Create(filepath.Join(dir, "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	entry := make([]byte, 1500)
	floors := []func() error{
		func() error {
			res, err := http.Get(api.URL + "/v1/me")
			if err != nil {
				return err
			}
			defer res.Body.Close()
			_, err = io.Copy(io.Discard, res.Body)
			return err
		},
		func() error { _, err := noop.Call(b.Context(), "noop", json.RawMessage(`{}`)); return err },
		func() error {
			for range 2 {
				if _, err := file.Write(entry); err != nil {
					return err
				}
				if err := file.Sync(); err != nil {
					return err
				}
			}
			return nil
		},
	}
	if err := call(); err != nil { // the session's yes, and warm connections
		b.Fatal(err)
	}

	n := max(b.N, 300)
	medians := inTurns(b, n, append([]func() error{call}, floors...))
	whole, parts := medians[0], medians[1:]
	var floor time.Duration
	for _, part := range parts {
		floor += part
	}
	one := rate(b, 1, n, call)
	many := rate(b, 32, n*4, call)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(whole.Microseconds()), "p50-µs")
	b.ReportMetric(float64(floor.Microseconds()), "floor-µs")
	b.ReportMetric(float64(parts[0].Microseconds()), "floor-get-µs")
	b.ReportMetric(float64(parts[1].Microseconds()), "floor-stdio-µs")
	b.ReportMetric(float64(parts[2].Microseconds()), "floor-fsync-µs")
	b.ReportMetric(float64(whole)/float64(floor), "p50/floor")
	b.ReportMetric(many/one, "rate-32/1")
}

// inTurns runs each of fs n times, one after the other, and returns the medians
// of their times.
func inTurns(b *testing.B, n int, fs []func() error) []time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(fs))
	for range n {
		for i, f := range fs {
			began := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	medians := make([]time.Duration, len(fs))
	for i, list := range times {
		slices.Sort(list)
		medians[i] = list[n/2]
	}
	return medians
}

// rate is how many calls a second callers manage together.
func rate(b *testing.B, callers, n int, f func() error) float64 {
	b.Helper()
	var wg sync.WaitGroup
	began := time.Now()
	for range callers {
		wg.Go(func() {
			for range n / callers {
				if err := f(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(began).Seconds()
}
