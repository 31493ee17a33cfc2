package httprun_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"executor/executor"
	"executor/executor/httprun"
	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "c4nary-T0ken-8f1e77d2"

// leases holds one lease of every type that goes into a header.
func leases() map[string]*executor.Lease {
	return map[string]*executor.Lease{
		"bearer": {Meta: policy.Credential{Name: "api", Version: 3, Type: policy.Bearer}, Secret: secret.New([]byte(canary))},
		"basic":  {Meta: policy.Credential{Name: "api", Version: 3, Type: policy.Basic, Username: "me"}, Secret: secret.New([]byte(canary))},
		"header": {Meta: policy.Credential{Name: "api", Version: 3, Type: policy.HeaderType, Header: "X-Api-Key", Format: "Token {secret}"}, Secret: secret.New([]byte(canary))},
	}
}

func get(rawURL string, l *executor.Lease) *action.HTTP {
	a := &action.HTTP{
		Method: "GET", URL: rawURL, Address: action.Address{Private: true},
		Limits: action.Limits{Timeout: 10 * time.Second, MaxBytes: 1 << 20},
	}
	scheme, rest, _ := strings.Cut(rawURL, "://")
	host, _, _ := strings.Cut(rest, "/")
	a.Origin = scheme + "://" + host
	if l != nil {
		a.Credential, a.Binding = l.Meta.Ref(), a.Origin+"/"
	}
	return a
}

type result struct {
	*executor.HTTPResponse
	err     error
	started int
	took    time.Duration
}

func (r result) code() executor.Code {
	var e *executor.RunError
	if errors.As(r.err, &e) {
		return e.Code
	}
	return ""
}

func run(ctx context.Context, r *httprun.Runner, a *action.HTTP, l *executor.Lease) result {
	n := 0
	begin := time.Now()
	resp, err := r.Run(ctx, a, l, func() { n++ })
	out := result{err: err, started: n, took: time.Since(begin)}
	out.HTTPResponse, _ = resp.(*executor.HTTPResponse)
	return out
}

func runner(t testing.TB, cfg httprun.Config) *httprun.Runner {
	r := httprun.New(cfg)
	t.Cleanup(r.Close)
	return r
}

// noLeak fails if the secret is in anything that an error or response shows.
func (r result) noLeak(t *testing.T) {
	t.Helper()
	var e *executor.RunError
	text := fmt.Sprintf("%v %+v", r.err, r.HTTPResponse)
	if errors.As(r.err, &e) {
		text += fmt.Sprintf("%s %+v", e.Message, e.Detail)
	}
	if strings.Contains(text, canary) {
		t.Errorf("the secret is in %s", text)
	}
}

// A wire is a raw TCP server: it counts requests and hands each connection on.
type wire struct {
	addr     string
	requests atomic.Int32
	conns    atomic.Int32
	mu       sync.Mutex
	heads    []string
}

// listen serves connections; answer gets each request's number, from 1, and
// returns false to close the connection.
func listen(t *testing.T, answer func(n int, c net.Conn) bool) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{addr: ln.Addr().String()}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			w.conns.Add(1)
			stop := context.AfterFunc(ctx, func() { c.Close() })
			wg.Go(func() { defer stop(); defer c.Close(); w.serve(c, answer) })
		}
	})
	t.Cleanup(func() { ln.Close(); cancel(); wg.Wait() })
	return w
}

func (w *wire) serve(c net.Conn, answer func(int, net.Conn) bool) {
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(c, &raw))
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		w.mu.Lock()
		w.heads = append(w.heads, raw.String())
		raw.Reset()
		w.mu.Unlock()
		if !answer(int(w.requests.Add(1)), c) {
			return
		}
	}
}

func reply(c net.Conn, text string) { io.WriteString(c, strings.ReplaceAll(text, "\n", "\r\n")) }

const okAnswer = "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"

