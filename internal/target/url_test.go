package target_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"executor/internal/target"
)

func TestParseNormalizes(t *testing.T) {
	for raw, want := range map[string]string{
		"https://api.example.com":                   "https://api.example.com/",
		"HTTPS://API.Example.COM.:443":              "https://api.example.com/",
		"http://h:80/":                              "http://h/",
		"http://h:443/":                             "http://h:443/",
		"https://h:80":                              "https://h:80/",
		"https://h?":                                "https://h/",
		"https://h?a=b":                             "https://h/?a=b",
		"https://h/a?b?c/d":                         "https://h/a?b?c/d",
		"https://h/%7euser/%41%2d%5f%2E":            "https://h/~user/A-_.",
		"https://h/a%3ab:c@d;v=1,2!$&'()*+=":        "https://h/a%3Ab:c@d;v=1,2!$&'()*+=",
		"https://h/caf\u00e9/\u65e5":                "https://h/caf%C3%A9/%E6%97%A5",
		"https://h/caf%c3%a9":                       "https://h/caf%C3%A9",
		"https://h/{a}|\"<b>^`[c]":                  "https://h/%7Ba%7D%7C%22%3Cb%3E%5E%60%5Bc%5D",
		"https://h/?f[x]={\"a\"}&u=\u00e9&p=100%25": "https://h/?f%5Bx%5D=%7B%22a%22%7D&u=%C3%A9&p=100%25",
		"https://h/?q=%0a%00%2f..%5C":               "https://h/?q=%0A%00%2F..%5C",
		"https://h/100%25":                          "https://h/100%25",
		"https://h/...":                             "https://h/...",
		"https://h/.hidden/a..b/..c":                "https://h/.hidden/a..b/..c",
		"https://h/a/":                              "https://h/a/",
		"https://my_service.local/":                 "https://my_service.local/",
		"https://r3---sn-x.example.com/":            "https://r3---sn-x.example.com/",
		"https://b\u00fccher.example/":              "https://xn--bcher-kva.example/",
		"https://XN--BCHER-KVA.example/":            "https://xn--bcher-kva.example/",
		"https://fa\u00df.de/":                      "https://xn--fa-hia.de/",
		"https://\u0430pple.com/":                   "https://xn--pple-43d.com/",
		"https://\uff41\uff50\uff49\u3002example/":  "https://api.example/",
		"https://[2001:DB8:0:0::1]:443/":            "https://[2001:db8::1]/",
		"https://[::FFFF:a00:1]:8443/":              "https://[::ffff:10.0.0.1]:8443/",
		"http://127.0.0.1:8080/x":                   "http://127.0.0.1:8080/x",
		"http://127.0.0.1./x":                       "http://127.0.0.1/x",
		"https://1password.com/":                    "https://1password.com/",
		"https://1.2.3.com/":                        "https://1.2.3.com/",
		"https://0xcafe.example/":                   "https://0xcafe.example/",
	} {
		u, err := target.Parse(raw)
		if err != nil || u.String() != want {
			t.Errorf("Parse(%q) = %q, %v; want %q", raw, u, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                       "empty",
		"api.example.com/x":                      "no scheme",
		"localhost:8080/x":                       "not http or https",
		"ftp://h/":                               "not http or https",
		"javascript:alert(1)":                    "not http or https",
		"http:/h/":                               "two slashes",
		"http:///x":                              "host is empty",
		"http://:80/":                            "host is empty",
		"http://./":                              "empty label",
		"http://h../":                            "empty label",
		"http://a..b/":                           "empty label",
		"http://-a.b/":                           "hyphen",
		"http://a-.b/":                           "hyphen",
		"http://a b/":                            "space",
		"http://h/a b":                           "%20",
		"http://h/\tx":                           "U+0009",
		"http://h/x\r\nHost: evil":               "U+000D",
		"http://h/\x00":                          "U+0000",
		"http://h/\u0085":                        "U+0085",
		"http://h/\u3000":                        "U+3000",
		"http://h/\u2028":                        "U+2028",
		"\nhttp://h/":                            "U+000A",
		"http://h/\xff":                          "UTF-8",
		"http://h\\x/":                           "backslash",
		"http://user@h.example/":                 "would reach h.example",
		"http://@h.example/":                     "would reach h.example",
		"http://a@b@h.example/":                  "would reach h.example",
		"http://h.example/#x":                    "would reach h.example",
		"http://h.example#":                      "would reach h.example",
		"http://h:/":                             "port",
		"http://h:0/":                            "port",
		"http://h:65536/":                        "port",
		"http://h:080/":                          "port",
		"http://h:+80/":                          "port",
		"http://h:80:80/":                        "several colons",
		"http://::1/":                            "brackets",
		"http://[::1":                            "bracket",
		"http://[::1]x/":                         "after the address",
		"http://[127.0.0.1]/":                    "not an IPv6 address",
		"http://[h]/":                            "not an IPv6 address",
		"http://h%2eexample/":                    "character other than",
		"http://h,x/":                            "character other than",
		"http://h$x/":                            "character other than",
		"http://xn--a/":                          "IDNA",
		"http://xn--/":                           "empty label",
		"http://a\u2100b/":                       "IDNA",
		"http://a\uff0fb/":                       "IDNA",
		"http://a\u202eb.example/":               "IDNA",
		"http://h/%":                             "two hex digits",
		"http://h/%2":                            "two hex digits",
		"http://h/%zz":                           "two hex digits",
		"http://h/?%":                            "in the query",
		"http://h/a//b":                          "empty segment",
		"http://h//":                             "empty segment",
		"http://h//evil.test/":                   "empty segment",
		"http://h/a/;x/b":                        "empty segment",
		"http://h/..":                            "dot segment",
		"http://h/.":                             "dot segment",
		"http://h/a/.%2E/b":                      "dot segment",
		"http://h/a/%2e%2e;x=1/b":                "dot segment",
		"http://h/a/..%3b/b":                     "dot segment",
		"http://h/a/%25252e%25252e/b":            "dot segment",
		"http://h/a/..%20/b":                     "dot segment",
		"http://h/a/\uff0e\uff0e/b":              "dot segment",
		"http://h/a/%EF%BC%8E%EF%BC%8E/b":        "dot segment",
		"http://h/a/\u2025/b":                    "dot segment",
		"http://h/a/%EF%BC%852e%EF%BC%852e/b":    "dot segment",
		"http://h/a/..%5cb":                      "encoded slash",
		"http://h/a%2Fb":                         "encoded slash",
		"http://h/a%252fb":                       "encoded slash",
		"http://h/a%25255cb":                     "encoded slash",
		"http://h/a\uff0fb":                      "encoded slash",
		"http://h/a%252F%CC%87b":                 "encoded slash",
		"http://h/a%c0%ae%c0%ae/b":               "not UTF-8",
		"http://h/a%c0%afb":                      "not UTF-8",
		"http://h/a%00":                          "control character",
		"http://h/..%00/a":                       "control character",
		"http://h/a%250a":                        "control character",
		"http://h/%252525252525252e":             "many times",
		"http://1.2.3/":                          "1.2.0.3",
		"http://1.2.3.4.5/":                      "not an IPv4 address",
		"http://256.1.1.1/":                      "not an IPv4 address",
		"http://example.1/":                      "not an IPv4 address",
		"http://08.8.8.8/":                       "not an IPv4 address",
		"http://010.8.8.8/":                      "8.8.8.8",
		"http://0x7f.1/":                         "127.0.0.1",
		"http://0X7F000001/":                     "127.0.0.1",
		"http://4294967296/":                     "not an IPv4 address",
		"http://0/":                              "unspecified",
		"http://0x/":                             "unspecified",
		"http://127.0.0.1../":                    "empty label",
		"http://\uff11\uff12\uff17.0.0.1/":       "127.0.0.1",
		"http://127\u30020\u30020\u30021/":       "127.0.0.1",
		"http://\u2460\u2461\u2466.1/":           "127.0.0.1",
		"http://16\u2079.254.169.254/":           "169.254.169.254",
		"http://[fe80::1%25eth0]/":               "zone",
		"http://[::1%25]/":                       "zone",
		"http://h/" + strings.Repeat("a", 16384): "at most 16384",
		"http://h/" + strings.Repeat("{", 16000): "longer than 16384",
		"http://" + strings.Repeat("a", 64) + ".example/": "label longer",
		"http://" + strings.Repeat("a.", 127) + "a/":      "longer than 253",
	} {
		u, err := target.Parse(raw)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%.60q) = %.60q, %v; want an error with %q", raw, u, err, want)
		}
		if u != (target.URL{}) {
			t.Errorf("Parse(%.60q) returns a URL beside its error", raw)
		}
	}
}

