package executor

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"executor/internal/policy"
)

// ranBefore is a journal that knows how often a rule was used.
type ranBefore struct {
	Journal
	n int
}

func (r ranBefore) RanUnder(context.Context, string, time.Time) (int, error) { return r.n, nil }

// However many calls were judged before any of them took its place, a rule never
// lets more run than it may.
func TestATallyNeverGivesAPlaceTwice(t *testing.T) {
	g, err := policy.Load(1, []policy.Item{{Kind: policy.KindRule, Name: "r", Version: 1,
		Body: []byte(`{"approval":"none","host":"web-1","created":"2026-11-30T12:00:00Z","max_calls":10}`)}})
	if err != nil {
		t.Fatal(err)
	}
	r := g.Rules()[0]
	var tally tally
	if tally.hold(r) || tally.used(r, nil) != math.MaxInt {
		t.Error("a rule that was not learned gives places")
	}
	if err := tally.learn(t.Context(), g, ranBefore{n: 3}); err != nil {
		t.Fatal(err)
	}
	var held atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if tally.hold(r) {
				held.Add(1)
			}
		})
	}
	wg.Wait()
	if n := held.Load(); n != 7 || tally.used(r, nil) != 10 || tally.used(r, r) != 9 {
		t.Errorf("%d places were given, 7 were left; used %d", n, tally.used(r, nil))
	}
	tally.give(r, true)
	tally.give(r, false)
	if tally.used(r, nil) != 9 || !tally.hold(r) || tally.hold(r) {
		t.Error("a place that came back is not given once")
	}
	// A further reading of the vault does not begin anew.
	if err := tally.learn(t.Context(), g, ranBefore{}); err != nil || tally.used(r, nil) != 10 {
		t.Errorf("learned twice: %d, %v", tally.used(r, nil), err)
	}
}
