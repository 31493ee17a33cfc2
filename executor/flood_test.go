package executor_test

import (
	"fmt"
	"testing"

	"executor/journal"
)

// An agent that makes up names of tools does not make the journal grow by them.
func TestAFloodOfMadeUpNamesIsCounted(t *testing.T) {
	w := newWorld(t)
	const n = 130
	for i := range n {
		w.call(fmt.Sprintf("tool_%d", i), `{}`)
	}
	if err := w.x.End(t.Context(), w.session, "done"); err != nil {
		t.Fatal(err)
	}
	rd, err := journal.OpenReader(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	s, err := rd.Session(t.Context(), w.session.ID())
	if err != nil {
		t.Fatal(err)
	}
	if entries := len(w.activities()); s.Calls["refused"] != n || entries > 60 {
		t.Errorf("%d refusals are on record in %d entries, want %d in few", s.Calls["refused"], entries, n)
	}
}

// A call that is refused after its session has ended is on record too.
func TestARefusalAfterTheEndIsNotHeldForever(t *testing.T) {
	w := newWorld(t)
	for range 60 {
		w.call("ssh_exec", `{"host":"nowhere","command":"x"}`)
	}
	if err := w.x.End(t.Context(), w.session, "done"); err != nil {
		t.Fatal(err)
	}
	w.call("ssh_exec", `{"host":"nowhere","command":"x"}`)
	if code := w.last().Outcome.ErrorCode; code != "CANCELLED" {
		t.Errorf("the last entry is %s", code)
	}
}
