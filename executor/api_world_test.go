package executor_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"html"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"executor/approval"
	"executor/executor"
	"executor/executor/httprun"
	"executor/internal/action"
	"executor/internal/mask"
	"executor/internal/policy"
	"executor/internal/secret"
)

// An apiWorld is the pipeline with the real HTTP runner, in front of servers that
// the test holds.
type apiWorld struct {
	*world
	vault *realVault
	http  *httprun.Runner
}

// realVault holds credentials with their secrets as a keyring does.
type realVault struct {
	policy  *policy.Generation
	mask    *mask.Set
	derived mask.Derived
	secrets map[string][]byte
}

func (v *realVault) Current() (*policy.Generation, *mask.Set, error) { return v.policy, v.mask, nil }

func (v *realVault) Lease(a action.Action) (*executor.Lease, error) {
	c := a.Cred()
	if c == nil {
		return nil, nil
	}
	meta, ok := v.policy.Credential(c.Name)
	if !ok {
		return nil, fmt.Errorf("no credential %s", c.Name)
	}
	return &executor.Lease{Meta: *meta, Secret: secret.New(bytes.Clone(v.secrets[c.Name]))}, nil
}

// names resolves every name to this machine.
type loopback struct{}

func (loopback) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// newAPIWorld holds the credentials; roots are trusted beside none other.
func newAPIWorld(t *testing.T, roots *x509.CertPool, metas map[string]policy.Credential, secrets map[string][]byte) *apiWorld {
	t.Helper()
	v := &realVault{secrets: secrets}
	var items []policy.Item
	var named []mask.Named
	for name, meta := range metas {
		meta.Approval = action.None
		items = append(items, item(t, policy.KindCredential, name, 1, meta))
		named = append(named, mask.Named{Name: name, Secret: secret.New(bytes.Clone(secrets[name]))})
	}
	var err error
	if v.policy, err = policy.Load(1, items); err != nil {
		t.Fatal(err)
	}
	v.mask = mask.NewSet(named).WithDerived(&v.derived)
	a := &apiWorld{world: newWorld(t), vault: v, http: httprun.New(httprun.Config{Roots: roots, Resolver: loopback{}})}
	t.Cleanup(a.http.Close)
	a.x, err = executor.New(executor.Config{
		Credentials: v, Approver: a.desk, Journal: a.journal,
		Runners: map[string]executor.Runner{"http": a.http},
		Clock:   time.Now, Rand: rand.Reader,
	}, a.world.x.Contracts())
	if err != nil {
		t.Fatal(err)
	}
	if a.session, err = a.x.Begin(t.Context(), executor.SessionInfo{Transport: "stdio"}); err != nil {
		t.Fatal(err)
	}
	return a
}

// request calls http_request with args, which say nothing of it.
func (a *apiWorld) request(args map[string]any) executor.Reply {
	a.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.call("http_request", string(raw))
}

// journalBytes are all bytes of the journal's files.
func (a *apiWorld) journalBytes() []byte {
	a.t.Helper()
	var all []byte
	paths, err := filepath.Glob(filepath.Join(a.dir, "journal*"))
	if err != nil || len(paths) == 0 {
		a.t.Fatalf("no journal: %v", err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			a.t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// forms are the spellings in which a secret is looked for.
func forms(s string) map[string]string {
	quoted, _ := json.Marshal(s)
	out := map[string]string{
		"raw": s, "hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))),
		"percent": url.PathEscape(s), "form": url.QueryEscape(s), "json": strings.Trim(string(quoted), `"`), "html": html.EscapeString(s),
	}
	for pad := range 3 {
		e := base64.StdEncoding.EncodeToString(append(make([]byte, pad), s...))
		core := e[[]int{0, 2, 3}[pad] : len(e)-4]
		out[fmt.Sprint("base64+", pad)] = core
		out[fmt.Sprint("base64url+", pad)] = strings.NewReplacer("+", "-", "/", "_").Replace(core)
	}
	for i, line := range strings.Split(s, "\n") {
		if len(line) >= 40 && !strings.HasPrefix(line, "-----") {
			out[fmt.Sprint("line", i)] = line
		}
	}
	return out
}

// clean fails if a secret is in what came out, in any form.
func clean(t *testing.T, what string, out []byte, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		for name, form := range forms(s) {
			if bytes.Contains(out, []byte(form)) {
				t.Errorf("%s holds the secret as %s", what, name)
			}
		}
	}
}

// seen is all that an agent gets of a reply.
func seen(t *testing.T, r executor.Reply) []byte {
	t.Helper()
	raw, err := json.Marshal(r.Structured)
	if err != nil {
		t.Fatal(err)
	}
	var back any // as a client decodes it
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(raw, "%s %v", r.Text, back)
}

// quiet is a TLS server whose complaints go nowhere; sees is told each request.
func quiet(t *testing.T, config *tls.Config, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS, s.EnableHTTP2 = config, true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// authority is a CA of the test's own.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, cert, text := issue(t, nil, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "test CA"}})
	return &authority{cert, key, text}
}

// client issues a client certificate; both are PEM.
func (a *authority) client(t *testing.T) (cert, key string) {
	t.Helper()
	k, _, text := issue(t, a, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Subject: pkix.Name{CommonName: "agent"}})
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return text, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// server issues a certificate for this machine.
func (a *authority) server(t *testing.T) tls.Certificate {
	t.Helper()
	key, cert, _ := issue(t, a, &x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, DNSNames: []string{"localhost", "api.example.test"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	})
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

func issue(t *testing.T, by *authority, template *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// tokenServer is an authorization server that gives out numbered tokens.
type tokenServer struct {
	*httptest.Server
	mu      sync.Mutex
	fetched int
	valid   string
	life    int
	inBody  bool // the client authenticates in the body only
	fail    string
}

func newTokenServer(t *testing.T, config *tls.Config, clientSecret string) *tokenServer {
	t.Helper()
	s := &tokenServer{life: 3600}
	s.Server = quiet(t, config, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		id, given, ok := r.BasicAuth()
		if ok {
			id, _ = url.QueryUnescape(id)
			given, _ = url.QueryUnescape(given)
		}
		if s.inBody {
			id, given = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
		}
		w.Header().Set("Content-Type", "application/json")
		if s.fail != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":%q,"error_description":"the secret is %s"}`, s.fail, clientSecret)
			return
		}
		if id != "client-1" || given != clientSecret || r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "read write" {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"invalid_client"}`)
			return
		}
		s.fetched++
		s.valid = fmt.Sprintf("t0ken-Qx7-%04d-%s", s.fetched, "9c1f4e7b2a")
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":%d}`, s.valid, s.life)
	})
	return s
}

func (s *tokenServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetched
}

func (s *tokenServer) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.valid
}

// yes allows whatever is asked.
func (a *apiWorld) yes() { a.operator(says(approval.Yes)) }