func TestExactlyTheActionIsSent(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	w := listen(t, func(_ int, c net.Conn) bool { reply(c, okAnswer); return true })
	r := runner(t, httprun.Config{})
	l := leases()["bearer"]
	a := get("http://"+w.addr+"/v1/a%20b;c?q=%C3%A9&x=", l)
	a.Headers = []action.Header{{Name: "Accept", Value: "text/plain"}, {Name: "Accept-Encoding", Value: "gzip"}, {Name: "X-One", Value: "1"}}
	if got := run(t.Context(), r, a, l); got.err != nil || string(got.Body) != "ok" || got.started != 1 {
		t.Fatalf("%v %+v", got.err, got.HTTPResponse)
	}
	a.Method, a.Body.Bytes = "POST", []byte("{}")
	run(t.Context(), r, a, l)
	a.Body.Bytes = nil
	run(t.Context(), r, a, l)
	line, fixed := "/v1/a%20b;c?q=%C3%A9&x= HTTP/1.1\r\nHost: "+w.addr+"\r\n", "Accept: text/plain\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer "+canary+"\r\nX-One: 1\r\n\r\n"
	for i, want := range []string{"GET " + line + fixed, "POST " + line + "Content-Length: 2\r\n" + fixed + "{}", "POST " + line + "Content-Length: 0\r\n" + fixed} {
		if w.heads[i] != want {
			t.Errorf("sent\n%q, want\n%q", w.heads[i], want)
		}
	}
}

func TestSlots(t *testing.T) {
	var got http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer srv.Close()
	r := runner(t, httprun.Config{})
	for name, want := range map[string][2]string{
		"bearer": {"Authorization", "Bearer " + canary},
		"basic":  {"Authorization", "Basic bWU6YzRuYXJ5LVQwa2VuLThmMWU3N2Qy"},
		"header": {"X-Api-Key", "Token " + canary},
	} {
		l := leases()[name]
		if res := run(t.Context(), r, get(srv.URL+"/", l), l); res.err != nil || got.Get(want[0]) != want[1] {
			t.Errorf("%s: %v, header %q", name, res.err, got.Get(want[0]))
		}
		l.Meta.Version++
		wrong := get(srv.URL+"/", leases()[name])
		if res := run(t.Context(), r, wrong, l); res.code() != executor.Internal || res.started != 0 {
			t.Errorf("%s: another version was sent: %v", name, res.err)
		}
	}
	bad := leases()["bearer"]
	bad.Secret = secret.New([]byte(canary + "\r\nX-Injected: 1"))
	res := run(t.Context(), r, get(srv.URL+"/", bad), bad)
	if res.code() != executor.Internal || res.started != 0 {
		t.Errorf("a secret with a line break: %v", res.err)
	}
	res.noLeak(t)
	bad.Wipe()
	if res := run(t.Context(), r, get(srv.URL+"/", bad), bad); res.code() != executor.VaultLocked || res.started != 0 {
		t.Errorf("a wiped secret: %v", res.err)
	}
}

func TestOneRequestOnTheWire(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE", "PUT", "POST", "PATCH"} {
		for _, key := range []bool{false, true} {
			for _, body := range []string{"", "body"} {
				w := listen(t, func(n int, c net.Conn) bool {
					if n == 1 {
						reply(c, "HTTP/1.1 204 No Content\n\n")
					}
					return n == 1 // the second is read and dropped
				})
				r := runner(t, httprun.Config{})
				a := get("http://"+w.addr+"/", nil)
				a.Method, a.Body.Bytes = method, []byte(body)
				if key {
					a.Headers = []action.Header{{Name: "Idempotency-Key", Value: "k"}}
				}
				if got := run(t.Context(), r, a, nil); got.err != nil {
					t.Fatal(got.err)
				}
				got := run(t.Context(), r, a, nil)
				if got.code() != executor.UpstreamUnreachable || got.started != 1 || !strings.Contains(got.err.Error(), "may have been carried out") {
					t.Errorf("%s: %v, started %d", method, got.err, got.started)
				}
				if n := w.requests.Load(); n != 2 {
					t.Errorf("%s, body %q, key %v: %d requests for two calls", method, body, key, n)
				}
			}
		}
	}
}

