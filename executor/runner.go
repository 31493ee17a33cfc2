package executor

import (
	"context"
	"fmt"
	"time"

	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/secret"
)

// A Runner performs one kind of action.
type Runner interface {
	// Run performs a with the leased credential, which is nil when a has none. It
	// calls started once, before the first byte of the action may leave; a run that
	// ends without that call had no effect. Run does not retry, keeps nothing of the
	// lease after it returns, and answers with what came so far beside an error.
	//
	// An error is a *RunError; any other error is reported as INTERNAL. When ctx is
	// cancelled Run ends what it began, as far as the protocol can, and returns soon.
	Run(ctx context.Context, a action.Action, l *Lease, started func()) (Response, error)
}

// A Lease is exactly the credential versions that an action names. Hops holds
// the leases of an SSH action's jump hosts in order, the destination not included.
type Lease struct {
	Meta   policy.Credential
	Secret *secret.Secret
	Hops   []*Lease
	// Learn tells the masks of a secret that was made from this one, a token or a
	// signature, before it is sent. Without it, or when it reports false, none is made.
	Learn func(derived *secret.Secret) bool
	// Activity is the id of the call that the lease is for.
	Activity string
}

// Wipe ends the lease.
func (l *Lease) Wipe() {
	if l == nil {
		return
	}
	l.Secret.Wipe()
	for _, h := range l.Hops {
		h.Wipe()
	}
}

// A Response is one of *HTTPResponse, *SSHResponse, *FileResponse and
// *TargetsResponse: what came back, raw. Nothing in it has been masked; only the pipeline passes it on.
type Response interface{ response() }

// HTTPResponse is what an HTTP server answered.
type HTTPResponse struct {
	Status  int
	Headers []action.Header
	// Body holds at most the action's MaxBytes, decompressed; Truncated says that
	// there was more, Total how many bytes of it were read in all.
	Body        []byte
	Truncated   bool
	Total       int64
	ContentType string
	// Redirect is where a redirect that was not followed points, or "".
	Redirect string
	// FinalURL is the URL that answered.
	FinalURL string
	// Note says in words what was done that the caller may not expect, such as
	// "redirect to https://other.example not followed".
	Note     string
	Duration time.Duration
	// Facts go to the journal: the dialed address, the protocol, each redirect.
	Facts map[string]any
}

// SSHResponse is what came of a remote command. Exit is nil when the server
// reported none; then Signal is set, or neither is and the outcome is unknown.
type SSHResponse struct {
	Exit            *int
	Signal          string
	Stdout, Stderr  []byte
	StdoutTruncated bool
	StderrTruncated bool
	Total           int64
	// ChannelLeftOpen: the command ended, but something still held its output.
	ChannelLeftOpen bool
	// MayStillRun: the remote process may go on.
	MayStillRun bool
	Note        string
	Duration    time.Duration
	Facts       map[string]any
}

// TargetsResponse is the answer of list_targets.
type TargetsResponse struct {
	Hosts    []policy.HostSummary
	Bindings []policy.BindingSummary
}

func (*HTTPResponse) response()    {}
func (*SSHResponse) response()     {}
func (*TargetsResponse) response() {}

// A RunError is a run that did not end with an answer. Message is safe to show to
// the agent: it holds no downstream text and no secret. Detail is for the operator.
type RunError struct {
	Code    Code
	Message string
	Detail  error
}

func (e *RunError) Error() string {
	if e.Detail == nil {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Detail)
}

func (e *RunError) Unwrap() error { return e.Detail }
