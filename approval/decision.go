package approval

import "executor/internal/action"

// Results of a decision, as the journal spells them.
const (
	Allowed    = "allowed"
	Denied     = "denied"
	Expired    = "expired"
	NoApprover = "no_approver"
	Changed    = "changed"
)

// BasisAsked is the Basis of a decision that a person made for this request.
const BasisAsked = "asked"

// A Decision says what became of a request. Ask fills it beside an error too.
type Decision struct {
	// ApprovalID is the request's short id, "" when it never got one.
	ApprovalID string
	// Result is one of the results above, or "" when the caller cancelled first
	// or the client has too many requests open.
	Result string
	// By names the seat that answered, also the one whose grant or denial is remembered.
	By string
	// Basis is BasisAsked, "grant ID: scope", "denied as ID", "session blocked",
	// or "" when nobody decided.
	Basis string
	// Level is the level that was due.
	Level action.Level
	// Reason is the operator's own text after "n", or this program's words for a
	// result that no person gave. Foreign text.
	Reason string
	// ShownDigest is the action digest that was on a screen, "" when none was.
	ShownDigest string
}

// A Verdict is what an operator says to a request.
type Verdict string

// The verdicts.
const (
	// Yes allows: the session's scope at level Session, otherwise this call.
	Yes Verdict = "yes"
	// Exact allows this call and the same action digest again in this session,
	// ExactUses more times within ExactFor. Not at level Presence.
	Exact Verdict = "exact"
	// No denies, with or without a reason.
	No Verdict = "no"
	// Block denies and refuses whatever this session asks from now on, and
	// Prompt.Flooding other sessions of its client.
	Block Verdict = "block"
)

// An Answer is one verdict on one request, bound to its approval digest.
type Answer struct {
	ID      string  `json:"id"`
	Digest  string  `json:"digest"`
	Verdict Verdict `json:"verdict"`
	// Reason goes to the agent with a No. Foreign text, at most MaxReason bytes.
	Reason string `json:"reason,omitempty"`
	// Presence says that the operator's passphrase was verified for this answer.
	Presence bool `json:"presence,omitempty"`
}

// MaxReason is how many bytes of a reason are kept.
const MaxReason = 1000