// TestOneStreamInHTTP2 refuses the stream, after which net/http would repeat a request.
func TestOneStreamInHTTP2(t *testing.T) {
	var streams atomic.Int32
	srv := httptest.NewUnstartedServer(nil)
	srv.EnableHTTP2 = true
	srv.Config.TLSNextProto = nil
	srv.StartTLS()
	cert := srv.TLS.Clone()
	roots := srv.Certificate()
	srv.Close()
	cert.NextProtos = []string{"h2"}
	w := listenTLS(t, cert, func(c net.Conn) {
		io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
		f := http2.NewFramer(c, c)
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		f.WriteSettings()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := frame.(*http2.MetaHeadersFrame); ok {
				streams.Add(1)
				f.WriteRSTStream(h.StreamID, http2.ErrCodeRefusedStream)
			}
		}
	})
	pool := x509.NewCertPool()
	pool.AddCert(roots)
	r := runner(t, httprun.Config{Roots: pool})
	for i, method := range []string{"GET", "DELETE", "PUT"} {
		a := get("https://"+w+"/", nil)
		a.Method = method
		if method == "PUT" {
			a.Body.Bytes = []byte("x")
		}
		if got := run(t.Context(), r, a, nil); got.code() != executor.UpstreamUnreachable || got.started != 1 {
			t.Errorf("%s: %v, started %d", method, got.err, got.started)
		}
		if n := int(streams.Load()); n != i+1 {
			t.Errorf("%s: %d streams after %d calls", method, n, i+1)
		}
	}
}

func TestRedirectsCarryNothingElsewhere(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		var code int
		fmt.Sscan(r.URL.Query().Get("code"), &code)
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(code)
	}))
	defer srv.Close()
	byName := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	r := runner(t, httprun.Config{})
	for name, l := range leases() {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE"} {
			for _, code := range []int{301, 302, 303, 307, 308} {
				for _, to := range []string{other.URL + "/x", byName + "/x", "//" + strings.TrimPrefix(other.URL, "http://")} {
					a := get(fmt.Sprintf("%s/?code=%d&to=%s", srv.URL, code, to), l)
					a.Method, a.Redirects = method, action.Redirects{Max: 5, Within: srv.URL + "/"}
					before := hits.Load()
					got := run(t.Context(), r, a, l)
					if got.err != nil || got.Status != code || !strings.Contains(got.Note, "not followed: it is another origin") || hits.Load() != before+1 {
						t.Errorf("%s %s %d to %s: %v %+v", name, method, code, to, got.err, got.HTTPResponse)
						continue
					}
					if facts := fmt.Sprint(got.Facts["redirects"]); !strings.Contains(facts, "not forwarded") || !strings.HasPrefix(got.Redirect, "http://") {
						t.Errorf("facts %s, redirect %q", facts, got.Redirect)
					}
					got.noLeak(t)
				}
			}
		}
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d requests went elsewhere", elsewhere.Load())
	}
}

func TestRedirectsInsideTheBinding(t *testing.T) {
	var paths []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/v1/a":
			http.Redirect(w, r, "b?x=1", http.StatusFound)
		case "/v1/loop":
			http.Redirect(w, r, "/v1/loop", http.StatusFound)
		case "/v1/out":
			http.Redirect(w, r, "/v2/x", http.StatusFound)
		case "/v1/odd":
			w.Header().Set("Location", "http://u:p@h/%zz")
			w.WriteHeader(302)
		default:
			io.WriteString(w, "end")
		}
	}))
	defer srv.Close()
	r, l := runner(t, httprun.Config{}), leases()["bearer"]
	do := func(method, path string, limit int) result {
		paths = nil
		a := get(srv.URL+path, l)
		a.Method, a.Redirects = method, action.Redirects{Max: limit, Within: srv.URL + "/v1/"}
		return run(t.Context(), r, a, l)
	}
	got := do("GET", "/v1/a", 5)
	if got.err != nil || string(got.Body) != "end" || got.FinalURL != srv.URL+"/v1/b?x=1" || got.started != 1 || len(paths) != 2 || paths[1] != "GET /v1/b Bearer "+canary {
		t.Errorf("followed: %v %+v %q", got.err, got.HTTPResponse, paths)
	}
	for _, c := range []struct {
		method, path string
		limit, hits  int
		note         string
	}{
		{"GET", "/v1/a", 0, 1, "does not follow"}, {"POST", "/v1/a", 5, 1, "only GET and HEAD"},
		{"GET", "/v1/out", 5, 1, "leaves the credential's binding"}, {"GET", "/v1/loop", 3, 4, "3 were followed"},
		{"GET", "/v1/odd", 5, 1, "not a usable URL"},
	} {
		got := do(c.method, c.path, c.limit)
		if got.err != nil || got.Status != 302 || len(paths) != c.hits || !strings.Contains(got.Note, c.note) {
			t.Errorf("%s %s: %v %+v, %d requests", c.method, c.path, got.err, got.HTTPResponse, len(paths))
		}
	}
}

