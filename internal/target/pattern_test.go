package target_test

import (
	"errors"
	"strings"
	"testing"

	"executor/internal/target"
)

func TestMatchURL(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"https://api.example.com/v1/read", "https://api.example.com/v1/read https://api.example.com/v1/read/ https://api.example.com/v1/read/x?y https://API.example.com.:443/v1/%72ead?q",
			`https://api.example.com/v1/reader https://api.example.com/v1 https://api.example.com/v1/READ https://api.example.com/v1/read;x/y https://api.example.com/v1/read%3B
			http://api.example.com/v1/read https://api.example.com:8443/v1/read https://x.api.example.com/v1/read https://api.example.com.x/v1/read https://xapi.example.com/v1/read`},
		{"https://api.example.com/v1/read/", "https://api.example.com/v1/read/ https://api.example.com/v1/read/x", "https://api.example.com/v1/read https://api.example.com/v1/reader"},
		{"https://api.example.com", "https://api.example.com/ https://api.example.com https://api.example.com/any/thing?q", "https://example.com/ https://api.example.com:444/"},
		{"https://API.example.com:443", "https://api.example.com/", "https://api.example.com:80/"},
		{"https://api.example.com:8443/", "https://api.example.com:8443/x", "https://api.example.com/x"},
		{"http://127.0.0.1:18080", "http://127.0.0.1:18080/x", "http://127.0.0.1/x http://127.0.0.2:18080/x http://localhost:18080/x https://127.0.0.1:18080/x http://[::ffff:127.0.0.1]:18080/x"},
		{"http://[::1]", "http://[0:0::1]:80/", "http://127.0.0.1/"},
		{"ssh://h", "", "https://h/ http://h:22/"},
	} {
		p := mustPattern(t, c.pattern)
		for raw := range strings.FieldsSeq(c.yes) {
			if !p.MatchURL(mustParse(t, raw)) {
				t.Errorf("%s does not match %s", p, raw)
			}
		}
		for raw := range strings.FieldsSeq(c.no) {
			if p.MatchURL(mustParse(t, raw)) {
				t.Errorf("%s matches %s", p, raw)
			}
		}
		if p.MatchURL(target.URL{}) {
			t.Errorf("%s matches no URL", p)
		}
	}
}

func TestZeroPatternMatchesNothing(t *testing.T) {
	var p target.Pattern
	if p.MatchURL(mustParse(t, "https://h/")) || p.MatchURL(target.URL{}) || p.MatchAddr("") || p.MatchAddr("h:22") || p.Private() || p.String() != "" || p.Scheme() != "" {
		t.Error("the zero pattern matches or permits")
	}
}

func TestMatchAddr(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"ssh://Web-1.example.com", "web-1.example.com:22 WEB-1.example.com. web-1.example.com", "web-1.example.com:2222 web-1 xweb-1.example.com:22 user@web-1.example.com:22"},
		{"ssh://[2001:DB8::1]:2222", "[2001:db8:0::1]:2222", "[2001:db8::1]:22 2001:db8::1:2222"},
		{"ssh://127.0.0.1:2222/", "127.0.0.1:2222", "127.1:2222 localhost:2222 [::ffff:127.0.0.1]:2222"},
		{"https://h", "", "h:443 h:22 h"},
	} {
		p := mustPattern(t, c.pattern)
		for addr := range strings.FieldsSeq(c.yes) {
			if !p.MatchAddr(addr) {
				t.Errorf("%s does not match %s", p, addr)
			}
		}
		for addr := range strings.FieldsSeq(c.no) {
			if p.MatchAddr(addr) {
				t.Errorf("%s matches %s", p, addr)
			}
		}
	}
}

func TestPatternString(t *testing.T) {
	for s, want := range map[string]string{
		"HTTPS://API.Example.com:443": "https://api.example.com/", "https://h/%7Ea": "https://h/~a", "https://h:8443/a/": "https://h:8443/a/",
		"ssh://H": "ssh://h:22", "SSH://[::1]:2222": "ssh://[::1]:2222", "http://LOCALHOST:80": "http://localhost/",
	} {
		p := mustPattern(t, s)
		if p.String() != want || mustPattern(t, p.String()) != p {
			t.Errorf("%s is written %s, want %s", s, p, want)
		}
	}
	if p := mustPattern(t, "ssh://[::1]:2222"); p.Host() != "::1" || p.Scheme() != "ssh" {
		t.Errorf("host %q, scheme %q", p.Host(), p.Scheme())
	}
	if p := mustPattern(t, "https://h/a"); p.Host() != "h" || p.Scheme() != "https" {
		t.Errorf("host %q, scheme %q", p.Host(), p.Scheme())
	}
}

