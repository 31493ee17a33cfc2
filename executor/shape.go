package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"executor/internal/contract"
	"executor/journal"
)

// A Reply is what the agent gets.
type Reply struct {
	// Structured is the JSON object of the result, or of the error envelope.
	Structured map[string]any
	// Text says the same in words.
	Text    string
	IsError bool
	// Revision and Digest name the contract that the call was judged by; 0 when
	// it was refused before one was found.
	Revision int
	Digest   string
}

// shaped is what came of an execution: for the journal and for the agent.
type shaped struct {
	outcome    journal.Outcome
	downstream json.RawMessage
	reply      Reply
}

// shape turns what came back into the outcome and the reply, masked. failure is
// what execute returned. A panic over an answer keeps to the one call, and nothing
// of that answer is told: the action was carried out, so its outcome is due.
func (w *work) shape(ctx context.Context, failure error) (out shaped) {
	defer func() {
		if p := recover(); p != nil {
			out = w.shaped(journal.Outcome{})
			out.fail(w, fmt.Errorf("panic over the answer: %v\n%s", p, debug.Stack()))
		}
	}()
	f := w.fields()
	out = w.shaped(f.outcome)
	out.outcome.Redactions = f.redactions
	out.downstream = w.downstream(f)
	switch {
	case f.weak:
		// What the journal would keep of it may hold the secret, or a hash to guess it by.
		out.downstream, out.outcome.ResponseSHA256 = nil, ""
		w.session.echoed()
		out.fail(w, runError(ResultWithheld, "the answer contains the credential that was used, which is too short to be masked safely; the result is withheld"))
	case failure != nil:
		out.reply.Structured = partial(f.result)
		out.fail(w, failure)
	case f.err != nil:
		out.fail(w, f.err)
	default:
		if err := out.succeed(ctx, w, f); err != nil {
			out.fail(w, err)
		}
	}
	return out
}

// shaped begins with an outcome and what is known whatever the answer was.
func (w *work) shaped(o journal.Outcome) shaped {
	o.Status, o.SideEffectStarted = journal.OK, w.started.Load()
	o.DurationMS = w.cfg.Clock().Sub(w.began).Milliseconds()
	return shaped{outcome: o}
}

func runError(code Code, message string) error { return &RunError{Code: code, Message: message} }

// fail makes the outcome an error and the reply its envelope, beside whatever of
// the result may still be told.
func (s *shaped) fail(w *work, failure error) {
	e := &RunError{Code: Internal, Message: "an internal error while the action ran", Detail: failure}
	var known *RunError
	if errors.As(failure, &known) {
		e = known
	}
	w.trouble(e.Detail)
	s.outcome.ErrorCode = string(e.Code)
	s.outcome.Status = failedStatus(e.Code)
	message, n := w.mask.String(e.Message, "")
	s.outcome.Redactions += n.Total()
	extra := s.reply.Structured
	s.reply = w.envelope(refusal(e.Code, message), s.outcome.SideEffectStarted)
	for k, v := range extra {
		if _, taken := s.reply.Structured[k]; !taken {
			s.reply.Structured[k] = v
		}
	}
}

func failedStatus(c Code) string {
	switch c {
	case CallCancelled:
		return journal.Cancelled
	case UpstreamTimeout:
		return journal.Timeout
	}
	return journal.Error
}

// partial is what a run that failed may still tell: output, never a success.
func partial(result map[string]any) map[string]any {
	out := map[string]any{}
	if result["status"] == 0 { // no answer at all
		return out
	}
	for _, k := range []string{"stdout", "stdout_base64", "stderr", "stderr_base64", "may_still_run", "status", "headers", "content_type", "body", "body_base64", "truncated", "note"} {
		if v, ok := result[k]; ok {
			out[k] = v
		}
	}
	return out
}

// envelope is the error of one call, flat, and the same facts in one sentence.
func (w *work) envelope(e *Refusal, started bool) Reply {
	m := map[string]any{
		"error_code": string(e.Code), "message": e.Message, "tool": w.call.Tool,
		"required_action": e.requiredAction(), "side_effect_started": started,
		"schema_revision": w.record.SchemaRevision, "activity_id": w.record.ActivityID,
	}
	if e.Current > 0 {
		m["current_revision"] = e.Current
	}
	if len(e.Problems) > 0 {
		m["problems"] = e.Problems
	}
	effect := "Nothing was done."
	if started {
		effect = "The action had begun, and may have had an effect."
	}
	text := fmt.Sprintf("%s: %s. %s Required action: %s. Activity %s.", e.Code, e.Message, effect, e.requiredAction(), w.record.ActivityID)
	r := Reply{Structured: m, Text: text, IsError: true}
	if c := w.contractNow(); c != nil {
		r.Revision, r.Digest = c.Revision, c.Digest()
		if w.record.SchemaRevision == 0 {
			m["schema_revision"] = c.Revision
		}
	}
	return r
}

// contractNow is the contract that a call was built on, or, where that is not
// known, the tool's newest one, also of a tool that is gone; nil where there is none.
func (w *work) contractNow() *contract.Contract {
	if w.resolution.Contract != nil {
		return w.resolution.Contract
	}
	if t, ok := w.contract.Load().Tool(w.call.Tool); ok {
		all := t.Revisions()
		return all[len(all)-1]
	}
	return nil
}

// refused is the reply to a call that was stopped before its intent.
func (w *work) refused(r *Refusal) Reply {
	return w.envelope(r, false)
}

// notRecorded is the reply when the outcome could not be written: of an action that
// was done, the agent must not believe that it failed, nor of another that it was done.
func (w *work) notRecorded() Reply {
	if !w.started.Load() {
		return w.envelope(refusal(JournalUnavailable, "the call ended before anything was sent, and that could not be written to the journal"), false)
	}
	return w.envelope(refusal(DoneNotRecorded, "the action was carried out, but its outcome could not be written to the journal; ask the operator before you do anything again"), true)
}
