package httprun_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"executor/executor"
	"executor/executor/httprun"
	"executor/internal/action"
	"executor/internal/mask"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/internal/target"
)

// A benchAPI is a loopback server, a policy of 100 credentials with their masks,
// and the two ways to read it.
type benchAPI struct {
	url    string
	policy *policy.Generation
	mask   *mask.Set
	runner *httprun.Runner
	bare   *http.Client
}

func newBenchAPI(b *testing.B, size int) *benchAPI {
	b.Helper()
	body := bytes.Repeat([]byte(`{"id":7,"name":"something of use","tags":["a","b"]},`), size/52+1)[:size]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write(body)
	}))
	b.Cleanup(srv.Close)
	a := &benchAPI{url: srv.URL + "/v1/x", runner: httprun.New(httprun.Config{}), bare: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	b.Cleanup(a.runner.Close)
	b.Cleanup(a.bare.CloseIdleConnections)
	var items []policy.Item
	var named []mask.Named
	for i := range 100 {
		at := srv.URL + "/v1/"
		if i > 0 {
			at = fmt.Sprintf("https://api-%d.example.com/v1/", i)
		}
		raw, err := json.Marshal(policy.Credential{Type: policy.Bearer, Targets: []string{at}, Approval: action.None})
		if err != nil {
			b.Fatal(err)
		}
		name := fmt.Sprint("c", i)
		items = append(items, policy.Item{Kind: policy.KindCredential, Name: name, Version: 1, Body: raw})
		named = append(named, mask.Named{Name: name, Secret: secret.New(fmt.Appendf(nil, "s3cret-%04d-%x", i*7919, i*104729+99991))})
	}
	var err error
	if a.policy, err = policy.Load(1, items); err != nil {
		b.Fatal(err)
	}
	a.mask = mask.NewSet(named)
	return a
}

// through is a credentialed GET as the pipeline sends it: normalized, bound,
// checked, sent, masked. It returns how many bytes came out.
func (a *benchAPI) through(b *testing.B) int {
	u, err := target.Parse(a.url)
	if err != nil {
		b.Fatal(err)
	}
	bound, err := a.policy.BindURL(u, "")
	if err != nil || bound.Credential == nil {
		b.Fatal(err)
	}
	act := &action.HTTP{
		Method: "GET", URL: u.String(), Origin: u.Origin(), Credential: bound.Credential.Ref(), Binding: bound.Pattern,
		Headers:   []action.Header{{Name: "Accept", Value: "*/*"}, {Name: "User-Agent", Value: "executor"}},
		Redirects: action.Redirects{Max: 5, Within: bound.Pattern}, Address: action.Address{Private: true},
		Limits: action.Limits{Timeout: time.Minute, MaxBytes: 1 << 20},
	}
	lease := &executor.Lease{Meta: *bound.Credential, Secret: secret.New([]byte("s3cret-0000-1869f"))}
	defer lease.Wipe()
	resp, err := a.runner.Run(b.Context(), act, lease, func() {})
	if err != nil {
		b.Fatal(err)
	}
	r := resp.(*executor.HTTPResponse)
	for _, h := range r.Headers {
		a.mask.String(h.Value, bound.Credential.Name)
	}
	out, _ := a.mask.Bytes(r.Body, bound.Credential.Name)
	return len(out)
}

func (a *benchAPI) plain(b *testing.B) int {
	req, err := http.NewRequestWithContext(b.Context(), "GET", a.url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer s3cret-0000-1869f")
	resp, err := a.bare.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		b.Fatal(err)
	}
	return len(body)
}

// BenchmarkOverhead reads with the runner and with a bare net/http client in
// turns, and reports both medians. The floor is the bare client's:
//
//	1 KB:   p50 at most 1.5 times
//	100 KB: p50 at most bare + 50 µs + the body at 200 MB/s (512 µs)
func BenchmarkOverhead(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			a := newBenchAPI(b, size)
			for range 50 {
				a.through(b)
				a.plain(b)
			}
			var bare, runner []time.Duration
			for b.Loop() {
				begin := time.Now()
				if a.plain(b) != size {
					b.Fatal("the bare client read something else")
				}
				bare = append(bare, time.Since(begin))
				begin = time.Now()
				if a.through(b) != size {
					b.Fatal("the runner read something else")
				}
				runner = append(runner, time.Since(begin))
			}
			slices.Sort(bare)
			slices.Sort(runner)
			pb, pr := bare[len(bare)/2], runner[len(runner)/2]
			b.ReportMetric(float64(pb.Microseconds()), "µs-bare-p50")
			b.ReportMetric(float64(pr.Microseconds()), "µs-runner-p50")
			b.ReportMetric(float64(pr)/float64(pb), "times-bare")
			b.ReportMetric(float64((pr - pb).Microseconds()), "µs-more")
			b.ReportMetric(allocations(func() { a.through(b) })-allocations(func() { a.plain(b) }), "allocs-more/op")
		})
	}
}

// allocations is how many fn makes, with those of the server that it talks to.
func allocations(fn func()) float64 {
	const runs = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		fn()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / runs
}

// BenchmarkRunner is the runner's way alone, for a profile.
func BenchmarkRunner(b *testing.B) {
	a := newBenchAPI(b, 1<<10)
	b.ReportAllocs()
	for b.Loop() {
		a.through(b)
	}
}
