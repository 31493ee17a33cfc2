package journal_test

import (
	"testing"
	"time"

	"executor/journal"
)

func TestRanUnderCountsWhatARuleLetRun(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	ctx := t.Context()
	before := call(0)
	before.Decision.Basis = "rule r version 1: before it was made"
	run(t, j, before)
	made := w.now().Add(time.Microsecond)
	for n, basis := range []string{
		"rule r version 1: GET under https://a.example/",
		"grant g-abcde: rule r version 1: GET under https://a.example/",
		"rule r version 12: another version",
		"rule rr version 1: another rule",
		"asked",
		"level",
		"grant g-abcde: exactly sha256:00 rule r version 1: not a rule's scope",
	} {
		a := call(n + 1)
		a.Decision.Basis = basis
		run(t, j, a)
	}
	refused := call(20)
	refused.Decision.Basis, refused.Outcome.Status = "rule r version 1: it did not run", journal.Refused
	if _, err := j.Refuse(ctx, refused, 1); err != nil {
		t.Fatal(err)
	}
	for since, want := range map[time.Time]int{made: 2, time.Unix(0, 0): 3} {
		if got, err := j.RanUnder(ctx, "rule r version 1", since); err != nil || got != want {
			t.Errorf("since %v: %d, %v, want %d", since, got, err, want)
		}
	}
	must(t, j.Close())
	again := w.open(t)
	if got, err := again.RanUnder(ctx, "rule r version 1", made); err != nil || got != 2 {
		t.Errorf("after a restart: %d, %v", got, err)
	}
}
