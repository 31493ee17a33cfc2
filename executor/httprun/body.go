package httprun

import (
	"bytes"
	"io"
	"net/http"

	"executor/internal/action"
)

// body returns the request's body in a form that net/http cannot send twice.
//
// net/http repeats a request on a new connection when the old one broke, and in
// HTTP/2 when the server refused the stream, if the request has no body or one that it
// can read again. It has neither here: a body without GetBody, of length 0
// where there is none. HTTP/1.1 reads such a body ahead for the methods that usually
// have none and sends no framing for it; for the others it would send an empty
// chunked body, so these get http.NoBody ("Content-Length: 0") and modeOf keeps
// them from the cases in which that could be repeated.
func body(h *action.HTTP) (io.ReadCloser, int64) {
	if len(h.Body.Bytes) == 0 && !usuallyBare(h.Method) {
		return http.NoBody, 0
	}
	return io.NopCloser(bytes.NewReader(h.Body.Bytes)), int64(len(h.Body.Bytes))
}

// usuallyBare lists the methods for which net/http looks whether there is a body at all.
func usuallyBare(method string) bool {
	switch method {
	case "GET", "HEAD", "DELETE", "OPTIONS", "PROPFIND", "SEARCH":
		return true
	}
	return false
}

// A mode says how a pool may speak.
type mode int

const (
	anyProtocol mode = iota
	http1            // HTTP/1.1 only
	http1Once        // HTTP/1.1, each connection for one request
)

// modeOf picks the mode in which a request cannot be repeated. Only one without
// a body object is concerned: HTTP/2 would repeat it after a refused stream, and
// HTTP/1.1 on a reused connection if a header marks it idempotent.
func modeOf(h *action.HTTP) mode {
	if len(h.Body.Bytes) > 0 || usuallyBare(h.Method) {
		return anyProtocol
	}
	for _, line := range h.Headers {
		if line.Name == "Idempotency-Key" || line.Name == "X-Idempotency-Key" {
			return http1Once
		}
	}
	return http1
}
