package executor

import (
	"context"
	"errors"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/journal"
)

// A Refusal stops a call before any effect. Message is one safe sentence that
// says what was wrong and what would be right.
type Refusal struct {
	Code     Code
	Message  string
	Problems action.Problems
	// Current is the tool's current revision, where that is the point.
	Current int
	// Action is what the caller may do, where that is not what the code says.
	Action string
	// Cause is for the operator.
	Cause error
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Message }

func (r *Refusal) Unwrap() error { return r.Cause }

func (r *Refusal) requiredAction() string {
	if r.Action != "" {
		return r.Action
	}
	return r.Code.RequiredAction()
}

func refusal(code Code, message string) *Refusal { return &Refusal{Code: code, Message: message} }

// asRefusal names the code of whatever stopped a call. What it does not know is INTERNAL.
func asRefusal(err error) *Refusal {
	var r *Refusal
	var problems action.Problems
	var stale *contract.StaleError
	var removed *contract.RemovedError
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &problems):
		return &Refusal{Code: InvalidArguments, Message: "the arguments do not fit: " + problems.Error(), Problems: problems}
	case errors.As(err, &stale):
		return &Refusal{
			Code: StaleToolSchema, Message: stale.Error() + ". List the tools again, and build the call anew from what is listed",
			Problems: stale.Problems, Current: stale.Current.Revision,
		}
	case errors.As(err, &removed):
		r := refusal(ToolRemoved, removed.Error())
		if removed.Replacement == "" {
			r.Action = doNotRetry
		}
		return r
	case errors.Is(err, contract.ErrUnknownTool):
		return refusal(InvalidArguments, "there is no tool of this name; list the tools again")
	case errors.Is(err, ErrLocked):
		return refusal(VaultLocked, "the vault is locked; the operator can open it with: executor unlock")
	case errors.Is(err, ErrDraining):
		return refusal(Draining, "executor is shutting down; nothing was run")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return refusal(CallCancelled, "the caller cancelled the call before anything was done")
	}
	return &Refusal{Code: Internal, Message: "an internal error; nothing was done", Cause: err}
}

// approvalRefusal names the code of an answer that was not a yes.
func approvalRefusal(d approval.Decision, err error) error {
	switch {
	case errors.Is(err, approval.ErrNoApprover):
		return refusal(NoApprover, "this call needs the operator's approval, and nobody is there to give it: no terminal of the operator is attached, or the last request was not answered. The operator can attach one with: executor approve")
	case errors.Is(err, approval.ErrDenied):
		if d.Reason != "" {
			return refusal(ApprovalDenied, "the operator denied this call: "+d.Reason)
		}
		return refusal(ApprovalDenied, "the operator denied this call")
	case errors.Is(err, approval.ErrExpired):
		return refusal(ApprovalExpired, "approval expired, not run: nobody answered in time")
	case errors.Is(err, ErrLocked), errors.Is(err, ErrDraining): // also why what was shown holds no more
		return asRefusal(err)
	case errors.Is(err, approval.ErrChanged):
		return refusal(ChangedSinceShown, "something that this call depends on changed since it was shown to the operator; nothing was run")
	case errors.Is(err, approval.ErrNotRecorded):
		return &Refusal{Code: JournalUnavailable, Message: "journal unavailable, action not run: the operator's yes could not be written down", Cause: err}
	case errors.Is(err, approval.ErrFlood):
		return refusal(LimitExceeded, "too many requests of this client wait for approval; wait for one to be answered")
	}
	return err
}

// status is the outcome status of a stop before the intent.
func (r *Refusal) status() string {
	if r.Code == CallCancelled {
		return journal.Cancelled
	}
	return journal.Refused
}
