package executor_test

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"executor/executor"
	"executor/internal/policy"
)

const clientSecret = "cl1ent-Secret-5d0f9a3c"

// oauthWorld is an API that takes the token which the test allows.
type oauthWorld struct {
	*apiWorld
	tokens   *tokenServer
	api      string
	requests atomic.Int32
	effects  atomic.Int32
	revoked  atomic.Value // a token that is no longer taken
	refuse   atomic.Bool  // takes none
}

func newOAuthWorld(t *testing.T) *oauthWorld {
	t.Helper()
	o := &oauthWorld{}
	o.revoked.Store("")
	o.tokens = newTokenServer(t, nil, clientSecret)
	srv := quiet(t, nil, func(w http.ResponseWriter, r *http.Request) {
		o.requests.Add(1)
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if r.URL.Path == "/v1/hop" && given != o.revoked.Load() {
			http.Redirect(w, r, "/v1/shut", http.StatusFound)
			return
		}
		if r.URL.Path == "/v1/shut" || o.refuse.Load() || given == o.revoked.Load() || given != o.tokens.token() {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, "not with "+given)
			return
		}
		if r.Method == "POST" {
			o.effects.Add(1)
		}
		fmt.Fprint(w, "hello "+given)
	})
	o.api = srv.URL
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	o.apiWorld = newAPIWorld(t, roots, map[string]policy.Credential{"api": {
		Type: policy.OAuth2, Targets: []string{srv.URL + "/v1/"}, TokenURL: o.tokens.URL + "/token", ClientID: "client-1", Scopes: []string{"read", "write"},
	}}, map[string][]byte{"api": []byte(clientSecret)})
	o.yes()
	return o
}

func (o *oauthWorld) send(method string) executor.Reply {
	o.t.Helper()
	return o.request(map[string]any{"method": method, "url": o.api + "/v1/x"})
}

func TestTokenIsFetchedOnceCachedAndMasked(t *testing.T) {
	o := newOAuthWorld(t)
	for range 3 {
		r := o.send("GET")
		if r.Structured["status"] != 200 || r.Structured["body"] != "hello [credential api]" {
			t.Fatalf("%v", r.Structured)
		}
	}
	if n := o.tokens.count(); n != 1 {
		t.Errorf("%d tokens for three calls", n)
	}
	if got := string(o.last().Downstream); !strings.Contains(got, `"token":{"fetched":false,"from":"`+o.tokens.URL+`"}`) {
		t.Errorf("the journal says of the token: %s", got)
	}
	// A token that somebody got hold of is known by every call's masks.
	r := o.request(map[string]any{"method": "GET", "url": o.api + "/v1/x", "query": map[string]string{"t": o.tokens.token()}})
	if code(r) != string(executor.CredentialInArgs) {
		t.Errorf("the token in arguments: %v", r.Structured)
	}
	clean(t, "the journal", o.journalBytes(), clientSecret, o.tokens.token())
	o.http.Forget()
	if o.send("GET"); o.tokens.count() != 2 {
		t.Errorf("%d tokens after the first was forgotten", o.tokens.count())
	}
}

func TestTokenIsRenewedBeforeItEnds(t *testing.T) {
	o := newOAuthWorld(t)
	o.tokens.life = 0 // the server does not say: it is kept
	o.send("GET")
	o.send("GET")
	if n := o.tokens.count(); n != 1 {
		t.Errorf("%d tokens where the server named no end", n)
	}
}

// TestUnauthorizedWithAToken: the token is fetched again once; a read is sent
// again, and nothing else is: one approval is one request.
func TestUnauthorizedWithAToken(t *testing.T) {
	o := newOAuthWorld(t)
	o.send("GET")
	o.revoked.Store(o.tokens.token())
	before := o.requests.Load()
	r := o.send("GET")
	if r.Structured["status"] != 200 || o.tokens.count() != 2 || o.requests.Load() != before+2 || !strings.Contains(fmt.Sprint(r.Structured["note"]), "sent again") {
		t.Errorf("GET after the token was revoked: %v, %d tokens, %d requests", r.Structured, o.tokens.count(), o.requests.Load()-before)
	}

	o.revoked.Store(o.tokens.token())
	before = o.requests.Load()
	r = o.send("POST")
	if r.Structured["status"] != 401 || o.requests.Load() != before+1 || o.tokens.count() != 3 || !strings.Contains(fmt.Sprint(r.Structured["note"]), "not sent again") {
		t.Errorf("POST after the token was revoked: %v, %d requests", r.Structured, o.requests.Load()-before)
	}
	clean(t, "the answer", seen(t, r), o.tokens.token(), o.revoked.Load().(string), clientSecret)
	if r = o.send("POST"); r.Structured["status"] != 200 || o.effects.Load() != 1 {
		t.Errorf("the next POST: %v, %d effects", r.Structured, o.effects.Load())
	}

	o.refuse.Store(true)
	before, fetched := o.requests.Load(), o.tokens.count()
	r = o.send("GET")
	if r.Structured["status"] != 401 || o.requests.Load() != before+2 || o.tokens.count() != fetched+1 {
		t.Errorf("a server that takes no token: %v, %d requests, %d tokens", r.Structured, o.requests.Load()-before, o.tokens.count()-fetched)
	}
}

// TestOneRenewalInACall, also where a redirect leads to a second 401.
func TestOneRenewalInACall(t *testing.T) {
	o := newOAuthWorld(t)
	o.send("GET")
	o.revoked.Store(o.tokens.token())
	before := o.requests.Load()
	r := o.request(map[string]any{"method": "GET", "url": o.api + "/v1/hop"})
	if r.Structured["status"] != 401 || o.tokens.count() != 2 || o.requests.Load() != before+3 {
		t.Errorf("%v, %d tokens, %d requests", r.Structured, o.tokens.count(), o.requests.Load()-before)
	}
}

func TestNoToken(t *testing.T) {
	o := newOAuthWorld(t)
	o.tokens.fail = "invalid_scope"
	r := o.send("POST")
	message := fmt.Sprint(r.Structured["message"])
	if code(r) != string(executor.UpstreamUnreachable) || r.Structured["side_effect_started"] != false || !strings.Contains(message, "it answered 400 invalid_scope") || !strings.Contains(message, o.tokens.URL) {
		t.Errorf("%v", r.Structured)
	}
	clean(t, "the error", seen(t, r), clientSecret)
	if o.requests.Load() != 0 {
		t.Error("the request was sent without a token")
	}
	o.tokens.fail, o.tokens.inBody = "", true
	if r := o.send("GET"); r.Structured["status"] != 200 {
		t.Errorf("a server that wants the client in the body: %v", r.Structured)
	}
	o.tokens.Close()
	o.http.Forget()
	r = o.send("GET")
	if code(r) != string(executor.UpstreamUnreachable) || !strings.Contains(fmt.Sprint(r.Structured["message"]), "refused the connection") {
		t.Errorf("no token server: %v", r.Structured)
	}
	clean(t, "the journal", o.journalBytes(), clientSecret)
}

// TestTokenTrafficComesAfterTheIntent: a call that is refused fetches nothing.
func TestTokenTrafficComesAfterTheIntent(t *testing.T) {
	o := newOAuthWorld(t)
	r := o.request(map[string]any{"method": "GET", "url": o.api + "/v1/x", "headers": map[string]string{"Authorization": "x"}})
	if code(r) != string(executor.InvalidArguments) || o.tokens.count() != 0 {
		t.Errorf("%v, %d tokens", r.Structured, o.tokens.count())
	}
}
