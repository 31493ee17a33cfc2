package httprun

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"executor/executor"
	"executor/internal/secret"
	"executor/internal/target"
)

const (
	tokenTimeout = 30 * time.Second
	// tokenMargin is how long before its end a token is renewed.
	tokenMargin = 30 * time.Second
	// tokenLife is how long a token is kept whose server does not say.
	tokenLife = 30 * time.Minute
)

type tokenKey struct {
	credential string
	version    int
}

// tokens keeps the tokens of oauth2-client credentials, in memory only. The zero
// value is ready. It is safe for concurrent use.
type tokens struct {
	mu   sync.Mutex
	held map[tokenKey]*token
}

// A token is what one credential version has. turn is held by who reads or renews it.
type token struct {
	turn    chan struct{}
	secret  *secret.Secret
	expires time.Time
	style   oauth2.AuthStyle
}

func (ts *tokens) of(k tokenKey) *token {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.held == nil {
		ts.held = map[tokenKey]*token{}
	}
	t := ts.held[k]
	if t == nil {
		for old, held := range ts.held {
			if old.credential == k.credential {
				held.drop()
				delete(ts.held, old)
			}
		}
		t = &token{turn: make(chan struct{}, 1)}
		ts.held[k] = t
	}
	return t
}

// forget drops all tokens. Who is fetching one keeps it for its own request alone.
func (ts *tokens) forget() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.held {
		t.drop()
	}
	ts.held = nil
}

// drop wipes the token, unless somebody is at it.
func (t *token) drop() {
	select {
	case t.turn <- struct{}{}:
		t.secret.Wipe()
		t.secret = nil
		<-t.turn
	default:
	}
}

// take returns the credential's token as a copy that the caller wipes, fetched
// when there is none that will do. refused is a token that the API did not take:
// if it is still the one that is held, another is fetched.
func (c *call) take(ctx context.Context, refused *secret.Secret) (*secret.Secret, error) {
	t := c.runner.tokens.of(tokenKey{c.lease.Meta.Name, c.lease.Meta.Version})
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	usable := t.secret.Len() > 0 && c.now().Before(t.expires) && !(refused != nil && equal(t.secret, refused))
	if !usable {
		if err := c.fetch(ctx, t); err != nil {
			return nil, err
		}
	}
	origin, _, _ := c.tokenHost()
	c.facts["token"] = map[string]any{"from": origin, "fetched": !usable}
	out := t.secret.Clone()
	return out, c.learn(out)
}

func equal(a, b *secret.Secret) (same bool) {
	a.Use(func(x []byte) error {
		return b.Use(func(y []byte) error { same = string(x) == string(y); return nil })
	})
	return same
}

// learn makes the masks know what was derived from the credential, or refuses to send it.
func (c *call) learn(derived *secret.Secret) error {
	if c.lease.Learn == nil || !c.lease.Learn(derived) {
		return internal("what is derived from this credential could not be masked, so it is not sent")
	}
	return nil
}

// fetch asks the token endpoint (RFC 6749, section 4.4). The client authenticates
// with HTTP Basic, as every server must allow (section 2.3.1), and in the body
// where that is refused; what worked is remembered.
func (c *call) fetch(ctx context.Context, t *token) error {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	style := t.style
	if style == oauth2.AuthStyleAutoDetect {
		style = oauth2.AuthStyleInHeader
	}
	got, err := c.request(ctx, style)
	var answer *oauth2.RetrieveError
	if t.style == oauth2.AuthStyleAutoDetect && errors.As(err, &answer) && refusesClient(answer) {
		style = oauth2.AuthStyleInParams
		got, err = c.request(ctx, style)
	}
	if err != nil {
		return c.tokenFailure(ctx, err)
	}
	if kind := got.Type(); !strings.EqualFold(kind, "Bearer") || !validValue([]byte(got.AccessToken)) {
		return c.noToken("its answer holds no bearer token that can be sent")
	}
	t.secret.Wipe()
	t.secret, t.style = secret.New([]byte(got.AccessToken)), style
	t.expires = c.now().Add(tokenLife)
	if left := time.Duration(got.ExpiresIn) * time.Second; left > 0 {
		t.expires = c.now().Add(left - min(tokenMargin, left/2))
	}
	return nil
}

func refusesClient(e *oauth2.RetrieveError) bool {
	return e.Response != nil && (e.Response.StatusCode == http.StatusUnauthorized || e.Response.StatusCode == http.StatusBadRequest)
}

func (c *call) request(ctx context.Context, style oauth2.AuthStyle) (got *oauth2.Token, err error) {
	meta := &c.lease.Meta
	pool, err := c.runner.pools.get(tokenPoolKey(c.action), c.lease)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: pool.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	err = c.lease.Secret.Use(func(b []byte) error {
		cfg := clientcredentials.Config{ClientID: meta.ClientID, ClientSecret: string(b), TokenURL: meta.TokenURL, Scopes: meta.Scopes, AuthStyle: style}
		got, err = cfg.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		return err
	})
	if errors.Is(err, secret.ErrWiped) {
		err = &executor.RunError{Code: executor.VaultLocked, Message: "the vault was locked before a token was fetched"}
	}
	return got, err
}

func (c *call) tokenHost() (origin, hostport, host string) {
	u, err := target.Parse(c.lease.Meta.TokenURL)
	if err != nil {
		return "", "", ""
	}
	return u.Origin(), u.HostPort(), u.Host()
}

func (c *call) noToken(why string) error {
	origin, _, _ := c.tokenHost()
	return &executor.RunError{Code: executor.UpstreamUnreachable, Message: fmt.Sprintf("no token for credential %s from %s: %s; nothing was sent to %s", c.lease.Meta.Name, origin, why, c.url.Origin())}
}

// tokenFailure says why there is no token, without a word of the server's own
// but the error codes of RFC 6749, section 5.2.
func (c *call) tokenFailure(ctx context.Context, err error) error {
	var own *executor.RunError
	var blocked *blockedError
	var answer *oauth2.RetrieveError
	switch {
	case errors.As(err, &own), errors.As(err, &blocked):
		return err
	case errors.As(err, &answer) && answer.Response != nil:
		why := fmt.Sprintf("it answered %d", answer.Response.StatusCode)
		if slices.Contains([]string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}, answer.ErrorCode) {
			why += " " + answer.ErrorCode
		}
		return c.noToken(why)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	_, hostport, host := c.tokenHost()
	if reason := connectFailure(err, hostport, host); reason != "" {
		return c.noToken(reason)
	}
	return c.noToken("it gave no usable answer")
}
