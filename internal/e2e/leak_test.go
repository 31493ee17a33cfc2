package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// forms are the easily reversed spellings of a secret.
func forms(s string) map[string]string {
	h := hex.EncodeToString([]byte(s))
	quoted, plain := jsonBody(s, true), jsonBody(s, false)
	out := map[string]string{
		"raw": s, "hex": h, "HEX": strings.ToUpper(h),
		"percent": strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "form": url.QueryEscape(s), "path": url.PathEscape(s),
		"json": plain, "json-html": quoted, "json-ascii": ascii(plain),
		"html": strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(s),
	}
	// Base64 at each alignment, without the characters at the edges that depend on neighbours.
	for pad := range 3 {
		raw := append(make([]byte, pad), s...)
		e := base64.StdEncoding.EncodeToString(raw)
		from, to := []int{0, 2, 3}[pad], len(e)
		if len(raw)%3 != 0 {
			to -= 4
		}
		if to-from >= 8 {
			core := e[from:to]
			out[fmt.Sprintf("base64+%d", pad)] = core
			out[fmt.Sprintf("base64url+%d", pad)] = strings.NewReplacer("+", "-", "/", "_").Replace(core)
		}
	}
	for i, line := range strings.Split(s, "\n") {
		if len(line) >= 12 && line != s {
			out[fmt.Sprintf("line%d", i)] = line
		}
	}
	return out
}

func jsonBody(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if e.Encode(s) != nil {
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}

func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// leaks names the places of secrets in data.
func leaks(data []byte, secrets map[string]string) []string {
	var found []string
	for name, s := range secrets {
		for form, v := range forms(s) {
			if i := bytes.Index(data, []byte(v)); v != "" && i >= 0 {
				found = append(found, fmt.Sprintf("%s, %s form, at byte %d", name, form, i))
			}
		}
	}
	return found
}

// wrapped are the places where the approval screen breaks a long line.
var wrapped = regexp.MustCompile(`\r?\n {2}[|:] `)

// A capture keeps every byte that came out at one place.
type capture struct {
	name string
	mu   sync.Mutex
	data []byte
}

func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.data = append(c.data, b...)
	return len(b), nil
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.data)
}

// capture returns a new place that is searched when the test ends.
func (w *world) capture(name string) *capture {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &capture{name: name}
	w.captures = append(w.captures, c)
	return c
}

// canary plants a secret to be searched for.
func (w *world) canary(name, value string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.secrets[name] = value
	return value
}

// search looks for the planted secrets in all that came out.
func (w *world) search() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.captures {
		data := []byte(c.String())
		w.clean(c.name, data)
		w.clean(c.name+", unwrapped", wrapped.ReplaceAll(data, nil))
	}
	files := 0
	err := filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		w.clean(path, data)
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		w.Errorf("searching the home: %v", err)
	}
	if races, err := filepath.Glob(filepath.Join(w.dir, "race.*")); err != nil || len(races) > 0 {
		report, _ := os.ReadFile(races[0])
		w.Errorf("the race detector found something in the program (%v):\n%s", err, report)
	}
}

func (w *world) clean(where string, data []byte) {
	for _, l := range leaks(data, w.secrets) {
		w.Errorf("LEAK in %s: %s", where, l)
	}
	for _, mark := range []string{"AGE-SECRET-KEY-", "PRIVATE KEY-----"} {
		if bytes.Contains(data, []byte(mark)) {
			w.Errorf("LEAK in %s: %s", where, mark)
		}
	}
}

// The search itself is worth nothing if it cannot find.
func TestSearchFindsEverySpelling(t *testing.T) {
	t.Parallel()
	const s = "S3NT!nel/+&<\"\\ %25 é☃=#!"
	secrets := map[string]string{"s": s}
	spelled := forms(s)
	if len(spelled) < 14 {
		t.Fatalf("only %d forms", len(spelled))
	}
	for form, v := range spelled {
		if len(leaks([]byte("before "+v+" behind"), secrets)) == 0 {
			t.Errorf("form %s is not found", form)
		}
	}
	for _, text := range []string{"xx" + s, "x" + s, s} {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			if len(leaks([]byte(e.EncodeToString([]byte(text+"yy"))), secrets)) == 0 {
				t.Errorf("base64 of %q is not found", text)
			}
		}
	}
	if found := leaks([]byte("[credential api] and nothing else"), secrets); len(found) > 0 {
		t.Errorf("found where there is none: %v", found)
	}
}
