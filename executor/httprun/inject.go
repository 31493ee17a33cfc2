package httprun

import (
	"bytes"
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

// inject puts the secret at the slot that the action declares and returns the
// header's name. An action without a credential is left as it is.
func inject(header http.Header, cred *action.Credential, l *executor.Lease) (slot string, err error) {
	if cred == nil {
		return "", nil
	}
	if l == nil || l.Meta.Name != cred.Name || l.Meta.Version != cred.Version || l.Meta.Type != cred.Type || l.Meta.Slot() != cred.Slot {
		return "", internal("the leased credential is not the one that the action names")
	}
	slot, ok := strings.CutPrefix(cred.Slot, "header ")
	slot = http.CanonicalHeaderKey(slot)
	if _, taken := header[slot]; !ok || taken {
		return "", internal("the action has no room at the credential's slot")
	}
	err = l.Secret.Use(func(b []byte) error {
		value, err := headerValue(&l.Meta, b)
		defer clear(value)
		if err == nil {
			header[slot] = []string{string(value)}
		}
		return err
	})
	if errors.Is(err, secret.ErrWiped) {
		return "", &executor.RunError{Code: executor.VaultLocked, Message: "the vault was locked before the request was sent"}
	}
	return slot, err
}

// headerValue builds the header's value in a slice that the caller wipes.
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
		return nil, internal("a credential of this type does not go into HTTP requests")
	}
	if !validValue(value) {
		clear(value)
		return nil, internal("credential " + meta.Name + " holds a line break or control character and cannot go into a header: store it again")
	}
	return value, nil
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
