package mask_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"executor/internal/mask"
	"executor/internal/secret"
)

const name = "api-demo"

func named(secrets ...string) []mask.Named {
	var list []mask.Named
	for i, s := range secrets {
		n := mask.Named{Name: name, Secret: secret.New([]byte(s))}
		if i > 0 {
			n.Name = fmt.Sprintf("%s-%d", name, i)
		}
		list = append(list, n)
	}
	return list
}

func odd(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/secret.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unit escapes each UTF-16 unit of s that want picks, in the given format.
func unit(s, format string, want func(r uint16) bool) string {
	var out strings.Builder
	for _, r := range s {
		for _, u := range utf16.Encode([]rune{r}) {
			if want(u) {
				fmt.Fprintf(&out, format, u)
			} else if u < 0x80 {
				out.WriteByte(byte(u))
			} else {
				out.WriteRune(r)
				break
			}
		}
	}
	return out.String()
}

func ascii(s, format string) string {
	return unit(s, format, func(r uint16) bool { return r >= 0x80 })
}

func perByte(s, format string) string {
	var out strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&out, format, s[i])
	}
	return out.String()
}

// octal is how git and ls -b write names.
func octal(s string) string {
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x80:
			fmt.Fprintf(&out, `\%03o`, c)
		case c == '\\' || c == '"':
			out.WriteString(`\` + string(c))
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

func jsonString(s string, escapeHTML bool) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(escapeHTML)
	enc.Encode(s)
	quoted := strings.TrimSuffix(out.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

func lowerEscapes(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' {
			s = s[:i] + strings.ToLower(s[i:i+3]) + s[i+3:]
			i += 2
		}
	}
	return s
}

func wrapped(s, end string, width int) string {
	var lines []string
	for len(s) > width {
		lines = append(lines, s[:width])
		s = s[width:]
	}
	return strings.Join(append(lines, s), end)
}

// whole are encodings of the secret alone: the mask takes the place of all of it.
func whole(s string) map[string]string {
	std := base64.StdEncoding.EncodeToString([]byte(s))
	plain := jsonString(s, false)
	mixed := []byte(hex.EncodeToString([]byte(s)))
	for i := range mixed {
		if i%3 == 0 {
			mixed[i] = bytes.ToUpper(mixed[i : i+1])[0]
		}
	}
	return map[string]string{
		"raw":                s,
		"base64":             std,
		"base64 unpadded":    base64.RawStdEncoding.EncodeToString([]byte(s)),
		"base64url":          base64.URLEncoding.EncodeToString([]byte(s)),
		"base64url unpadded": base64.RawURLEncoding.EncodeToString([]byte(s)),
		"base64 in json":     strings.ReplaceAll(std, "/", `\/`),
		"base64 in query":    url.QueryEscape(std),
		"base64 lines":       wrapped(std, "\n", 10),
		"base64 crlf":        wrapped(std, "\r\n", 10),
		"base64 lines json":  wrapped(std, `\n`, 10),
		"hex":                hex.EncodeToString([]byte(s)),
		"HEX":                strings.ToUpper(hex.EncodeToString([]byte(s))),
		"HeX":                string(mixed),
		"query":              url.QueryEscape(s),
		"query lower":        lowerEscapes(url.QueryEscape(s)),
		"path":               url.PathEscape(s),
		"path lower":         lowerEscapes(url.PathEscape(s)),
		"whatwg":             strings.NewReplacer(" ", "%20", `"`, "%22", "<", "%3C", "é", "%C3%A9").Replace(s),
		"percent all":        perByte(s, "%%%02X"),
		"percent all lower":  perByte(s, "%%%02x"),
		"percent twice":      url.QueryEscape(url.QueryEscape(s)),
		"json":               plain,
		"json html":          jsonString(s, true),
		"json slash":         strings.ReplaceAll(plain, "/", `\/`),
		"json ascii":         ascii(plain, `\u%04x`),
		"json ASCII":         ascii(plain, `\u%04X`),
		"json all":           unit(s, `\u%04x`, func(uint16) bool { return true }),
		"json twice":         jsonString(plain, false),
		"json ascii html":    ascii(jsonString(s, true), `\u%04x`),
		"json of html":       jsonString(html.EscapeString(s), true),
		"json of query":      jsonString(url.QueryEscape(s), true),
		"html":               html.EscapeString(s),
		"html named":         strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(s),
		"html hex":           strings.NewReplacer("&", "&#x26;", "<", "&#X3C;", `"`, "&#x22;", "'", "&#x27;", "☃", "&#x2603;").Replace(s),
		"bytes":              perByte(s, `\x%02x`),
		"octal":              octal(s),
		"shell":              strings.NewReplacer("!", `\!`, "&", `\&`, "<", `\<`, `"`, `\"`, `\`, `\\`, " ", `\ `).Replace(s),
	}
}

// repeated are the forms that only the repeating view reads. A secret that
// reads as an escape itself may be missed in them.
var repeated = map[string]bool{"whatwg": true, "percent twice": true, "json twice": true, "json of html": true, "json of query": true}

var readsAsEscape = map[string]bool{"percent": true, "escapes": true}

var secretsToEncode = map[string]string{
	"surrogates": "p4ss\U0001F511word'>/\\n\\u0041é=zq?",
	"percent":    "%41%zz&amp;\\u00e9-tail+%25%",
	"escapes":    `n"\\\\t\"&lt;x%252541 'k>`,
	"token":      "ghp_R4nd0mT0ken9f2c71d0ZyXw",
}

func TestEncodings(t *testing.T) {
	secrets := map[string]string{"odd": odd(t)}
	for k, v := range secretsToEncode {
		secrets[k] = v
	}
	for kind, s := range secrets {
		set := mask.NewSet(named(s, "another-Secret-0123456789"))
		for form, text := range whole(s) {
			if repeated[form] && readsAsEscape[kind] {
				continue
			}
			t.Run(kind+"/"+form, func(t *testing.T) {
				for _, around := range [][2]string{{"", ""}, {`{"x": "`, `"}`}, {"a: ", "\n\nb"}, {"<p>", "</p>"}, {"é=", "&k=v"}} {
					in := around[0] + text + around[1]
					want := around[0] + mask.Mask(name) + around[1]
					for _, chunk := range []int{1, 3, 7, len(in)} {
						if got, r := filter(t, set, in, chunk); got != want || r.Total() != 1 || r.Redactions[name] != 1 {
							t.Errorf("%q in pieces of %d: got %q %v, want %q", in, chunk, got, r, want)
						}
					}
					if n, ok := set.Contains([]byte(in)); !ok || n != name {
						t.Errorf("Contains(%q) = %q, %v", in, n, ok)
					}
				}
			})
		}
	}
}

// At the two offsets that share characters with a neighbour, at most one
// character stays that holds bits of the secret: the first.
func TestBase64AmongNeighbours(t *testing.T) {
	s := odd(t)
	set := mask.NewSet(named(s))
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		for before := range 7 {
			for after := range 7 {
				pre := strings.Repeat("u", before)
				text := enc.EncodeToString([]byte(pre + s + strings.Repeat("v", after)))
				got, _ := filter(t, set, text, 5)
				left := text[:(8*before+5)/6]
				right := text[(8*(before+len(s))+5)/6:]
				if after == 0 {
					right = ""
				}
				if want := left + mask.Mask(name) + right; got != want {
					t.Errorf("%d before, %d after: %q became %q, want %q", before, after, text, got, want)
				}
			}
		}
	}
}

// forms is what leakscan.py, the judge of the redaction cases, looks for.
func forms(s string) map[string]string {
	js := jsonString(s, false)
	js = ascii(js, `\u%04x`)
	out := map[string]string{
		"raw": s, "hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))),
		"percent":   strings.ReplaceAll(url.QueryEscape(s), "+", "%20"),
		"form":      url.QueryEscape(s),
		"json":      js,
		"json-html": strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(js),
		"html":      strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(s),
	}
	for pad := range 3 {
		b := append(make([]byte, pad), s...)
		e := base64.StdEncoding.EncodeToString(b)
		hi := len(e)
		if len(b)%3 != 0 {
			hi -= 4
		}
		core := e[[]int{0, 2, 3}[pad]:hi]
		if len(core) >= 8 {
			out[fmt.Sprint("base64+", pad)] = core
			out[fmt.Sprint("base64url+", pad)] = strings.NewReplacer("+", "-", "/", "_").Replace(core)
		}
	}
	if strings.Contains(s, "\n") {
		for i, l := range strings.Split(s, "\n") {
			if len(l) >= 12 {
				out[fmt.Sprint("line", i)] = l
			}
		}
	}
	return out
}

func TestLeakscanFindsNothing(t *testing.T) {
	pem := "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpgfoqVRW8M\nGLd61UYiUe2l\n-----END PRIVATE KEY-----\n"
	for _, s := range []string{odd(t), pem, secretsToEncode["surrogates"]} {
		set := mask.NewSet(named(s))
		looked := forms(s)
		if len(looked) < 10 {
			t.Fatalf("the oracle has %d forms only", len(looked))
		}
		var all strings.Builder
		for _, form := range whole(s) {
			all.WriteString(form + "\n--\n")
		}
		for pad := range 3 {
			all.WriteString(base64.StdEncoding.EncodeToString([]byte("ab"[:min(pad, 2)]+s+"tail")) + "\n--\n")
			all.WriteString(base64.URLEncoding.EncodeToString([]byte("ab"[:min(pad, 2)]+s+"tail")) + "\n--\n")
		}
		for _, text := range looked {
			all.WriteString(text + "\n--\n")
		}
		for _, chunk := range []int{3, 4096} {
			got, _ := filter(t, set, all.String(), chunk)
			for form, text := range looked {
				if strings.HasPrefix(text, "-----") {
					continue // by itself it says what a file is
				}
				if i := strings.Index(got, text); i >= 0 {
					t.Errorf("LEAK %s at byte %d in pieces of %d: %q", form, i, chunk, text)
				}
			}
		}
	}
}

func TestLines(t *testing.T) {
	pem := "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpgfoqVRW8M\nGLd61UYiUe2l\n-----END PRIVATE KEY-----\n"
	set := mask.NewSet(named(pem))
	m := mask.Mask(name)
	for in, want := range map[string]string{
		pem:                                   m,
		strings.TrimSpace(pem) + "!":          m + "!",
		strings.ReplaceAll(pem, "\n", "\r\n"): m,
		strings.ReplaceAll(pem, "\n", `\n`):   m,
		"2: MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpgfoqVRW8M\n": "2: " + m + "\n",
		"> GLd61UYiUe2l":                                                  "> " + m,
		"-----BEGIN PRIVATE KEY-----\nanother\n":                          "-----BEGIN PRIVATE KEY-----\nanother\n",
		base64.StdEncoding.EncodeToString([]byte(pem)):                    m,
		wrapped(base64.StdEncoding.EncodeToString([]byte(pem)), "\n", 76): m,
		wrapped(hex.EncodeToString([]byte(pem)), "\n", 60):                m,
	} {
		if got, _ := filter(t, set, in, 11); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
