package httprun_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"executor/executor/httprun"
)

// TestForgetDropsConnections: after a lock nothing is sent over what was made before.
func TestForgetDropsConnections(t *testing.T) {
	w := listen(t, func(_ int, c net.Conn) bool { reply(c, okAnswer); return true })
	r, l := runner(t, httprun.Config{}), leases()["bearer"]
	for i, want := range []int32{1, 1, 2} {
		if i == 2 {
			r.Forget()
		}
		if got := run(t.Context(), r, get("http://"+w.addr+"/", l), l); got.err != nil || w.conns.Load() != want {
			t.Errorf("call %d: %v, %d connections, want %d", i, got.err, w.conns.Load(), want)
		}
	}
}

func TestIPv6(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.Host)) }))
	srv.Listener.Close()
	srv.Listener = ln
	srv.Start()
	defer srv.Close()
	r, l := runner(t, httprun.Config{}), leases()["bearer"]
	got := run(t.Context(), r, get(srv.URL+"/", l), l)
	if got.err != nil || string(got.Body) != ln.Addr().String() || !strings.HasPrefix(srv.URL, "http://[::1]:") {
		t.Errorf("%v %+v", got.err, got.HTTPResponse)
	}
	a := get(srv.URL+"/", nil)
	a.Address.Private = false
	if got := run(t.Context(), r, a, nil); got.err == nil || !strings.Contains(got.err.Error(), "loopback") {
		t.Errorf("without a binding: %v", got.err)
	}
}