type names map[string][]netip.Addr

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := n[host]; ok {
		return a, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestAddresses(t *testing.T) {
	w := listen(t, func(_ int, c net.Conn) bool { reply(c, okAnswer); return true })
	_, port, _ := net.SplitHostPort(w.addr)
	ip := netip.MustParseAddr
	r := runner(t, httprun.Config{Resolver: names{
		"good.test": {ip("127.0.0.1")}, "mapped.test": {ip("::ffff:127.0.0.1")}, "meta.test": {ip("169.254.169.254")},
		"mixed.test": {ip("127.0.0.1"), ip("169.254.169.254")}, "nat64.test": {ip("64:ff9b::a9fe:a9fe")}, "any.test": {ip("0.0.0.0")}, "none.test": {},
	}})
	for _, c := range []struct {
		host    string
		private bool
		code    executor.Code
		words   string
	}{
		{"good.test", true, "", ""}, {"mapped.test", true, "", ""}, {"127.0.0.1", true, "", ""},
		{"good.test", false, executor.TargetBlocked, "no binding names it"}, {"127.0.0.1", false, executor.TargetBlocked, "loopback"},
		{"meta.test", true, executor.TargetBlocked, "link-local/metadata address"}, {"mixed.test", true, executor.TargetBlocked, "169.254.169.254"},
		{"nat64.test", true, executor.TargetBlocked, "metadata"}, {"any.test", true, executor.TargetBlocked, "unspecified"},
		{"169.254.169.254", true, executor.TargetBlocked, "metadata"}, {"[fd00:ec2::254]", true, executor.TargetBlocked, "metadata"},
		{"100.100.100.200", true, executor.TargetBlocked, "metadata"}, {"metadata.google.internal", true, executor.TargetBlocked, "metadata name"},
		{"absent.test", true, executor.UpstreamUnreachable, "could not be resolved"}, {"none.test", true, executor.UpstreamUnreachable, "could not be resolved"},
	} {
		before := w.conns.Load()
		a := get("http://"+c.host+":"+port+"/", nil)
		a.Address.Private = c.private
		got := run(t.Context(), r, a, nil)
		if got.code() != c.code || c.code != "" && (got.started != 0 || w.conns.Load() != before || !strings.Contains(got.err.Error(), c.words)) {
			t.Errorf("%s private %v: %v, started %d", c.host, c.private, got.err, got.started)
		}
	}
}

func TestFailuresBeforeTheRequest(t *testing.T) {
	ln, _ := net.Listen("tcp", "127.0.0.1:0")
	closed := ln.Addr().String()
	ln.Close()
	tlsServer := httptest.NewUnstartedServer(http.NotFoundHandler())
	tlsServer.Config.ErrorLog = nil
	tlsServer.StartTLS()
	defer tlsServer.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	r, l := runner(t, httprun.Config{}), leases()["bearer"]
	for url, words := range map[string]string{
		"http://" + closed + "/?q=" + canary: "refused", tlsServer.URL + "/": "not signed by an authority",
		"https://" + strings.TrimPrefix(plain.URL, "http://") + "/": "TLS",
	} {
		got := run(t.Context(), r, get(url, l), l)
		if got.code() != executor.UpstreamUnreachable || got.started != 0 || !strings.Contains(got.err.Error(), words) {
			t.Errorf("%s: %v, started %d", url, got.err, got.started)
		}
		if strings.Contains(got.err.Error(), canary) {
			t.Errorf("the query is in the error: %v", got.err)
		}
	}
	for name, change := range map[string]func(*action.HTTP){
		"skip verify": func(a *action.HTTP) { a.TLS.SkipVerify = true },
		"proxy":       func(a *action.HTTP) { a.Address.Proxy = "http://p" },
		"origin":      func(a *action.HTTP) { a.Origin = "http://other" },
		"not normal":  func(a *action.HTTP) { a.URL = strings.ToUpper(a.URL) },
		"framing":     func(a *action.HTTP) { a.Headers = []action.Header{{Name: "Host", Value: "x"}} },
		"occupied":    func(a *action.HTTP) { a.Headers = []action.Header{{Name: "Authorization", Value: "x"}} },
	} {
		a := get(plain.URL+"/", l)
		change(a)
		if got := run(t.Context(), r, a, l); got.code() != executor.Internal || got.started != 0 {
			t.Errorf("%s: %v", name, got.err)
		}
	}
}

func TestServerTextStaysOutOfErrors(t *testing.T) {
	for name, answer := range map[string]string{
		"status line": "HTTP/1.1 " + canary + "\n\n",
		"garbage":     canary + "\n\n",
		"header":      "HTTP/1.1 200 OK\n" + canary + "\n\n",
		"length":      "HTTP/1.1 200 OK\nContent-Length: " + canary + "\n\n",
		"huge header": "HTTP/1.1 200 OK\nX: " + strings.Repeat(canary, 20000) + "\n\n",
		"cut":         "HTTP/1.1 200 OK\nContent-Length: 100\n\npart",
	} {
		w := listen(t, func(_ int, c net.Conn) bool { reply(c, answer); return false })
		l := leases()["header"]
		got := run(t.Context(), runner(t, httprun.Config{}), get("http://"+w.addr+"/", l), l)
		if got.code() != executor.UpstreamUnreachable || got.started != 1 {
			t.Errorf("%s: %v", name, got.err)
		}
		if name == "cut" && string(got.Body) != "part" {
			t.Errorf("what came was lost: %q", got.Body)
		}
		got.noLeak(t)
	}
}

func TestBounds(t *testing.T) {
	var zeros bytes.Buffer
	zw := gzip.NewWriter(&zeros)
	for range 8 {
		zw.Write(make([]byte, 1<<20)) // 8 MiB
	}
	zw.Close()
	small := func(s string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		io.WriteString(w, s)
		w.Close()
		return b.Bytes()
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zeros.Bytes())
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(small("hello"))
		case "/damaged":
			w.Header().Set("Content-Encoding", "gzip")
			b := small(strings.Repeat("hello", 100))
			b[len(b)-8] ^= 1
			w.Write(b)
		case "/big":
			w.Write(make([]byte, 10000))
		case "/endless":
			for r.Context().Err() == nil {
				w.Write([]byte("data: tick\n\n"))
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		case "/cookie":
			w.Header()["Set-Cookie"] = []string{"sid=" + canary + "; Path=/", canary}
		}
	}))
	defer srv.Close()
	r := runner(t, httprun.Config{})
	do := func(path string, limit int, timeout time.Duration) result {
		a := get(srv.URL+path, nil)
		a.Limits = action.Limits{Timeout: timeout, MaxBytes: limit}
		return run(t.Context(), r, a, nil)
	}
	if got := do("/bomb", 1000, 5*time.Second); got.err != nil || len(got.Body) != 1000 || !got.Truncated || got.Total > 4<<20 || got.took > 2*time.Second {
		t.Errorf("bomb: %v %d of %d after %s", got.err, len(got.Body), got.Total, got.took)
	}
	got := do("/gzip", 1000, 5*time.Second)
	if got.err != nil || string(got.Body) != "hello" || got.Truncated || strings.Contains(fmt.Sprint(got.Headers), "gzip") {
		t.Errorf("gzip: %v %+v", got.err, got.HTTPResponse)
	}
	if got := do("/damaged", 1000, 5*time.Second); got.err != nil || !strings.Contains(got.Note, "damaged") || !got.Truncated {
		t.Errorf("damaged: %v %+v", got.err, got.HTTPResponse)
	}
	if got := do("/big", 100, 5*time.Second); got.err != nil || len(got.Body) != 100 || !got.Truncated || got.Total != 10000 {
		t.Errorf("big: %v %d of %d", got.err, len(got.Body), got.Total)
	}
	if got := do("/big", 10000, 5*time.Second); got.err != nil || got.Truncated || got.Total != 10000 {
		t.Errorf("exactly: %v %v %d", got.err, got.Truncated, got.Total)
	}
	if got := do("/endless", 100, 5*time.Second); got.err != nil || len(got.Body) != 100 || !got.Truncated || got.took > 2*time.Second {
		t.Errorf("endless, bounded: %v %d after %s", got.err, len(got.Body), got.took)
	}
	if got := do("/endless", 1<<20, 300*time.Millisecond); got.code() != executor.UpstreamTimeout || got.Status != 200 || !bytes.HasPrefix(got.Body, []byte("data: tick")) || got.took > 2*time.Second {
		t.Errorf("endless, timed: %v %+v", got.err, got.HTTPResponse)
	}
	got = do("/cookie", 100, 5*time.Second)
	if text := fmt.Sprint(got.Headers); !strings.Contains(text, "sid="+httprun.Withheld) || strings.Contains(text, canary) {
		t.Errorf("cookie: %s", text)
	}
}

