package httprun

import (
	"fmt"
	"net/http"

	"executor/internal/policy"
	"executor/internal/secret"
)

// Authorize puts a credential into a header, in the way of its type, for a request
// that is not an agent's. The caller has checked that the credential may be sent to
// where the request goes. The secret is not kept.
func Authorize(header http.Header, meta *policy.Credential, s *secret.Secret) error {
	return s.Use(func(b []byte) error {
		value, err := headerValue(meta, b)
		if err != nil {
			return fmt.Errorf("credential %s: %w", meta.Name, err)
		}
		defer clear(value)
		name := "Authorization"
		if meta.Type == policy.HeaderType {
			name = meta.Header
		}
		header.Set(name, string(value))
		return nil
	})
}
