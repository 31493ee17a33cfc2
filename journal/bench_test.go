package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"executor/journal"
)

// BenchmarkAppend measures one caller's append of an intent of about 1.5 KB
// beside its floor on the same disk: a write of as many bytes at the end of a
// file, and fsync. They take turns, so that both meet the disk and the processor
// as they are; in a loop of its own either is faster. It reports both medians
// and their ratio.
func BenchmarkAppend(b *testing.B) {
	w := newWorld(b)
	j := w.open(b)
	f, err := os.Create(filepath.Join(w.dir, "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := make([]byte, 1500)
	var floor, ours []time.Duration
	for i := 0; b.Loop(); i++ {
		a := call(i)
		start := time.Now()
		if i%2 == 0 {
			if _, err := f.Write(line); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			floor = append(floor, time.Since(start))
			continue
		}
		if _, err := j.Intend(b.Context(), a); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
	}
	low, high := median(floor), median(ours)
	b.ReportMetric(float64(low.Microseconds()), "floor-p50-µs")
	b.ReportMetric(float64(high.Microseconds()), "append-p50-µs")
	b.ReportMetric(float64(high)/float64(max(low, 1)), "ratio")
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkGroup measures appends per second of 1 and of 64 callers.
func BenchmarkGroup(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			j := newWorld(b).open(b)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for {
						n := next.Add(1)
						if n > int64(b.N) {
							return
						}
						if _, err := j.Intend(b.Context(), call(int(n))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// BenchmarkQuery measures -n 50 with each filter, and verification, over a log
// whose size is set by EXECUTOR_BENCH_ENTRIES (default 20000 activities).
func BenchmarkQuery(b *testing.B) {
	w := newWorld(b)
	fill(b, w, benchEntries(b))
	r := w.reader(b)
	var next atomic.Int64 // no call twice, however often a part is run
	for name, f := range map[string]journal.Filter{
		"all":        {},
		"tool":       {Match: journal.Match{Tool: []string{"http_request"}}},
		"rareTool":   {Match: journal.Match{Tool: []string{"rare_tool"}}},
		"error":      {Match: journal.Match{Status: []string{journal.Error}}},
		"target":     {Match: journal.Match{Target: []string{"https://rare.example.com"}}},
		"credential": {Match: journal.Match{Credential: []string{"api"}}},
		"session":    {Match: journal.Match{Session: []string{"session-3"}}},
		"client":     {Match: journal.Match{Client: []string{"agent-3"}}},
		"two":        {Match: journal.Match{Tool: []string{"http_request"}, Status: []string{journal.Error}}},
		"until":      {Until: w.now().Add(-365 * 24 * time.Hour)},
	} {
		b.Run(name, func(b *testing.B) {
			f.N = 50
			for b.Loop() {
				collect(b, r.Activities(b.Context(), f))
			}
		})
	}
	b.Run("totals", func(b *testing.B) { // of a session with a tenth of all calls
		for b.Loop() {
			if s, err := r.Session(b.Context(), "session-3"); err != nil || s.Calls["total"] == 0 {
				b.Fatal(s.Calls, err)
			}
		}
	})
	b.Run("verify", func(b *testing.B) {
		var entries int64
		for b.Loop() {
			entries += w.mustVerify(b, journal.VerdictOK).Size
		}
		b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
	})
	b.Run("tree", func(b *testing.B) {
		var entries int64
		for b.Loop() {
			n, err := journal.TreePass(b.Context(), w.dir)
			if err != nil {
				b.Fatal(err)
			}
			entries += n
		}
		b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
	})
	b.Run("append", func(b *testing.B) { // beside an empty log, in turns of 50
		full, empty := w.open(b), newWorld(b).open(b)
		var times [2][]time.Duration
		for i := 0; b.Loop(); i++ {
			j, n := full, i/50%2
			if n == 1 {
				j = empty
			}
			start := time.Now()
			if _, err := j.Intend(b.Context(), call(1<<30+int(next.Add(1)))); err != nil {
				b.Fatal(err)
			}
			times[n] = append(times[n], time.Since(start))
		}
		b.ReportMetric(float64(median(times[0]))/float64(max(median(times[1]), 1)), "full/empty")
	})
	b.Run("size", func(b *testing.B) {
		st, err := os.Stat(filepath.Join(w.dir, "journal.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(st.Size())/float64(2*benchEntries(b)), "bytes/entry")
	})
}

func benchEntries(b *testing.B) int {
	n := 20000
	if s := os.Getenv("EXECUTOR_BENCH_ENTRIES"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// fill writes n activities with 64 callers; one in 1000 is out of the ordinary.
func fill(b *testing.B, w *world, n int) {
	b.Helper()
	j := w.open(b)
	for s := range 10 {
		openSession(b, j, fmt.Sprintf("session-%d", s), fmt.Sprintf("agent-%d", s))
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				a := call(i)
				a.SessionID = fmt.Sprintf("session-%d", i%10)
				o, downstream := okOutcome()
				if i%1000 == 0 {
					a.Tool, a.DownstreamTarget, o.Status = "rare_tool", "https://rare.example.com", journal.Error
				}
				if _, err := j.Intend(b.Context(), a); err != nil {
					b.Error(err)
					return
				}
				if _, err := j.Settle(b.Context(), a.ActivityID, a.SessionID, o, downstream); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}