func TestTimeAndCancel(t *testing.T) {
	gone := make(chan struct{}, 8)
	w := listen(t, func(_ int, c net.Conn) bool {
		c.Read(make([]byte, 1)) // until the client closes
		gone <- struct{}{}
		return false
	})
	r := runner(t, httprun.Config{})
	a := get("http://"+w.addr+"/", nil)
	a.Limits.Timeout = 200 * time.Millisecond
	if got := run(t.Context(), r, a, nil); got.code() != executor.UpstreamTimeout || got.started != 1 {
		t.Errorf("%v", got.err)
	}
	<-gone
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	a.Limits.Timeout = 10 * time.Second
	if got := run(ctx, r, a, nil); got.code() != executor.CallCancelled || got.started != 1 || got.took > 2*time.Second {
		t.Errorf("%v after %s", got.err, got.took)
	}
	select {
	case <-gone:
	case <-time.After(3 * time.Second):
		t.Error("the connection is still there after the cancel")
	}
	if got := run(ctx, r, a, nil); got.code() != executor.CallCancelled || got.started != 0 {
		t.Errorf("cancelled before: %v, started %d", got.err, got.started)
	}
	a.Limits.Timeout = 0
	if got := run(t.Context(), r, a, nil); got.code() != executor.UpstreamTimeout || got.started != 0 {
		t.Errorf("no time at all: %v, started %d", got.err, got.started)
	}
}

