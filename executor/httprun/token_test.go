package httprun_test

import (
	"net/netip"
	"strings"
	"testing"

	"executor/executor"
	"executor/executor/httprun"
	"executor/internal/policy"
	"executor/internal/secret"
)

func oauthLease(tokenURL string) *executor.Lease {
	return &executor.Lease{
		Meta:   policy.Credential{Name: "api", Version: 3, Type: policy.OAuth2, TokenURL: tokenURL, ClientID: "c"},
		Secret: secret.New([]byte(canary)),
		Learn:  func(*secret.Secret) bool { return true },
	}
}

// TestTheTokenURLIsJudgedLikeAnyAddress: the client secret goes to no metadata
// service, whatever a name resolves to, and nothing is sent to the target.
func TestTheTokenURLIsJudgedLikeAnyAddress(t *testing.T) {
	r := runner(t, httprun.Config{Resolver: names{"auth.test": {netip.MustParseAddr("169.254.169.254")}, "api.test": {netip.MustParseAddr("127.0.0.1")}}})
	l := oauthLease("https://auth.test/token")
	got := run(t.Context(), r, get("https://api.test/", l), l)
	if got.code() != executor.TargetBlocked || got.started != 0 || !strings.Contains(got.err.Error(), "auth.test resolves to 169.254.169.254") {
		t.Errorf("%v, started %d", got.err, got.started)
	}
	got.noLeak(t)
}

// TestTheActionNamesTheTokenURL: the URL that was shown is the one that is asked.
func TestTheActionNamesTheTokenURL(t *testing.T) {
	r := runner(t, httprun.Config{})
	l := oauthLease("https://auth.test/token")
	a := get("https://api.test/", l)
	a.Credential.Token.URL = "https://other.test/token"
	if got := run(t.Context(), r, a, l); got.code() != executor.Internal || got.started != 0 {
		t.Errorf("another token URL than was shown: %v", got.err)
	}
}
