package executor_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"executor/executor"
	"executor/internal/policy"
)

// matrixTypes are the types of HTTP credentials.
var matrixTypes = []string{"bearer", "basic", "header", "query", "cookie", "aws-sigv4", "oauth2-client", "mtls"}

// A matrix is one API behind every type of credential, with the places that a
// redirect may lead to.
type matrix struct {
	*apiWorld
	api, port, scheme, host string // base URLs
	strays                  atomic.Int32
	tokens                  *tokenServer
	secrets                 map[string][]byte

	mu   sync.Mutex
	last map[string]string // what the API saw: how it was authenticated, by type
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	odd, err := os.ReadFile("testdata/red-01-secret.txt")
	if err != nil {
		t.Fatal(err)
	}
	odd = bytes.TrimSuffix(odd, []byte("\n"))
	ca := newAuthority(t)
	cert, key := ca.client(t)
	serverConfig := &tls.Config{Certificates: []tls.Certificate{ca.server(t)}, ClientAuth: tls.RequestClientCert}
	m := &matrix{last: map[string]string{}, secrets: map[string][]byte{
		"bearer": append([]byte("be"), odd...), "basic": append([]byte("ba"), odd...), "header": append([]byte("he"), odd...), "query": append([]byte("qu"), odd...), "cookie": []byte("c00kie-Value-81f2d7e9"),
		"aws-sigv4": []byte("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), "oauth2-client": []byte("cl1ent-Secret-5d0f9a3c"), "mtls": []byte(key),
	}}
	m.tokens = newTokenServer(t, serverConfig.Clone(), "cl1ent-Secret-5d0f9a3c")
	m.api = quiet(t, serverConfig.Clone(), m.serve).URL
	m.port = quiet(t, serverConfig.Clone(), m.stray).URL
	plain := httptest.NewServer(http.HandlerFunc(m.stray))
	t.Cleanup(plain.Close)
	m.scheme = plain.URL
	m.host = strings.Replace(m.api, "127.0.0.1", "localhost", 1)
	metas := map[string]policy.Credential{
		"bearer": {Type: policy.Bearer}, "basic": {Type: policy.Basic, Username: "me"},
		"header": {Type: policy.HeaderType, Header: "X-Api-Key", Format: "Token {secret}"},
		"query":  {Type: policy.Query, Param: "api_key"}, "cookie": {Type: policy.Cookie, CookieName: "sid"},
		"aws-sigv4":     {Type: policy.AWSSigV4, Region: "eu-central-1", Service: "execute-api", AccessKeyID: "AKIDEXAMPLE"},
		"oauth2-client": {Type: policy.OAuth2, TokenURL: m.tokens.URL + "/token", ClientID: "client-1", Scopes: []string{"read", "write"}},
		"mtls":          {Type: policy.MTLS, Cert: cert},
	}
	for name, meta := range metas {
		meta.Targets, meta.CA = []string{m.api + "/" + name + "/"}, ca.pem
		metas[name] = meta
	}
	m.apiWorld = newAPIWorld(t, x509.NewCertPool(), metas, m.secrets)
	m.yes()
	return m
}

// stray counts what reached a place that no credential is bound to.
func (m *matrix) stray(w http.ResponseWriter, r *http.Request) { m.strays.Add(1) }

// serve is the API: the first segment names the type, the second what to do.
func (m *matrix) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Host, "localhost") {
		m.stray(w, r)
		return
	}
	parts := strings.Split(r.URL.Path, "/")
	name, do := parts[1], parts[2]
	m.mu.Lock()
	m.last[name] = m.authenticated(name, r)
	m.mu.Unlock()
	echo := m.known(name, r)
	switch do {
	case "redirect":
		w.Header().Set("Location", r.URL.Query().Get("to"))
		fmt.Sscan(r.URL.Query().Get("code"), new(int))
		code := 0
		fmt.Sscan(r.URL.Query().Get("code"), &code)
		w.WriteHeader(code)
	case "echo":
		sendEcho(w, r.URL.Query().Get("as"), echo)
	case "hangup":
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			io.WriteString(c, "HTTP/1.1 "+echo+"\r\n\r\n")
			c.Close()
		}
	default:
		io.WriteString(w, "end")
	}
}