func TestConnectionsPerCredentialVersion(t *testing.T) {
	w := listen(t, func(_ int, c net.Conn) bool { reply(c, okAnswer); return true })
	r, l := runner(t, httprun.Config{MaxPools: 2}), leases()["bearer"]
	for i, want := range []int32{1, 1, 2, 2, 3, 4} {
		l.Meta.Version = []int{1, 1, 2, 2, 3, 1}[i] // the pool of 1 is given up for 3
		if got := run(t.Context(), r, get("http://"+w.addr+"/", l), l); got.err != nil || w.conns.Load() != want {
			t.Errorf("call %d: %v, %d connections, want %d", i, got.err, w.conns.Load(), want)
		}
	}
	a := get("http://"+w.addr+"/", l)
	a.Address.Private = false
	if got := run(t.Context(), r, a, l); got.code() != executor.TargetBlocked {
		t.Errorf("a connection to a private address was lent: %v", got.err)
	}
}

func TestHTTP2OverTLS(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, r.Proto, " ", r.Method, " ", string(b), " ", r.UserAgent())
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	r, l := runner(t, httprun.Config{Roots: pool}), leases()["bearer"]
	for method, want := range map[string]string{"GET": "HTTP/2.0 GET  ", "POST": "HTTP/1.1 POST  "} {
		a := get(srv.URL+"/", l)
		a.Method = method
		for range 2 {
			if got := run(t.Context(), r, a, l); got.err != nil || string(got.Body) != want || got.started != 1 {
				t.Errorf("%s: %v %q", method, got.err, got.Body)
			}
		}
	}
}
