package demo

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"executor/internal/secret"
)

// An api is a small web shop on loopback that wants a bearer token.
type api struct {
	server   *http.Server
	listener net.Listener
	token    *secret.Secret
}

func startAPI(token *secret.Secret) (*api, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &api{listener: l, token: token}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{"order": r.PathValue("id"), "state": "paid", "amount": 42})
	})
	mux.HandleFunc("POST /v1/refunds", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusCreated, map[string]any{"refund": "re_1", "state": "pending"})
	})
	mux.HandleFunc("GET /v1/debug", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{"you_sent": r.Header.Get("Authorization")})
	})
	a.server = &http.Server{Handler: a.guard(mux), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = a.server.Serve(l) }()
	return a, nil
}

// prefix is where the token applies.
func (a *api) prefix() string { return "http://" + a.listener.Addr().String() + "/v1/" }

func (a *api) close() error {
	if err := a.server.Close(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (a *api) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowed := false
		a.token.Use(func(b []byte) error {
			allowed = r.Header.Get("Authorization") == "Bearer "+string(b)
			return nil
		})
		if !allowed {
			answer(w, http.StatusUnauthorized, map[string]any{"error": "no valid token"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