// What is wrong with a URL is said without its user information, path or query.
func TestErrorsKeepSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, raw := range []string{
		"https://user:hunter2@h.example/", "https://hunter2@h.example/", "https://hunter2:x@/", "https://user:hunter2@[::1/",
		"https://user:hunter2/x@h.example/", "https://user:hunter2#x@h.example/", "https://user:hunter2?x@h.example/",
		"https://user:hunter2\\x@h.example/", "https://hunter2\\x@h.example/", "https://user:hunter2 @h.example/",
		"https:user:hunter2@h.example/", "https:/user:hunter2@h.example/", "//user:hunter2@h.example/", "user:hunter2@h.example",
		"hunter2://h/", "hunter2", "https://h:hunter2/", "https://[hunter2]/", "https://hunter2%41.example/",
		"https://h/?token=hunter2#", "https://h/?token=hunter2%", "https://h/?token=hunter2 x", "https://h/../?token=hunter2",
		"https://h/hunter2/..", "https://h/hunter2%", "https://h/?token=hunter2\n", "https://1.2.3/?token=hunter2",
		"https://h.example\\?token=hunter2", "//h.example?token=hunter2", "https:h.example?token=hunter2",
	} {
		_, err := target.Parse(raw)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("Parse(%q): %v", raw, err)
		}
	}
}

