package executor_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"executor/approval"
	"executor/executor"
	"executor/internal/action"
	"executor/internal/policy"
	"executor/journal"
)

const keyed = `{"method":"POST","url":"https://api.example.com/v1/x","json":{"n":%d},"idempotency_key":%q}`

func TestIdempotencyKey(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	first := w.call("http_request", fmt.Sprintf(keyed, 1, "k1"))
	if first.IsError || w.runner.count() != 1 {
		t.Fatalf("%v", first.Structured)
	}
	sent := w.runner.ran[0].(*action.HTTP).Headers
	if !strings.Contains(fmt.Sprint(sent), "{Idempotency-Key k1}") {
		t.Errorf("the key was not sent: %v", sent)
	}
	if got := w.last(); !strings.Contains(string(got.NormalizedArgs), `"k1"`) || !strings.Contains(got.RawArgs, `"k1"`) {
		t.Errorf("the key is not in the record: %s", got.NormalizedArgs)
	}

	again := w.call("http_request", fmt.Sprintf(keyed, 1, "k1"))
	if again.IsError || w.runner.count() != 1 || again.Structured["status"] != 200 || again.Structured["replayed"] != first.Structured["activity_id"] || again.Structured["activity_id"] == first.Structured["activity_id"] {
		t.Errorf("the second call: %v, ran %d times", again.Structured, w.runner.count())
	}
	if got := w.last(); got.Outcome.Status != journal.Refused || !strings.Contains(got.Decision.Basis, fmt.Sprint(first.Structured["activity_id"])) || got.Downstream != nil {
		t.Errorf("the record of the second call: %+v", got)
	}

	other := w.call("http_request", fmt.Sprintf(keyed, 2, "k1"))
	if code(other) != string(executor.InvalidArguments) || w.runner.count() != 1 || !strings.Contains(fmt.Sprint(other.Structured["problems"]), "/idempotency_key") {
		t.Errorf("another act under the key: %v", other.Structured)
	}
	if r := w.call("http_request", fmt.Sprintf(keyed, 1, "k2")); r.IsError || w.runner.count() != 2 {
		t.Errorf("another key: %v", r.Structured)
	}
	// Another session's keys are its own.
	w.session, _ = w.x.Begin(t.Context(), executor.SessionInfo{})
	if r := w.call("http_request", fmt.Sprintf(keyed, 1, "k1")); r.IsError || w.runner.count() != 3 {
		t.Errorf("another session: %v", r.Structured)
	}
}

func TestIdempotencyKeyOfWhatFailed(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	w.runner.answer = func(action.Action) (executor.Response, error) { return nil, errors.New("broke off") }
	first := w.call("http_request", fmt.Sprintf(keyed, 1, "k1"))
	w.runner.answer = nil
	again := w.call("http_request", fmt.Sprintf(keyed, 1, "k1"))
	if !first.IsError || code(again) != code(first) || w.runner.count() != 1 || again.Structured["replayed"] != first.Structured["activity_id"] {
		t.Errorf("what may have had its effect ran again: %v", again.Structured)
	}
	w.runner.unsent = true
	if r := w.call("http_request", fmt.Sprintf(keyed, 1, "k2")); !r.IsError {
		t.Errorf("%v", r.Structured)
	}
	w.runner.unsent = false
	if r := w.call("http_request", fmt.Sprintf(keyed, 1, "k2")); r.IsError {
		t.Errorf("what was never sent does not run: %v", r.Structured)
	}
}

func TestIdempotencyKeyOfARefusedCallIsFree(t *testing.T) {
	w := newWorld(t)
	if r := w.call("http_request", fmt.Sprintf(keyed, 1, "k1")); code(r) != string(executor.NoApprover) {
		t.Fatalf("%v", r.Structured)
	}
	w.operator(says(approval.Yes))
	if r := w.call("http_request", fmt.Sprintf(keyed, 2, "k1")); r.IsError {
		t.Errorf("%v", r.Structured)
	}
}

func TestIdempotencyKeyOfManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.operator(says(approval.Yes))
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for range 16 {
		wg.Go(func() {
			r := w.call("http_request", fmt.Sprintf(keyed, 1, "k1"))
			what := code(r)
			if _, replayed := r.Structured["replayed"]; replayed {
				what = "replayed"
			}
			mu.Lock()
			seen[what]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if w.runner.count() != 1 || seen[""] != 1 || seen[""]+seen["replayed"]+seen[string(executor.LimitExceeded)] != 16 {
		t.Errorf("ran %d times: %v", w.runner.count(), seen)
	}
}

func TestIdempotencyHeaderOfTheCredential(t *testing.T) {
	w := newWorld(t)
	w.vault.set(t, item(t, policy.KindCredential, "api", 1, policy.Credential{
		Type: policy.Bearer, Targets: []string{"https://api.example.com/v1/"}, Approval: action.None, IdempotencyHeader: "x-request-token",
	}))
	w.operator(says(approval.Yes))
	w.call("http_request", fmt.Sprintf(keyed, 1, "k1"))
	if sent := fmt.Sprint(w.runner.ran[0].(*action.HTTP).Headers); !strings.Contains(sent, "{X-Request-Token k1}") || strings.Contains(sent, "Idempotency-Key") {
		t.Errorf("headers %s", sent)
	}
	r := w.call("http_request", `{"method":"POST","url":"https://api.example.com/v1/x","idempotency_key":"k","headers":{"X-Request-Token":"other"}}`)
	if code(r) != string(executor.InvalidArguments) {
		t.Errorf("the key twice: %v", r.Structured)
	}
}

// TestUnknownOutcomeAsks: what a crash left without an outcome makes the next such
// call ask, with that fact on the screen, although a yes covers it.
func TestUnknownOutcomeAsks(t *testing.T) {
	w := newWorld(t)
	asked := []string{}
	w.operator(func(p *approval.Prompt) approval.Answer {
		asked = append(asked, p.Level.String()+" "+fmt.Sprint(p.Sheet))
		return approval.Answer{Verdict: approval.Yes}
	})
	const args = `{"method":"GET","url":"https://api.example.com/v1/x"}`
	w.call("http_request", args) // session yes
	w.call("http_request", args) // covered
	if len(asked) != 1 {
		t.Fatalf("asked %d times", len(asked))
	}
	// A run of the same act that a crash cut off.
	lost := w.last()
	lost.ActivityID, lost.Outcome = "01a22df4-0000-7000-8000-000000000001", journal.Outcome{}
	if _, err := w.journal.Intend(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	if n, err := w.journal.Recover(t.Context()); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if r := w.call("http_request", args); r.IsError {
		t.Fatalf("%v", r.Structured)
	}
	if len(asked) != 2 || !strings.HasPrefix(asked[1], "call ") || !strings.Contains(asked[1], "ended as unknown") || !strings.Contains(asked[1], "for that reason") {
		t.Fatalf("asked %d times: %q", len(asked), asked)
	}
	w.call("http_request", args)
	if len(asked) != 2 {
		t.Error("asked again, although the last run's outcome is known")
	}
}
