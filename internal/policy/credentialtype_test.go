package policy_test

import (
	"strings"
	"testing"

	"executor/internal/action"
	"executor/internal/policy"
)

// testCert is a self-signed certificate without a key.
const testCert = `-----BEGIN CERTIFICATE-----
MIIBITCByaADAgECAgEBMAoGCCqGSM49BAMCMBIxEDAOBgNVBAMTB3Rlc3QgQ0Ew
-----END CERTIFICATE-----
`

func checked(c policy.Credential) (policy.Credential, error) {
	c.Name, c.Approval = "x", action.None
	if c.Targets == nil {
		c.Targets = []string{"https://a.example/"}
	}
	err := c.Check()
	return c, err
}

func TestTypesAndTheirSlots(t *testing.T) {
	for _, row := range []struct {
		c    policy.Credential
		slot string
	}{
		{policy.Credential{Type: policy.Query, Param: "api_key"}, "query api_key"},
		{policy.Credential{Type: policy.Cookie, CookieName: "sid"}, "cookie sid"},
		{policy.Credential{Type: policy.AWSSigV4, Region: "eu-west-1", Service: "s3", AccessKeyID: "AKID"}, "header Authorization, as AWS signature of AKID for s3 in eu-west-1"},
		{policy.Credential{Type: policy.OAuth2, TokenURL: "https://Auth.Example:443/token", ClientID: "c", Scopes: []string{"a:b"}}, "header Authorization"},
		{policy.Credential{Type: policy.HeaderType, Header: "X-Key", SkipVerify: true, AllowSetCookie: true, IdempotencyHeader: "X-Once"}, "header X-Key"},
	} {
		c, err := checked(row.c)
		if err != nil || c.Slot() != row.slot || c.Ref().Slot != row.slot {
			t.Errorf("%s: %v, slot %q", row.c.Type, err, c.Slot())
		}
		if (c.Ref().Token != nil) != (c.Type == policy.OAuth2) {
			t.Errorf("%s: token %+v", c.Type, c.Ref().Token)
		}
		if c.Type == policy.OAuth2 && c.Ref().Token.URL != "https://auth.example/token" {
			t.Errorf("the token URL is shown as %q", c.Ref().Token.URL)
		}
	}
}

func TestTypesThatCannotBeUsed(t *testing.T) {
	for want, c := range map[string]policy.Credential{
		"name of its parameter":                {Type: policy.Query},
		"letters, digits and . _":              {Type: policy.Query, Param: "a&b"},
		"parameter name belongs":               {Type: policy.Bearer, Param: "a"},
		"name of its cookie":                   {Type: policy.Cookie, CookieName: "a;b"},
		"cookie name belongs":                  {Type: policy.Query, Param: "a", CookieName: "b"},
		"the region is not":                    {Type: policy.AWSSigV4, Service: "s3", AccessKeyID: "A"},
		"the service is not":                   {Type: policy.AWSSigV4, Region: "r", Service: "s 3", AccessKeyID: "A"},
		"access key id belong":                 {Type: policy.Bearer, AccessKeyID: "A"},
		"needs a client id":                    {Type: policy.OAuth2, TokenURL: "https://a.example/"},
		"token URL: ":                          {Type: policy.OAuth2, ClientID: "c"},
		"plain http only to":                   {Type: policy.OAuth2, ClientID: "c", TokenURL: "http://a.example/token"},
		"https is due":                         {Type: policy.OAuth2, ClientID: "c", TokenURL: "ssh://a.example"},
		"are never reached":                    {Type: policy.OAuth2, ClientID: "c", TokenURL: "http://169.254.169.254/token"},
		"RFC 6749":                             {Type: policy.OAuth2, ClientID: "c", TokenURL: "https://a.example/", Scopes: []string{"a b"}},
		"scopes belong":                        {Type: policy.Bearer, Scopes: []string{"a"}},
		"client certificate: a PEM file":       {Type: policy.MTLS},
		"client certificate: it holds a cert":  {Type: policy.MTLS, Cert: testCert},
		"client certificate: PEM blocks":       {Type: policy.MTLS, Cert: "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n"},
		"client certificate belongs":           {Type: policy.Bearer, Cert: "x"},
		"CA: a PEM file with":                  {Type: policy.Bearer, CA: "nonsense"},
		"cannot go with unverified TLS":        {Type: policy.Bearer, CA: testCert, SkipVerify: true},
		"belong to HTTP credentials":           {Type: policy.SSHKey, Targets: []string{"ssh://a:22"}, SkipVerify: true},
		"cannot carry an idempotency key":      {Type: policy.Bearer, IdempotencyHeader: "Authorization"},
		"cannot carry an idempotency key too":  {Type: policy.HeaderType, Header: "Idempotency-Key"},
		"is not one of bearer, basic, header,": {Type: "kerberos"},
	} {
		if _, err := checked(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

func TestOccupied(t *testing.T) {
	aws := policy.Credential{Type: policy.AWSSigV4}
	for header, want := range map[string]bool{"X-Amz-Date": true, "x-amz-content-SHA256": true, "X-Amz-Security-Token": true, "X-Amz-Meta-Note": false, "X-Amz": false, "Accept": false} {
		if aws.Occupies(header) != want {
			t.Errorf("aws, header %s: %v", header, !want)
		}
	}
	if !aws.OccupiesParam("X-Amz-Signature=1") || aws.OccupiesParam("x-amz-meta=1") {
		t.Error("aws, query")
	}
	if key := (policy.Credential{Type: policy.HeaderType, Header: "X-Key"}); !key.Occupies("x-key") || key.Occupies("X-Key2") || key.OccupiesParam("X-Key=1") {
		t.Error("header")
	}
}

// TestParametersAreFolded on both sides: what the operator wrote, and what came.
func TestParametersAreFolded(t *testing.T) {
	c := policy.Credential{Type: policy.Query, Param: "Api.Key[]"}
	for query, want := range map[string]bool{"api_key=1": true, "x=1&API%20KEY=2": true, "api.key[0]=1": true, "apikey=1": false, "x=api_key": false, "": false} {
		if c.OccupiesParam(query) != want {
			t.Errorf("%q: %v", query, !want)
		}
	}
}

func TestTLSPolicyIsOfTheFiles(t *testing.T) {
	if tls := (&policy.Credential{Type: policy.Bearer}).TLS(); tls != (action.TLS{}) {
		t.Errorf("%+v", tls)
	}
	a, b := (&policy.Credential{CA: "a"}).TLS(), (&policy.Credential{CA: "b", SkipVerify: true}).TLS()
	if a.CA == b.CA || a.CA == "" || !b.SkipVerify {
		t.Errorf("%+v %+v", a, b)
	}
}
