package httprun

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptrace"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/target"
)

// A call is one Run.
type call struct {
	action  *action.HTTP
	lease   *executor.Lease
	url     target.URL
	pool    *pool
	started func()
	begun   bool // started was called
	facts   map[string]any
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
			return read(at, answer, r, c.action.Limits.MaxBytes)
		}
		discard(answer.Body)
		at = r.to
	}
}

// send puts one request on the wire and returns its answer, whose body the
// caller closes.
func (c *call) send(ctx context.Context, to target.URL) (*http.Response, error) {
	header := c.headers()
	slot, err := inject(header, c.action.Credential, c.lease)
	if err != nil {
		return nil, err
	}
	defer header.Del(slot)
	body, length := body(c.action)
	req := &http.Request{
		Method: c.action.Method, URL: to.Net(), Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: body, ContentLength: length,
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
