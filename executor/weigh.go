package executor

import (
	"context"

	"executor/internal/action"
)

// weigh sets the level that is due: that of the binding, or, when the last run of
// this very action has no known outcome, the operator's own answer to this call.
// The operator may know what became of it; an earlier yes did not.
func (w *work) weigh(ctx context.Context) error {
	w.level = w.bound.level
	if w.level <= action.Call || w.bound.action.Kind() == (*action.Targets)(nil).Kind() {
		return nil // asked anyway, or without an effect
	}
	unknown, err := w.cfg.Journal.EndedUnknown(ctx, w.digest)
	if err != nil {
		return &Refusal{Code: JournalUnavailable, Message: "journal unavailable, action not run: it cannot be asked for earlier runs", Cause: err}
	}
	if unknown {
		w.level = action.Call
	}
	return nil
}

// scope is what a session yes would cover; "" when the answer is for this call alone.
func (w *work) scope() string {
	if w.level != w.bound.level {
		return ""
	}
	return w.bound.scope
}
