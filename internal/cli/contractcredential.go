package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"executor/executor/httprun"
	"executor/internal/daemon"
	"executor/internal/mask"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/internal/target"
	"executor/journal"
)

// An authorizer puts one credential into the requests to the URLs that it is bound to.
type authorizer struct {
	policy *policy.Generation
	meta   *policy.Credential
	secret *secret.Secret
	mask   *mask.Set // of the secret, for what comes back
}

// wipe ends the use of the credential.
func (x *authorizer) wipe() {
	x.mask.Wipe()
	x.secret.Wipe()
}

// check refuses an answer that holds the secret: it would be kept in a plain file.
func (x *authorizer) check(answer []byte) error {
	if _, found := x.mask.Contains(answer); found {
		return fmt.Errorf("the server's answer holds the credential %s, so it was not kept; do not bind it there", x.meta.Name)
	}
	return nil
}

// A maskedError is an error whose text a server may have had a hand in.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// conceal takes the secret out of an error's text.
func (x *authorizer) conceal(err error) error {
	text, _ := x.mask.String(err.Error(), x.meta.Name)
	return &maskedError{text, err}
}

// authorize leases the credential that a server is reached with. A URL that it is
// not bound to is refused. The use is written to the journal first.
func authorize(ctx context.Context, h *daemon.Home, s contractSource) (*authorizer, error) {
	g, err := daemon.LoadPolicy(h.Vault)
	if err != nil {
		return nil, err
	}
	u, err := target.Parse(s.HTTP)
	if err != nil {
		return nil, err
	}
	b, err := g.BindURL(u, s.Credential)
	if err != nil {
		return nil, fmt.Errorf("%w: %s; see where it may go with: executor credential show %s", err, u.Origin(), s.Credential)
	}
	detail, err := json.Marshal(map[string]any{"server": s.label(), "target": u.Origin(), "credential": s.Credential, "version": b.Credential.Version})
	if err != nil {
		return nil, err
	}
	if err := h.Journal.RecordChange(ctx, journal.Change{Time: time.Now(), Action: "contract.read", By: "operator", Detail: detail}); err != nil {
		return nil, err
	}
	leased, err := h.Vault.Lease(policy.KindCredential, b.Credential.Name, b.Credential.Version)
	if err != nil {
		return nil, err
	}
	return &authorizer{g, b.Credential, leased, mask.NewSet([]mask.Named{{Name: b.Credential.Name, Secret: leased}})}, nil
}

// put adds the credential to a request, if it is bound to where that goes.
func (x *authorizer) put(req *http.Request) error {
	u, err := target.Parse(req.URL.String())
	if err != nil {
		return err
	}
	if _, err := x.policy.BindURL(u, x.meta.Name); err != nil {
		return err
	}
	return httprun.Authorize(req.Header, x.meta, x.secret)
}

// withCredential calls fn with the source ready to be read: where it names a
// credential the home is opened for the time.
func (a *app) withCredential(ctx context.Context, p *passphraseFlags, s contractSource, fn func(contractSource) error) error {
	if s.Credential == "" {
		return fn(s)
	}
	return a.read(ctx, p, func(h *daemon.Home) error {
		x, err := authorize(ctx, h, s)
		if err != nil {
			return err
		}
		defer x.wipe()
		s.authorize = x
		return fn(s)
	})
}