// authenticated says how the request proved itself, "" when it did not.
func (m *matrix) authenticated(name string, r *http.Request) string {
	s := string(m.secrets[name])
	id, pass, _ := r.BasicAuth()
	cookie := r.Header.Get("Cookie")
	for how, ok := range map[string]bool{
		"bearer": r.Header.Get("Authorization") == "Bearer "+s, "basic": id == "me" && pass == s,
		"header": r.Header.Get("X-Api-Key") == "Token "+s, "query": len(r.URL.Query()["api_key"]) == 1 && r.URL.Query().Get("api_key") == s,
		"cookie": cookie == "sid="+s, "oauth2-client": r.Header.Get("Authorization") == "Bearer "+m.tokens.token(),
		"mtls": r.TLS != nil && len(r.TLS.PeerCertificates) == 1, "aws-sigv4": strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") && resigned(r, s),
	} {
		if ok && how == name {
			return how
		}
	}
	return ""
}

// resigned makes the signature of a received request anew, with the SDK's signer.
func resigned(r *http.Request, key string) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return false
	}
	given := r.Header.Get("Authorization")
	again, err := http.NewRequest(r.Method, "https://"+r.Host+r.RequestURI, nil)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(given, "SignedHeaders=")
	names, _, _ := strings.Cut(rest, ",")
	for _, name := range strings.Split(names, ";") {
		if v := r.Header.Get(name); v != "" && name != "host" {
			again.Header.Set(name, v)
		}
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	err = v4.NewSigner().SignHTTP(context.Background(), aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: key}, again, empty, "execute-api", "eu-central-1", at)
	return err == nil && again.Header.Get("Authorization") == given
}

// known is the worst that a server of the type can give back: what it was sent,
// or, where it is sent none, the secret itself.
func (m *matrix) known(name string, r *http.Request) string {
	switch name {
	case "oauth2-client":
		return m.tokens.token()
	case "aws-sigv4":
		_, signature, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
		return signature
	}
	return string(m.secrets[name])
}

var matrixEncodings = []string{
	"raw", "json", "json-u", "base64", "base64url", "base64+1", "base64+2", "hex", "HEX", "percent", "percent2", "form", "html",
	"gzip", "utf-16", "latin", "split", "header", "header64", "cookie", "sse", "status404",
}

func sendEcho(w http.ResponseWriter, as, s string) {
	text := "before " + s + " after"
	switch as {
	case "json":
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"auth": s})
		return
	case "json-u":
		w.Header().Set("Content-Type", "application/json")
		text = `{"auth":"`
		for _, u := range utf16.Encode([]rune(s)) {
			text += fmt.Sprintf(`\u%04X`, u)
		}
		text += `"}`
	case "base64":
		text = base64.StdEncoding.EncodeToString([]byte(s))
	case "base64url":
		text = base64.RawURLEncoding.EncodeToString([]byte(s))
	case "base64+1":
		text = base64.StdEncoding.EncodeToString([]byte("u" + s + "z"))
	case "base64+2":
		text = base64.StdEncoding.EncodeToString([]byte("u:" + s + "zz"))
	case "hex":
		text = hex.EncodeToString([]byte(s))
	case "HEX":
		text = strings.ToUpper(hex.EncodeToString([]byte(s)))
	case "percent":
		text = url.PathEscape(s)
	case "percent2":
		text = url.QueryEscape(url.QueryEscape(s))
	case "form":
		text = url.QueryEscape(s)
	case "html":
		text = html.EscapeString(s)
	case "gzip":
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		io.WriteString(zw, text)
		zw.Close()
		return
	case "utf-16":
		w.Header().Set("Content-Type", "text/plain; charset=utf-16le")
		for _, u := range utf16.Encode([]rune(text)) {
			w.Write([]byte{byte(u), byte(u >> 8)})
		}
		return
	case "latin":
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
	case "split", "sse":
		if as == "sse" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		for i := 0; i < len(text); i += 3 {
			io.WriteString(w, text[i:min(i+3, len(text))])
			w.(http.Flusher).Flush()
		}
		return
	case "header":
		w.Header().Set("X-Echo", strings.ReplaceAll(s, "\n", " "))
		return
	case "header64":
		w.Header().Set("X-Echo", base64.StdEncoding.EncodeToString([]byte(s)))
		return
	case "cookie":
		w.Header()["Set-Cookie"] = []string{"s=" + url.QueryEscape(s) + "; Path=/"}
		return
	case "status404":
		w.WriteHeader(http.StatusNotFound)
	}
	io.WriteString(w, text)
}

// the secrets that must not come out of a call with the type.
func (m *matrix) guarded(name, echoed string) []string {
	out := []string{string(m.secrets[name])}
	if echoed != "" && echoed != out[0] {
		out = append(out, echoed)
	}
	return out
}

