package httprun_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"executor/executor"
	"executor/executor/httprun"
	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/secret"
)

func awsLease(service, keyID, key string) *executor.Lease {
	return &executor.Lease{
		Meta:   policy.Credential{Name: "aws", Version: 1, Type: policy.AWSSigV4, Region: "us-east-1", Service: service, AccessKeyID: keyID},
		Secret: secret.New([]byte(key)),
	}
}

// TestAWSVectors: the signatures that AWS published.
func TestAWSVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/aws-sigv4.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(raw) {
		var v struct {
			Name, Secret, Service, At, Method, URL, Signed, Signature string
			KeyID                                                     string `json:"key_id"`
			Headers                                                   map[string]string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse("20060102T150405Z", v.At)
		if err != nil {
			t.Fatal(err)
		}
		a := &action.HTTP{Method: v.Method, URL: v.URL}
		for name, value := range v.Headers {
			a.Headers = append(a.Headers, action.Header{Name: name, Value: value})
		}
		got, err := httprun.Signed(t.Context(), a, awsLease(v.Service, v.KeyID, v.Secret), at)
		want := "AWS4-HMAC-SHA256 Credential=" + v.KeyID + "/" + v.At[:8] + "/us-east-1/" + v.Service + "/aws4_request, SignedHeaders=" + v.Signed + ", Signature=" + v.Signature
		if err != nil || got.Get("Authorization") != want {
			t.Errorf("%s: %v\n got %s\nwant %s", v.Name, err, got.Get("Authorization"), want)
		}
		n++
	}
	if n < 6 {
		t.Errorf("only %d vectors", n)
	}
}

// TestAWSAgainstTheSDK: what is sent is signed as the SDK signs it: the query as
// it stands, the body, the path of S3 in its own encoding.
func TestAWSAgainstTheSDK(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ service, method, url, strict, body string }{
		{"execute-api", "GET", "https://x.example.com/v1/a%20b?b=2&a=1&a=0", "", ""},
		{"execute-api", "POST", "https://x.example.com/v1/items", "", `{"a":1}`},
		{"s3", "PUT", "https://x.example.com/d/test$file(1).txt", "/d/test%24file%281%29.txt", "hello"},
		{"s3", "GET", "https://x.example.com/caf%C3%A9/a%20b", "/caf%C3%A9/a%20b", ""},
	} {
		a := &action.HTTP{Method: c.method, URL: c.url, Body: action.Blob{Bytes: []byte(c.body)}, Headers: []action.Header{{Name: "Accept", Value: "*/*"}}}
		got, err := httprun.Signed(t.Context(), a, awsLease(c.service, "AKIDEXAMPLE", canary), at)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		sum := strings.TrimPrefix(action.Sum([]byte(c.body)), "sha256:")
		req.Header.Set("Accept", "*/*")
		if c.service == "s3" {
			req.Header.Set("X-Amz-Content-Sha256", sum)
			req.URL.RawPath = c.strict
		}
		err = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = c.service == "s3" }).SignHTTP(t.Context(),
			aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: canary}, req, sum, c.service, "us-east-1", at)
		if err != nil || got.Get("Authorization") != req.Header.Get("Authorization") {
			t.Errorf("%s %s: %v\n got %s\nwant %s", c.method, c.url, err, got.Get("Authorization"), req.Header.Get("Authorization"))
		}
	}
}