func TestPatternLen(t *testing.T) {
	order := []string{"https://h", "https://h/a", "https://h/a/", "https://h/a/b"}
	for i := 1; i < len(order); i++ {
		if mustPattern(t, order[i-1]).Len() >= mustPattern(t, order[i]).Len() {
			t.Errorf("%s is not longer than %s", order[i], order[i-1])
		}
	}
}

func TestPatternPrivate(t *testing.T) {
	for s, want := range map[string]bool{
		"http://127.0.0.1": true, "http://localhost:1": true, "https://localhost": true, "https://10.1.2.3/x": true, "https://[fd12::1]": true, "ssh://192.168.0.1": true, "ssh://localhost": true,
		"https://api.example.com": false, "https://1.1.1.1": false, "ssh://web-1:22": false, "https://[2606:4700::1]": false, "https://10.example.com": false,
	} {
		if mustPattern(t, s).Private() != want {
			t.Errorf("%s: Private() = %v", s, !want)
		}
	}
}

func TestParsePatternRefuses(t *testing.T) {
	for s, want := range map[string]string{
		"":                               "empty",
		"api.example.com":                "no scheme",
		"https://*.example.com":          "no wildcards",
		"https://h/v1/*":                 "no wildcards",
		"https://h/?q":                   "no query",
		"https://h/?":                    "no query",
		"https://h/#f":                   "fragment",
		"https://user:hunter2@h.example": "user information",
		"http://api.example.com":         "write https://api.example.com",
		"http://10.0.0.1/":               "plain http only to",
		"http://[::ffff:127.0.0.1]/":     "plain http only to",
		"https://h/a/../b":               "dot segment",
		"ssh://":                         "empty",
		"ssh://user@h":                   "the user is named apart",
		"ssh://h/path":                   "path",
		"ssh://-oProxyCommand=x":         "hyphen",
		"ssh://h:22:22":                  "several colons",
		"ssh://2130706433":               "127.0.0.1",
		"ftp://h":                        "not http or https",
	} {
		p, err := target.ParsePattern(s)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParsePattern(%q): %v; want %q", s, err, want)
		}
		if p != (target.Pattern{}) {
			t.Errorf("ParsePattern(%q) returns a pattern beside its error", s)
		}
	}
	for _, s := range []string{"https://169.254.169.254", "https://metadata.google.internal/x", "https://[::]", "https://224.0.0.1"} {
		if _, err := target.ParsePattern(s); !errors.Is(err, target.ErrNever) {
			t.Errorf("ParsePattern(%q): %v", s, err)
		}
	}
}

func TestHostPort(t *testing.T) {
	for s, want := range map[string]string{
		"web-1": "web-1:22", "WEB-1.Example.com.:2222": "web-1.example.com:2222", "[::1]": "[::1]:22", "[2001:DB8:0::1]:22": "[2001:db8::1]:22",
		"10.0.0.1": "10.0.0.1:22", "b\u00fccher.example": "xn--bcher-kva.example:22",
	} {
		if got, err := target.HostPort(s); err != nil || got != want {
			t.Errorf("HostPort(%q) = %q, %v; want %q", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"": "empty", "-oProxyCommand=id": "hyphen", "h -x": "space", "h\n": "space", "h\x00": "control", "u@h": "user", "ssh://h": "scheme", "h/x": "path", "h?x": "path", "h#x": "path",
		"h:": "port", "h:0": "port", "h:x": "port", "::1": "several colons", "[fe80::1%eth0]:22": "zone", "0x7f.1": "127.0.0.1", "h\xff": "UTF-8", ":22": "host is empty", "$(id)": "character other than", "h`id`": "character other than",
		`h\x`: "character other than", "a.-b": "hyphen",
	} {
		if got, err := target.HostPort(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("HostPort(%q) = %q, %v; want %q", s, got, err, want)
		}
	}
}