func TestURLParts(t *testing.T) {
	u := mustParse(t, "https://[2001:db8::1]:8443/a%20b?q=1")
	for name, c := range map[string][2]string{
		"scheme": {u.Scheme(), "https"}, "host": {u.Host(), "2001:db8::1"}, "port": {u.Port(), "8443"},
		"origin": {u.Origin(), "https://[2001:db8::1]:8443"}, "hostport": {u.HostPort(), "[2001:db8::1]:8443"},
		"path": {u.Path(), "/a%20b"}, "query": {u.RawQuery(), "q=1"}, "uri": {u.RequestURI(), "/a%20b?q=1"},
		"default origin": {mustParse(t, "https://h:443/").Origin(), "https://h"},
		"default port":   {mustParse(t, "http://h/").Port(), "80"},
		"zero":           {target.URL{}.String(), ""},
	} {
		if c[0] != c[1] {
			t.Errorf("%s = %q, want %q", name, c[0], c[1])
		}
	}
	if a, ok := u.Literal(); !ok || a.String() != "2001:db8::1" {
		t.Errorf("literal %v %v", a, ok)
	}
	if _, ok := mustParse(t, "https://h/").Literal(); ok {
		t.Error("a name is taken for an address")
	}
}

func TestAddQuery(t *testing.T) {
	pairs := [][2]string{{"a b", "1&2=3"}, {"p%", "é+#/?\r\n"}, {"", "\xff"}}
	u := mustParse(t, "https://h/x").AddQuery(pairs)
	want := "https://h/x?a%20b=1%262%3D3&p%25=%C3%A9%2B%23%2F%3F%0D%0A&=%FF"
	if u.String() != want || mustParse(t, want) != u {
		t.Errorf("got %s", u)
	}
	values, err := url.ParseQuery(u.RawQuery())
	if err != nil || values.Get("a b") != "1&2=3" || values.Get("p%") != "é+#/?\r\n" {
		t.Errorf("read back: %v %v", values, err)
	}
	if got := mustParse(t, "https://h/x?q=1").AddQuery(pairs[:1]).RawQuery(); got != "q=1&a%20b=1%262%3D3" {
		t.Errorf("appended: %s", got)
	}
	if got := mustParse(t, "https://h/x").AddQuery(nil).String(); got != "https://h/x" {
		t.Errorf("nothing added: %s", got)
	}
}

func TestResolve(t *testing.T) {
	base := mustParse(t, "https://h.example/a/b?q=1")
	for ref, want := range map[string]string{
		"c": "https://h.example/a/c", "../c": "https://h.example/c", "/c?x=%7e": "https://h.example/c?x=~", "?y": "https://h.example/a/b?y",
		"#frag": "https://h.example/a/b?q=1", "//Other.example/x": "https://other.example/x", "http://h.example:80/": "http://h.example/",
	} {
		if u, err := base.Resolve(ref); err != nil || u.String() != want {
			t.Errorf("Resolve(%q) = %s, %v; want %s", ref, u, err, want)
		}
	}
	for _, ref := range []string{"https://u:hunter2@h.example/", "/%2e%2e/x", "/a%2fb", "ftp://h/", "://", "//169.254.43518/", "\x01hunter2"} {
		if u, err := base.Resolve(ref); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Resolve(%q) = %s, %v", ref, u, err)
		}
	}
}

// What net/http puts on the wire is what String showed.
func TestNetSendsWhatIsShown(t *testing.T) {
	var host, uri string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { host, uri = r.Host, r.RequestURI }))
	defer server.Close()
	for _, suffix := range []string{"", "?", "/a%3Ab;c=!$&'()*+,:@/~", "/caf%c3%a9/{x}?q=%zz"[:17], "/[x]?a[b]=c|d&e=%2f..%2f", "/x%25y?%F0=%00"} {
		u := mustParse(t, server.URL+suffix)
		response, err := server.Client().Do(&http.Request{Method: "GET", URL: u.Net()})
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if uri != u.RequestURI() || "http://"+host != u.Origin() || u.Net().String() != u.String() {
			t.Errorf("sent %s %s, shown %s", host, uri, u)
		}
	}
}

func TestNeverIsTested(t *testing.T) {
	_, err := target.Parse("http://2852039166/")
	if !errors.Is(err, target.ErrNever) {
		t.Error(err)
	}
	if _, err := target.Parse("http://2130706433/"); err == nil || errors.Is(err, target.ErrNever) {
		t.Errorf("loopback: %v", err)
	}
}
