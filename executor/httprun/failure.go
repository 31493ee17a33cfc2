package httprun

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"executor/executor"
)

func internal(message string) *executor.RunError {
	return &executor.RunError{Code: executor.Internal, Message: message}
}

// failure says what went wrong in words of its own: an error of net/http may
// quote the URL, a header or what the server sent. caller is the context that Run
// got, limited the one with the action's time limit.
func (c *call) failure(caller, limited context.Context, err error) *executor.RunError {
	var own *executor.RunError
	var blocked *blockedError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &blocked):
		return &executor.RunError{Code: executor.TargetBlocked, Message: blocked.Error()}
	case errors.Is(caller.Err(), context.Canceled):
		return &executor.RunError{Code: executor.CallCancelled, Message: "cancelled by the caller" + c.extent()}
	case limited.Err() != nil:
		return c.timeout()
	}
	return &executor.RunError{
		Code:    executor.UpstreamUnreachable,
		Message: c.unreachable(err),
		Detail:  kinds(err),
	}
}

func (c *call) timeout() *executor.RunError {
	text := fmt.Sprintf("no complete answer from %s within %s", c.url.Origin(), c.action.Limits.Timeout)
	if !c.begun {
		text = fmt.Sprintf("no connection to %s within %s", c.url.Origin(), c.action.Limits.Timeout)
	}
	return &executor.RunError{Code: executor.UpstreamTimeout, Message: text + c.extent()}
}

// extent says what is known of the effect.
func (c *call) extent() string {
	if c.begun {
		return "; the request was sent and may have been carried out"
	}
	return "; nothing was sent"
}

func (c *call) unreachable(err error) string {
	host := c.url.HostPort()
	switch {
	case c.begun && strings.HasPrefix(err.Error(), "net/http: server response headers exceeded"):
		return fmt.Sprintf("the header of the answer from %s is larger than %d bytes%s", host, maxHeaderBytes, c.extent())
	case c.begun:
		return fmt.Sprintf("the connection to %s ended before a complete answer%s", host, c.extent())
	}
	if reason := connectFailure(err, host, c.url.Host()); reason != "" {
		return reason
	}
	return "no TLS connection to " + host + ": the handshake failed"
}

// connectFailure says why there is no connection, or "".
func connectFailure(err error, hostport, host string) string {
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the name %s could not be resolved", host)
	case certificate(err) != "":
		return fmt.Sprintf("the TLS certificate of %s %s", hostport, certificate(err))
	case errors.As(err, &record):
		return hostport + " does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return hostport + " refused the connection"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection to " + hostport
	}
	return ""
}

func certificate(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "is not signed by an authority that is trusted here"
	case errors.As(err, &name):
		return "is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "has expired or is not valid yet"
	case errors.As(err, &invalid):
		return "is not valid"
	}
	return ""
}

// kinds names the types in err's chain, and the system's own word for the last:
// enough for the operator, and nothing that came from the other side.
func kinds(err error) error {
	var names []string
	for e := err; e != nil; e = errors.Unwrap(e) {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", e), "*"))
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return fmt.Errorf("%s: %w", strings.Join(names, ", "), errno)
	}
	return errors.New(strings.Join(names, ", "))
}