func (m *matrix) get(name, path string) executor.Reply {
	m.t.Helper()
	return m.request(map[string]any{"method": "GET", "url": m.api + "/" + name + "/" + path, "timeout_s": 20})
}

func TestMatrixEcho(t *testing.T) {
	m := newMatrix(t)
	for _, name := range matrixTypes {
		for _, as := range matrixEncodings {
			r := m.get(name, "echo?as="+url.QueryEscape(as))
			m.mu.Lock()
			how := m.last[name]
			m.mu.Unlock()
			if how != name {
				t.Fatalf("%s %s: the API did not know the caller: %v", name, as, r.Structured)
			}
			if r.IsError {
				t.Errorf("%s %s: %v", name, as, r.Structured)
				continue
			}
			out := seen(t, r)
			if !(name == "mtls" && as == "header") {
				clean(t, name+" "+as, out, m.guarded(name, m.tokens.token())...)
			}
			if name == "mtls" && (as == "header" || as == "json-u" || as == "percent2") || as == "latin" {
				continue // a key on one line, or over several escapes, is known by its lines alone
			}
			if as == "cookie" {
				if !bytes.Contains(out, []byte("[withheld]")) {
					t.Errorf("%s: Set-Cookie: %s", name, out)
				}
				continue
			}
			if n, _ := r.Structured["redactions"].(int); n == 0 || !bytes.Contains(out, []byte("[credential "+name+"]")) {
				t.Errorf("%s %s: no mask: %.300s", name, as, out)
			}
		}
	}
	clean(t, "the journal", m.journalBytes(), append(m.guarded("oauth2-client", m.tokens.token()), string(m.secrets["bearer"]), string(m.secrets["cookie"]),
		string(m.secrets["aws-sigv4"]), string(m.secrets["mtls"]))...)
}

func TestMatrixRedirects(t *testing.T) {
	m := newMatrix(t)
	for _, name := range matrixTypes {
		for _, code := range []int{301, 302, 303, 307, 308} {
			for where, to := range map[string]string{
				"same origin": "/" + name + "/end", "other port": m.port + "/x", "other scheme": m.scheme + "/x",
				"other host": m.host + "/" + name + "/x", "other binding": "/else/x", "userinfo": strings.Replace(m.api, "://", "://u:p@", 1) + "/" + name + "/end",
			} {
				what := fmt.Sprintf("%s %d to %s", name, code, where)
				r := m.get(name, fmt.Sprintf("redirect?code=%d&to=%s", code, url.QueryEscape(to)))
				m.mu.Lock()
				how := m.last[name]
				m.mu.Unlock()
				if r.IsError || how != name {
					t.Errorf("%s: %v", what, r.Structured)
					continue
				}
				status, note := r.Structured["status"], fmt.Sprint(r.Structured["note"])
				switch {
				case where == "same origin" && (status != 200 || r.Structured["final_url"] != m.api+to):
					t.Errorf("%s: not followed: %v", what, r.Structured)
				case where != "same origin" && (status != code || !strings.Contains(note, "not followed")):
					t.Errorf("%s: %v", what, r.Structured)
				}
				clean(t, what, seen(t, r), m.guarded(name, m.tokens.token())...)
			}
			// What changes something is sent once, whatever the answer.
			r := m.request(map[string]any{"method": "POST", "url": fmt.Sprintf("%s/%s/redirect?code=%d&to=/%s/end", m.api, name, code, name), "json": map[string]int{"amount": 1}})
			if name != "aws-sigv4" && r.Structured["status"] != code {
				t.Errorf("POST %s %d: %v", name, code, r.Structured)
			}
		}
	}
	if n := m.strays.Load(); n != 0 {
		t.Errorf("%d requests reached a place that no credential is bound to", n)
	}
}

func TestMatrixErrors(t *testing.T) {
	m := newMatrix(t)
	for _, name := range matrixTypes {
		// A GET is a stream of HTTP/2 that ends; a POST without a body goes over
		// HTTP/1.1, and the secret comes back as the status line.
		for _, method := range []string{"GET", "POST"} {
			r := m.request(map[string]any{"method": method, "url": m.api + "/" + name + "/hangup"})
			if code(r) != string(executor.UpstreamUnreachable) || r.Structured["side_effect_started"] != true {
				t.Errorf("%s %s: %v", name, method, r.Structured)
			}
			clean(t, name, seen(t, r), m.guarded(name, m.tokens.token())...)
		}
	}
	clean(t, "the journal", m.journalBytes(), string(m.secrets["bearer"]), string(m.secrets["cookie"]), m.tokens.token())
}
