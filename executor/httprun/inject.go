package httprun

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/secret"
)

// fits refuses a lease that is not of the credential that the action names.
func fits(h *action.HTTP, l *executor.Lease) error {
	if h.Credential == nil {
		if h.TLS != (action.TLS{}) {
			return internal("a TLS policy belongs to a credential, and the action has none")
		}
		return nil
	}
	if l == nil || l.Meta.Name != h.Credential.Name || l.Meta.Version != h.Credential.Version ||
		l.Meta.Type != h.Credential.Type || l.Meta.Slot() != h.Credential.Slot || l.Meta.TLS() != h.TLS {
		return internal("the leased credential is not the one that the action names")
	}
	if t := h.Credential.Token; l.Meta.Type == policy.OAuth2 && (t == nil || t.URL != l.Meta.TokenURL) {
		return internal("the action names another token URL than the credential")
	}
	return nil
}

// inject puts the secret, or token in its place, at the slot that the action
// declares. A request without a credential is left as it is.
func (c *call) inject(ctx context.Context, req *http.Request, token *secret.Secret) error {
	if c.action.Credential == nil {
		return nil
	}
	meta := &c.lease.Meta
	from := c.lease.Secret
	if meta.Type == policy.OAuth2 {
		from = token
	}
	err := from.Use(func(b []byte) error {
		switch meta.Type {
		case policy.Query:
			addParam(req, meta.Param, b)
			return nil
		case policy.Cookie:
			return setCookie(req.Header, meta, b)
		case policy.AWSSigV4:
			return c.sign(ctx, req, b)
		case policy.OAuth2:
			value := join("Bearer ", b, "")
			defer clear(value)
			return occupy(req.Header, "Authorization", meta, value)
		case policy.MTLS:
			return nil // the connection has it
		}
		return setHeader(req.Header, meta, b)
	})
	if errors.Is(err, secret.ErrWiped) {
		return &executor.RunError{Code: executor.VaultLocked, Message: "the vault was locked before the request was sent"}
	}
	return err
}

func setHeader(header http.Header, meta *policy.Credential, secret []byte) error {
	name := "Authorization"
	if meta.Type == policy.HeaderType {
		name = http.CanonicalHeaderKey(meta.Header)
	}
	value, err := headerValue(meta, secret)
	defer clear(value)
	if err != nil {
		return err
	}
	return occupy(header, name, meta, value)
}

func setCookie(header http.Header, meta *policy.Credential, secret []byte) error {
	if bytes.ContainsAny(secret, "; ,\"\\") {
		return internal("credential " + meta.Name + " holds a character that no cookie can (RFC 6265, section 4.1.1): store it again")
	}
	value := join(meta.CookieName+"=", secret, "")
	defer clear(value)
	return occupy(header, "Cookie", meta, value)
}

// occupy sets a header that nobody set before.
func occupy(header http.Header, name string, meta *policy.Credential, value []byte) error {
	if _, taken := header[name]; taken {
		return internal("the action has no room at the credential's slot")
	}
	if err := sendable(meta, value); err != nil {
		return err
	}
	header[name] = []string{string(value)}
	return nil
}

func sendable(meta *policy.Credential, value []byte) error {
	if !validValue(value) {
		return internal("credential " + meta.Name + " holds a line break or control character and cannot go into a header: store it again")
	}
	return nil
}

// headerValue builds the header's value in a slice that the caller wipes. A
// client secret that stands for a token, and what goes elsewhere, has none.
func headerValue(meta *policy.Credential, secret []byte) ([]byte, error) {
	var value []byte
	switch meta.Type {
	case policy.Bearer:
		value = join("Bearer ", secret, "")
	case policy.Basic:
		pair := join(meta.Username+":", secret, "")
		defer clear(pair)
		value = base64.StdEncoding.AppendEncode([]byte("Basic "), pair)
	case policy.HeaderType:
		before, after, ok := strings.Cut(meta.Format, policy.SecretMark)
		if meta.Format != "" && !ok {
			return nil, internal("the credential's format has no place for the secret")
		}
		value = join(before, secret, after)
	default:
		return nil, internal("a credential of this type does not go into a header as it is")
	}
	return value, sendable(meta, value)
}

// addParam appends the secret to the query as sent, everything but unreserved
// characters percent-encoded. The action's URL is not changed.
func addParam(req *http.Request, name string, secret []byte) {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(req.URL.RawQuery)+len(name)+3*len(secret)+2)
	defer func() { clear(out) }()
	out = append(out, req.URL.RawQuery...)
	if len(out) > 0 {
		out = append(out, '&')
	}
	out = append(append(out, name...), '=')
	for _, b := range secret {
		if 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("-._~", b) >= 0 {
			out = append(out, b)
		} else {
			out = append(out, '%', hex[b>>4], hex[b&15])
		}
	}
	req.URL.RawQuery = string(out)
}

func join(before string, secret []byte, after string) []byte {
	out := make([]byte, 0, len(before)+len(secret)+len(after))
	return append(append(append(out, before...), secret...), after...)
}

// validValue is httpguts.ValidHeaderFieldValue, byte by byte, without a string of the whole.
func validValue(value []byte) bool {
	return !bytes.ContainsFunc(value, func(r rune) bool {
		return r < 0x80 && !httpguts.ValidHeaderFieldValue(string(r))
	})
}
