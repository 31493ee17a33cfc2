package target_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"executor/internal/target"
)

// FuzzParse holds Parse against net/url: what it accepts has one spelling, which
// every reader cuts the same way, and no decoding of it leads elsewhere.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"http-04", "http-05", "http-08"} {
		for _, raw := range caseURLs(f, "testdata/"+file+".jsonl") {
			f.Add(raw)
		}
	}
	for _, raw := range []string{
		"https://B\u00fccher.example\u3002/%7E?q=%7e", "https://[::ffff:1.2.3.4]:8443/a;b", "http://h/%25252e", "http://h/\u2025",
		"http://xn--bcher-kva.xn--/", "http://0x7f.1", "http://h/%c0%ae", "https://\u00ad.h/", "http://h/?a[]=%2f#", "http://h:080/{}",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := target.Parse(raw)
		if err != nil {
			checkErrorText(t, raw, err)
			return
		}
		s := u.String()
		again, err := target.Parse(s)
		if err != nil || again != u || again.String() != s {
			t.Fatalf("Parse(%q) = %q, which parses to %q, %v", raw, s, again, err)
		}
		checkAgainstNet(t, u)
		checkPath(t, u.Path())
		checkOrigins(t, u)
		if resolved, err := u.Resolve(""); err != nil || resolved != u {
			t.Fatalf("%q resolves itself to %q, %v", s, resolved, err)
		}
	})
}

func checkErrorText(t *testing.T, raw string, err error) {
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r > unicode.MaxASCII || unicode.IsControl(r) }) {
		t.Fatalf("Parse(%q): the error repeats raw text: %q", raw, err)
	}
	std, stdErr := url.Parse(raw)
	if stdErr != nil || std.User == nil {
		return
	}
	password, _ := std.User.Password()
	if len(password) > 5 && !strings.Contains(std.Host, password) && strings.Contains(err.Error(), password) && !strings.Contains(fixedTexts, password) {
		t.Fatalf("Parse(%q): the error repeats the password: %q", raw, err)
	}
}

// fixedTexts are words of the errors themselves, which a fuzzer finds as passwords.
const fixedTexts = "the URL has user information before an @ and would reach; leave it out, the credential is added from the vault"

func checkAgainstNet(t *testing.T, u target.URL) {
	std, err := url.Parse(u.String())
	if err != nil {
		t.Fatalf("net/url refuses %q: %v", u, err)
	}
	port := std.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[std.Scheme]
	}
	if std.Scheme != u.Scheme() || std.Hostname() != u.Host() || port != u.Port() || std.User != nil || std.Fragment != "" ||
		std.EscapedPath() != u.Path() || std.RawQuery != u.RawQuery() || std.RequestURI() != u.RequestURI() {
		t.Fatalf("net/url reads %q as %#v", u, std)
	}
	if net := u.Net(); net.String() != u.String() || net.RequestURI() != u.RequestURI() {
		t.Fatalf("Net of %q is %q", u, net)
	}
	for i := range len(u.String()) {
		if c := u.String()[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			t.Fatalf("%q holds the byte %#x", u, c)
		}
	}
}

func checkPath(t *testing.T, path string) {
	for range 6 {
		for i, segment := range strings.Split(path[1:], "/") {
			bare, _, _ := strings.Cut(segment, ";")
			if bare == "." || bare == ".." || bare == "" && i < strings.Count(path, "/")-1 {
				t.Fatalf("path %q has the segment %q", path, segment)
			}
		}
		if strings.Contains(path, `\`) {
			t.Fatalf("path %q", path)
		}
		slashes := strings.Count(path, "/")
		next, err := url.PathUnescape(path)
		if err != nil {
			return
		}
		if strings.Count(next, "/") != slashes {
			t.Fatalf("path %q decodes to %q", path, next)
		}
		path = next
	}
}

// checkOrigins makes patterns from the URL and sees that they stay within its origin.
func checkOrigins(t *testing.T, u target.URL) {
	p, err := target.ParsePattern(u.Origin())
	if err != nil {
		return
	}
	if !p.MatchURL(u) {
		t.Fatalf("%s does not match %s", p, u)
	}
	for _, other := range []string{"https://" + u.HostPort() + "x/", "https://a." + u.Host() + u.Path(), "https://" + u.Host() + ".b" + u.Path(),
		u.Scheme() + "://" + u.Host() + ":1" + u.Port(), "http://" + u.HostPort()} {
		o, err := target.Parse(other)
		if err == nil && p.MatchURL(o) && o.Origin() != u.Origin() {
			t.Fatalf("%s matches %s", p, o)
		}
	}
	if a, ok := u.Literal(); ok && target.Judge(a).Class() == target.Never {
		t.Fatalf("%s can be bound", a)
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"https://h/a", "https://h:8443/a/", "http://127.0.0.1:1/", "http://localhost", "ssh://[::1]", "ssh://H:2222/", "https://*.h/"} {
		f.Add(s, "https://h/a/b")
	}
	f.Fuzz(func(t *testing.T, s, raw string) {
		p, err := target.ParsePattern(s)
		if err != nil {
			return
		}
		again, err := target.ParsePattern(p.String())
		if err != nil || again != p {
			t.Fatalf("%q is %q, which is %q, %v", s, p, again, err)
		}
		u, err := target.Parse(raw)
		if err == nil && p.MatchURL(u) && !strings.HasPrefix(u.String(), strings.TrimSuffix(p.String(), "/")) {
			t.Fatalf("%s matches %s", p, u)
		}
	})
}

func FuzzHostPort(f *testing.F) {
	for _, s := range []string{"h", "H.:22", "[::1]:2222", "-o", "a@b", "1.2.3", "h:0", "b\u00fccher:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		addr, err := target.HostPort(s)
		if err != nil {
			return
		}
		if again, err := target.HostPort(addr); err != nil || again != addr {
			t.Fatalf("%q is %q, which is %q, %v", s, addr, again, err)
		}
		host := addr[:strings.LastIndexByte(addr, ':')]
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" || strings.HasPrefix(host, "-") {
			t.Fatalf("%q has the host %q", s, host)
		}
	})
}
