package cli

import (
	"fmt"
	"os"

	"executor/internal/policy"

	"github.com/spf13/pflag"
)

// registerTypes adds the flags of the types of HTTP credentials.
func (o *credentialAddOptions) registerTypes(f *pflag.FlagSet) {
	f.StringVar(&o.meta.Param, "param", "", "`NAME` of the query parameter that carries it (type query)")
	f.StringVar(&o.meta.CookieName, "cookie", "", "`NAME` of the cookie that carries it (type cookie)")
	f.StringVar(&o.meta.Region, "region", "", "AWS `REGION`, such as eu-central-1 (type aws-sigv4)")
	f.StringVar(&o.meta.Service, "service", "", "AWS `SERVICE`, such as s3 or execute-api (type aws-sigv4)")
	f.StringVar(&o.meta.AccessKeyID, "access-key-id", "", "`ID` of the AWS access key whose secret it is (type aws-sigv4)")
	f.StringVar(&o.meta.TokenURL, "token-url", "", "`URL` of the authorization server's token endpoint (type oauth2-client)")
	f.StringVar(&o.meta.ClientID, "client-id", "", "`ID` of the OAuth client whose secret it is (type oauth2-client)")
	f.StringArrayVar(&o.meta.Scopes, "scope", nil, "`SCOPE` to ask for (type oauth2-client, repeatable)")
	o.files.register(f)
	f.BoolVar(&o.meta.SkipVerify, "insecure-skip-verify", false, "do NOT verify the server's certificate: whoever answers gets the secret (HTTP types; shown at every approval)")
	f.BoolVar(&o.meta.AllowSetCookie, "allow-set-cookie", false, "give agents the values of Set-Cookie in answers (HTTP types)")
	f.StringVar(&o.meta.IdempotencyHeader, "idempotency-header", "", "`NAME` of the header for a call's idempotency key (HTTP types; default Idempotency-Key)")
}

// credentialFiles are the files of a credential that are no secret.
type credentialFiles struct{ cert, ca string }

func (c *credentialFiles) register(f *pflag.FlagSet) {
	f.StringVar(&c.cert, "cert", "", "client certificate, with its chain, from the PEM file `FILE` (type mtls; the private key is the secret)")
	f.StringVar(&c.ca, "ca", "", "private CA from the PEM file `FILE`, in place of the system's roots (HTTP types)")
}

// read puts the files that were named into meta.
func (c *credentialFiles) read(meta *policy.Credential) error {
	for _, f := range []struct {
		flag, path string
		into       *string
	}{{"cert", c.cert, &meta.Cert}, {"ca", c.ca, &meta.CA}} {
		if f.path == "" {
			continue
		}
		b, err := os.ReadFile(f.path)
		if err != nil {
			return fmt.Errorf("--%s: %w", f.flag, err)
		}
		if len(b) > maxSecret {
			return fmt.Errorf("--%s: the file has more than %d bytes", f.flag, maxSecret)
		}
		*f.into = string(b)
	}
	return nil
}

func (a *app) warnUnverified(meta *policy.Credential) {
	if meta.SkipVerify {
		fmt.Fprintln(a.Err, "warning: the server's certificate will not be verified; a private CA (--ca FILE) is the safe way to reach a server of your own")
	}
}
