package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/journal"
)

// Bounds of what a session keeps for its idempotency keys. A key is never
// forgotten while the session lasts: past the bound new ones are refused.
const (
	maxKeys       = 10_000
	maxKeptReply  = 1 << 20
	maxKeptBodies = 16 << 20
)

// A keptCall is what an idempotency key stands for: the act, and what came of it.
type keptCall struct {
	key      string
	digest   string
	activity string // "" while it runs
	outcome  journal.Outcome
	reply    Reply // without Structured when it was too large to keep
}

// A replay stops a call whose act ran before under its key.
type replay struct{ of *keptCall }

func (*replay) Error() string { return "this key's call ran before" }

// recall looks whether the call's idempotency key was used in this session: with
// this very act its recorded outcome is the answer, with another it is refused.
func (w *work) recall(context.Context) error {
	d, ok := w.resolution.Draft.(*contract.HTTPDraft)
	if !ok || d.IdempotencyKey == "" {
		return nil
	}
	kept, mine := w.session.claim(d.IdempotencyKey, w.digest)
	switch {
	case mine:
		w.key = kept
		return nil
	case kept == nil:
		return refusal(LimitExceeded, fmt.Sprintf("this session used %d idempotency keys, which is the limit", maxKeys))
	case kept.digest != w.digest:
		return &Refusal{Code: InvalidArguments, Message: "idempotency_key was used in this session for another request; use a new key for a new act", Problems: action.Problems{{Path: "/idempotency_key", Problem: "was used in this session for another request"}}}
	case kept.activity == "":
		return refusal(LimitExceeded, "the call with this idempotency_key is still open; wait for its result")
	}
	return &replay{kept}
}

// claim reserves a key, or returns what it stands for. nil: there are too many keys.
func (s *Session) claim(key, digest string) (kept *keptCall, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.keys[key]; ok {
		seen := *old
		return &seen, false
	}
	if len(s.keys) >= maxKeys {
		return nil, false
	}
	if s.keys == nil {
		s.keys = map[string]*keptCall{}
	}
	s.keys[key] = &keptCall{key: key, digest: digest}
	return s.keys[key], true
}

// release gives a key back whose call did not run.
func (s *Session) release(k *keptCall) {
	if k == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, k.key)
}

// keep records what came of the key's call. One of which nothing was sent had no
// effect, and its key is free again.
func (s *Session) keep(k *keptCall, activity string, r shaped) {
	if k == nil {
		return
	}
	if !r.outcome.SideEffectStarted {
		s.release(k)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.activity, k.outcome = activity, r.outcome
	if n := len(r.reply.Text); n <= maxKeptReply && s.keptBytes+n <= maxKeptBodies {
		s.keptBytes += n
		k.reply = r.reply
	}
}

// replay answers with the recorded outcome of the call that ran, and records
// that it did. Nothing is executed.
func (w *work) replay(ctx context.Context, r *replay) Reply {
	w.record.RawArgs = w.recordable()
	w.record.Decision.Basis = "idempotency key: recorded outcome of activity " + r.of.activity
	w.record.Outcome = journal.Outcome{
		Status: journal.Refused, ErrorCode: r.of.outcome.ErrorCode, HTTPStatus: r.of.outcome.HTTPStatus,
		DurationMS: w.cfg.Clock().Sub(w.began).Milliseconds(),
	}
	if err := w.writeRefusal(ctx, w.session, w.record); err != nil {
		return w.refused(&Refusal{Code: JournalUnavailable, Message: "journal unavailable: the recorded outcome cannot be given without writing that down"})
	}
	w.tell()
	out := r.of.reply
	out.Structured = maps.Clone(out.Structured)
	if out.Structured == nil {
		return w.tooLargeToReplay(r.of)
	}
	out.Structured["replayed"], out.Structured["activity_id"] = r.of.activity, w.record.ActivityID
	if !out.IsError {
		return w.reworded(out)
	}
	out.Text += " This is the recorded outcome of that activity; nothing ran now."
	return out
}

// reworded gives a success its text, which is its JSON.
func (w *work) reworded(r Reply) Reply {
	text, err := json.Marshal(r.Structured)
	if err != nil {
		return w.refused(&Refusal{Code: Internal, Message: "the recorded outcome could not be written as JSON", Cause: err})
	}
	r.Text = string(text)
	return r
}

// tooLargeToReplay tells the outcome without the body.
func (w *work) tooLargeToReplay(k *keptCall) Reply {
	status := 0
	if k.outcome.HTTPStatus != nil {
		status = *k.outcome.HTTPStatus
	}
	return w.reworded(Reply{Structured: map[string]any{
		"status": status, "headers": map[string]string{}, "content_type": "", "bytes": k.outcome.Bytes, "truncated": true,
		"redactions": k.outcome.Redactions, "final_url": "", "duration_ms": k.outcome.DurationMS, "replayed": k.activity,
		"schema_revision": w.record.SchemaRevision, "activity_id": w.record.ActivityID,
		"note": "the recorded outcome of an earlier call; its body was too large to keep",
	}, Revision: w.record.SchemaRevision, Digest: w.record.ContractDigest})
}
