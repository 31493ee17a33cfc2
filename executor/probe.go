package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/journal"
)

// Bounds of a Probe's request.
const (
	probeTimeout = 30 * time.Second
	probeBytes   = 64 << 10
)

// A Probe tries a credential for the operator, who names a harmless URL. It binds
// and runs as a call does; it asks nobody, since the operator is who asks. All
// fields are required.
type Probe struct {
	Credentials Credentials
	Runner      Runner
	// Record writes the operator's change to the journal, durably.
	Record func(context.Context, journal.Change) error
}

// A Probed is what came of a Probe, masked. The body is counted and not kept.
type Probed struct {
	Credential string `json:"credential"`
	Version    int    `json:"version"`
	Request    string `json:"request"`
	Status     int    `json:"status,omitempty"`
	ErrorCode  Code   `json:"error_code,omitempty"`
	Message    string `json:"message,omitempty"`
	FinalURL   string `json:"final_url,omitempty"`
	Protocol   string `json:"protocol,omitempty"`
	TLS        string `json:"tls,omitempty"`
	Note       string `json:"note,omitempty"`
	Bytes      int64  `json:"bytes"`
	DurationMS int64  `json:"duration_ms"`
	// Echoed: the answer held the credential.
	Echoed bool `json:"echoed"`
}

// Try sends one GET or HEAD with the named credential, which must be bound to the
// URL. An error means that nothing was sent, or that it could not be written
// down; whatever the server did is a Probed.
func (p Probe) Try(ctx context.Context, name, method, url string) (Probed, error) {
	if method != "GET" && method != "HEAD" {
		return Probed{}, errors.New("a credential is tried with GET or HEAD only")
	}
	g, set, err := p.Credentials.Current()
	if err != nil {
		return Probed{}, err
	}
	b, err := bind(g, &contract.HTTPDraft{Method: method, URL: url, Credential: name, Timeout: probeTimeout, MaxBytes: probeBytes}, &contract.Contract{})
	if err != nil {
		return Probed{}, probeError(err)
	}
	a := b.action.(*action.HTTP)
	out := Probed{Credential: a.Credential.Name, Version: a.Credential.Version, Request: a.Method + " " + a.URL}
	if err := p.record(ctx, "credential.test", out); err != nil {
		return Probed{}, fmt.Errorf("nothing was sent: %w", err)
	}
	lease, err := p.Credentials.Lease(a)
	if err != nil {
		return Probed{}, err
	}
	defer lease.Wipe()
	lease.Learn = func(derived *secret.Secret) bool { return set.Learn(name, derived) }
	response, err := p.Runner.Run(ctx, a, lease, func() {})
	mask := func(text string) string {
		masked, report := set.String(text, name)
		out.Echoed = out.Echoed || report.Total() > 0 || report.WeakSeen
		if report.WeakSeen || report.Wiped {
			return "[withheld]"
		}
		return masked
	}
	out.settle(response, err, mask)
	return out, p.record(context.WithoutCancel(ctx), "credential.tested", out)
}

func (out *Probed) settle(response Response, failure error, mask func(string) string) {
	var e *RunError
	switch {
	case errors.As(failure, &e):
		out.ErrorCode, out.Message = e.Code, mask(e.Message)
	case failure != nil:
		out.ErrorCode, out.Message = Internal, "an internal error while the request ran"
	}
	r, ok := response.(*HTTPResponse)
	if !ok {
		return
	}
	out.Status, out.Bytes, out.DurationMS = r.Status, r.Total, r.Duration.Milliseconds()
	out.FinalURL, out.Note = mask(r.FinalURL), mask(r.Note)
	out.Protocol, _ = r.Facts["protocol"].(string)
	out.TLS, _ = r.Facts["tls"].(string)
	for _, h := range r.Headers {
		mask(h.Value)
	}
	mask(string(r.Body))
}

// probeError is a refusal in words for the operator.
func probeError(err error) error {
	var r *Refusal
	if errors.Is(err, policy.ErrNotBound) && errors.As(err, &r) {
		return r.Cause
	}
	if errors.As(err, &r) {
		return errors.New(r.Message)
	}
	return err
}

func (p Probe) record(ctx context.Context, what string, out Probed) error {
	detail, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return p.Record(ctx, journal.Change{Action: what, By: "operator", Detail: detail})
}
