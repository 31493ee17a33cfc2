package httprun_test

import (
	"bufio"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"executor/executor/httprun"
	"executor/internal/target"
)

// FuzzSentIsShown: the URL that is matched, shown and journaled is, byte for byte,
// what a real server receives, and net/url reads the same target from it.
func FuzzSentIsShown(f *testing.F) {
	for _, seed := range []string{
		"/", "/v1/a%20b;c?q=%C3%A9&x=", "/caf\u00e9?a=b c", "/%7euser", "/a/%2e%2e/b", "/a//b", "/a;b=c/d", "/?q=a+b&&=", "/?%2f..%2f",
		"/a?b?c", "/%e4%bd%a0", "/a%2Fb", "/x?q=[1]", "/x?q=%", "/*", "/a!$&'()*+,;=:@", "/x#f", "/?", "/a%00", "//host/x", "/a\tb", "/%F0%9F%98%80?\u00fc=%ff",
	} {
		f.Add(seed)
	}
	var mu sync.Mutex
	var line, host string
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					var head []string
					for {
						text, err := in.ReadString('\n')
						if err != nil {
							return
						}
						if text = strings.TrimRight(text, "\r\n"); text == "" {
							break
						}
						head = append(head, text)
					}
					mu.Lock()
					line, host = head[0], head[1]
					mu.Unlock()
					reply(c, okAnswer)
				}
			})
		}
	})
	r := httprun.New(httprun.Config{})
	f.Cleanup(func() { r.Close(); ln.Close(); wg.Wait() })
	f.Fuzz(func(t *testing.T, rest string) {
		u, err := target.Parse("http://" + ln.Addr().String() + rest)
		if err != nil {
			return
		}
		if u.Origin() != "http://"+ln.Addr().String() {
			return // rest changed the authority; Parse says where it would go
		}
		again, err := url.ParseRequestURI(u.String())
		if err != nil || again.Host != ln.Addr().String() || again.EscapedPath() != u.Path() || again.RawQuery != u.RawQuery() || again.User != nil || again.Fragment != "" {
			t.Fatalf("%q: net/url reads %+v, %v", u, again, err)
		}
		got := run(t.Context(), r, get(u.String(), nil), nil)
		if got.err != nil || got.Status != http.StatusOK {
			t.Fatalf("%q: %v", u, got.err)
		}
		mu.Lock()
		defer mu.Unlock()
		if line != "GET "+u.RequestURI()+" HTTP/1.1" || host != "Host: "+ln.Addr().String() {
			t.Fatalf("%q was sent as %q, %q", u, line, host)
		}
	})
}
