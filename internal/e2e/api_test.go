package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// An api is a real HTTP server that writes down what it is asked.
type api struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
	gone int // slow requests whose client left
	// body, if set, answers every request without a path of its own; such requests
	// wait for held to be closed.
	body string
	held chan struct{}
}

// seen is one request as it arrived.
type seen struct {
	Method string      `json:"method"`
	URI    string      `json:"uri"`
	Host   string      `json:"host"`
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
}

func newAPI(t testing.TB) *api {
	a := &api{}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.stop)
	return a
}

func newTLS(t testing.TB) *api {
	a := &api{}
	a.Server = httptest.NewTLSServer(a)
	t.Cleanup(a.stop)
	return a
}

func (a *api) stop() {
	a.release()
	a.CloseClientConnections()
	a.Close()
}

func (a *api) requests() []seen {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]seen(nil), a.seen...)
}

func (a *api) left() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gone
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s := seen{r.Method, r.RequestURI, r.Host, r.Header.Clone(), string(body)}
	a.mu.Lock()
	a.seen = append(a.seen, s)
	a.mu.Unlock()
	switch r.URL.Path {
	case "/echo":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s)
	case "/echo64":
		for _, v := range r.Header["X-Api-Key"] {
			io.WriteString(w, "std="+base64.StdEncoding.EncodeToString([]byte(v))+" url="+base64.URLEncoding.EncodeToString([]byte("x"+v))+" end-of-body")
		}
	case "/split":
		for _, v := range r.Header["X-Api-Key"] {
			split(w, "before "+v+" behind")
		}
	case "/slow":
		a.slow(w, r)
	case "/redir":
		code, _ := strconv.Atoi(r.URL.Query().Get("code"))
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(max(code, 300))
	case "/big":
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		row := r.URL.Query().Get("row") + "\n"
		for n > 0 {
			n -= len(row)
			io.WriteString(w, row)
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, a.plain(r))
	}
}

// plain is the answer to a request without a path of its own.
func (a *api) plain(r *http.Request) string {
	a.mu.Lock()
	body, held := a.body, a.held
	a.mu.Unlock()
	if held != nil {
		<-held
	}
	if body != "" {
		return body
	}
	return `{"ok":true,"path":"` + r.URL.Path + `"}`
}

// answer sets what plain requests are answered with.
func (a *api) answer(body string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.body = body
}

// hold makes plain requests wait until release.
func (a *api) hold() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = make(chan struct{})
}

// release lets held requests go on, and holds no more.
func (a *api) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held != nil {
		close(a.held)
		a.held = nil
	}
}

// split writes three bytes at a time.
func split(w http.ResponseWriter, text string) {
	for len(text) > 0 {
		n := min(3, len(text))
		io.WriteString(w, text[:n])
		w.(http.Flusher).Flush()
		text = text[n:]
	}
}

// slow answers after a time, or notes that the client left.
func (a *api) slow(w http.ResponseWriter, r *http.Request) {
	ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
		io.WriteString(w, "done")
	case <-r.Context().Done():
		a.mu.Lock()
		a.gone++
		a.mu.Unlock()
	}
}

// certificate writes the certificate of a TLS server, for SSL_CERT_FILE.
func (w *world) certificate(a *api) string {
	w.Helper()
	return w.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw})))
}
