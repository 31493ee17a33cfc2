package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// api starts an HTTP API that takes the token in file SECRET, and an
// authorization server for it, on loopback; $API and $TOKENS are their URLs.
func api(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: api SECRET")
	}
	want := strings.TrimSpace(ts.ReadFile(args[0]))
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if _, given, _ := r.BasicAuth(); given != want {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":60}`, want)
	}))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization") + r.URL.Query().Get("key") + r.Header.Get("Cookie") + r.Header.Get("X-Key")
		if !strings.HasSuffix(given, want) {
			w.WriteHeader(http.StatusForbidden)
		}
		if strings.HasSuffix(r.URL.Path, "/echo") {
			io.WriteString(w, given)
		}
	}))
	ts.Defer(srv.Close)
	ts.Defer(tokens.Close)
	ts.Setenv("API", srv.URL)
	ts.Setenv("TOKENS", tokens.URL)
}

// clientcert writes a certificate and its key to client.pem and client.key, and
// another key to other.key.
func clientcert(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: clientcert")
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	write := func(name, kind string, der []byte) {
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	}
	for _, name := range []string{"client", "other"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		ts.Check(err)
		cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		ts.Check(err)
		der, err := x509.MarshalPKCS8PrivateKey(key)
		ts.Check(err)
		write(name+".pem", "CERTIFICATE", cert)
		write(name+".key", "PRIVATE KEY", der)
	}
}
