package httprun

import (
	"context"
	"net/http"
	"time"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/secret"
	"executor/internal/target"
)

// Signed returns the header that a request with an aws-sigv4 credential is sent with.
func Signed(ctx context.Context, a *action.HTTP, l *executor.Lease, at time.Time) (http.Header, error) {
	r := New(Config{Clock: func() time.Time { return at }})
	defer r.Close()
	u, err := target.Parse(a.URL)
	if err != nil {
		return nil, err
	}
	l.Learn = func(*secret.Secret) bool { return true }
	c := &call{runner: r, action: a, lease: l, url: u, facts: map[string]any{}}
	b, length := body(a)
	req := &http.Request{Method: a.Method, URL: u.Net(), Header: c.headers(), Body: b, ContentLength: length}
	var out http.Header
	err = l.Secret.Use(func(key []byte) error {
		err := c.sign(ctx, req, key)
		out = req.Header
		return err
	})
	return out, err
}
