package httprun

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"time"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/secret"
	"executor/internal/target"
)

// A call is one Run.
type call struct {
	runner  *Runner
	action  *action.HTTP
	lease   *executor.Lease
	url     target.URL
	pool    *pool
	started func()
	begun   bool // started was called
	facts   map[string]any
	renewed bool   // a token was fetched again after a 401
	note    string // what was done about it
}

// follow sends the request and, where the action allows it, follows redirects.
// Its response is never nil.
func (c *call) follow(ctx context.Context) (*executor.HTTPResponse, error) {
	at := c.url
	for hops := 0; ; hops++ {
		answer, err := c.send(ctx, at)
		if err != nil {
			return &executor.HTTPResponse{FinalURL: at.String()}, err
		}
		r := c.redirect(at, answer, hops)
		if !r.follow {
			out, err := c.read(at, answer, r)
			if c.note != "" {
				out.Note = notes(c.note, out.Note)
			}
			return out, err
		}
		discard(answer.Body)
		at = r.to
	}
}

// send sends the request and returns its answer, whose body the caller closes.
//
// That is one request on the wire, with one exception. A 401 to a fetched token
// says that the token is not taken, and the request was not carried out (RFC 9110,
// section 15.5.2). The token is then fetched again, once in a Run. Only a read that
// the action marks for it is sent again, since reading twice has no second effect, and
// whoever allowed it allowed more than one request. For all else the 401 is the
// answer: that nothing was carried out is the server's word alone.
func (c *call) send(ctx context.Context, to target.URL) (*http.Response, error) {
	if cred := c.action.Credential; cred == nil || cred.Token == nil {
		return c.exchange(ctx, to, nil)
	}
	token, err := c.take(ctx, nil)
	defer token.Wipe()
	if err != nil {
		return nil, err
	}
	answer, err := c.exchange(ctx, to, token)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || c.renewed {
		return answer, err
	}
	c.renewed = true
	fresh, err := c.take(ctx, token)
	defer fresh.Wipe()
	switch {
	case err != nil:
		c.note = "the token was refused, and no new one could be fetched"
		return answer, nil
	case !c.action.Credential.Token.Resend:
		c.note = "the token was refused and a new one fetched; the request was not sent again, since one approval is one request"
		return answer, nil
	}
	discard(answer.Body)
	c.note = "the token was refused; a new one was fetched and the request sent again"
	return c.exchange(ctx, to, fresh)
}

// exchange puts one request on the wire.
func (c *call) exchange(ctx context.Context, to target.URL, token *secret.Secret) (*http.Response, error) {
	body, length := body(c.action)
	req := &http.Request{
		Method: c.action.Method, URL: to.Net(), Header: c.headers(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: body, ContentLength: length,
	}
	if err := c.inject(ctx, req, token); err != nil {
		return nil, err
	}
	trace := &httptrace.ClientTrace{GotConn: c.gotConn}
	answer, err := c.pool.transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		return nil, err
	}
	c.facts["protocol"], c.facts["status"] = answer.Proto, answer.StatusCode
	if answer.TLS != nil {
		c.facts["tls"] = tls.VersionName(answer.TLS.Version)
	}
	return answer, nil
}

// gotConn runs when there is a connection and nothing of the request was written.
func (c *call) gotConn(info httptrace.GotConnInfo) {
	c.facts["address"], c.facts["reused"] = info.Conn.RemoteAddr().String(), info.Reused
	c.begun = true
	c.started()
}

// headers are the action's. A nil User-Agent keeps net/http from choosing one.
func (c *call) headers() http.Header {
	header := http.Header{"User-Agent": nil}
	for _, line := range c.action.Headers {
		header[line.Name] = append(header[line.Name], line.Value)
	}
	return header
}

func (c *call) now() time.Time { return c.runner.pools.cfg.Clock() }

// notes joins what there is to say.
func notes(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "; ")
}
