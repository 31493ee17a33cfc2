package httprun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"executor/internal/secret"
)

// sign adds the AWS signature (Signature Version 4) of the request as it will be
// sent. The SDK's signer works on a copy, whose query it sorts; only the headers
// that it made are taken over. A signer of its own for each request, since a
// signer keeps the keys that it derives.
func (c *call) sign(ctx context.Context, req *http.Request, key []byte) error {
	meta := &c.lease.Meta
	sum := sha256.Sum256(c.action.Body.Bytes)
	payload := hex.EncodeToString(sum[:])
	s3 := strings.HasPrefix(meta.Service, "s3")
	if s3 {
		req.Header["X-Amz-Content-Sha256"] = []string{payload}
	}
	signed := req.Clone(ctx)
	if s3 {
		signed.URL.RawPath = strictPath(req.URL)
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = s3 })
	err := signer.SignHTTP(ctx, aws.Credentials{AccessKeyID: meta.AccessKeyID, SecretAccessKey: string(key)},
		signed, payload, meta.Service, meta.Region, c.now())
	if err != nil {
		return internal("the request could not be signed for AWS")
	}
	for _, name := range []string{"Authorization", "X-Amz-Date"} {
		if _, taken := req.Header[name]; taken {
			return internal("the action has no room at the credential's slot")
		}
		req.Header[name] = slices.Clone(signed.Header[name])
	}
	_, signature, ok := strings.Cut(req.Header.Get("Authorization"), "Signature=")
	if !ok {
		return internal("the AWS signer made no signature")
	}
	return c.learn(secret.New([]byte(signature)))
}

// strictPath is the path as S3 encodes it to check a signature: everything but
// unreserved characters and slashes.
func strictPath(u *url.URL) string {
	segments := strings.Split(u.Path, "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	return strings.Join(segments, "/")
}
