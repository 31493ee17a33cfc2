package httprun_test

import (
	"net/http"
	"testing"

	"executor/executor/httprun"
	"executor/internal/policy"
	"executor/internal/secret"
)

func TestAuthorize(t *testing.T) {
	for _, c := range []struct {
		meta         policy.Credential
		header, want string
	}{
		{policy.Credential{Type: policy.Bearer}, "Authorization", "Bearer s3cret"},
		{policy.Credential{Type: policy.Basic, Username: "u"}, "Authorization", "Basic dTpzM2NyZXQ="},
		{policy.Credential{Type: policy.HeaderType, Header: "X-Key", Format: "Token {secret}"}, "X-Key", "Token s3cret"},
	} {
		h := http.Header{"Authorization": {"another"}}
		err := httprun.Authorize(h, &c.meta, secret.New([]byte("s3cret")))
		if got := h.Values(c.header); err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: got %q, %v", c.meta.Type, got, err)
		}
	}
	h := http.Header{}
	for _, kind := range []string{policy.OAuth2, policy.AWSSigV4, policy.Query, policy.Cookie, policy.MTLS} {
		if err := httprun.Authorize(h, &policy.Credential{Type: kind}, secret.New([]byte("s3cret"))); err == nil || len(h) > 0 {
			t.Errorf("the secret of %s went out as it is: %v, %v", kind, h, err)
		}
	}
	if err := httprun.Authorize(h, &policy.Credential{Type: policy.SSHKey}, secret.New([]byte("s3cret"))); err == nil || len(h) > 0 {
		t.Errorf("an SSH key: %v, %v", h, err)
	}
	if err := httprun.Authorize(h, &policy.Credential{Type: policy.Bearer}, secret.New([]byte("a\nb"))); err == nil || len(h) > 0 {
		t.Errorf("a line break: %v, %v", h, err)
	}
}
