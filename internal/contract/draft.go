package contract

import (
	"time"

	"executor/internal/action"
)

// A Draft is an act as its caller meant it: one of *HTTPDraft, *SSHDraft,
// *SSHFileDraft and *TargetsDraft. The pipeline normalizes it and binds target and credential.
type Draft interface{ draft() }

// HTTPDraft is a request before its URL is normalized.
type HTTPDraft struct {
	Method string
	URL    string
	// Query is appended to the URL's own, in order.
	Query   [][2]string
	Headers []action.Header
	Body    []byte
	// ContentType is what the body's form implies; a header of the caller's wins.
	ContentType string
	// Credential is the name that the caller asked for, or "".
	Credential string
	// IdempotencyKey is sent in the header that the credential names, or is "".
	IdempotencyKey string
	Timeout        time.Duration
	MaxBytes       int
}

// SSHDraft is a command before its host is looked up.
type SSHDraft struct {
	Host    string
	Command string
	// Argv, when not nil, is what Command quotes.
	Argv     []string
	Env      []action.EnvVar
	Stdin    []byte
	Timeout  time.Duration
	MaxBytes int
}

// TargetsDraft asks for the list of targets.
type TargetsDraft struct{}

func (*HTTPDraft) draft()    {}
func (*SSHDraft) draft()     {}
func (*TargetsDraft) draft() {}
