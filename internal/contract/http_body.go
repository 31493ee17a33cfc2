package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// multipartPart is one part of a multipart/form-data body (RFC 7578).
type multipartPart struct {
	Name        string  `json:"name"`
	Text        *string `json:"text"`
	Base64      *string `json:"base64"`
	Filename    string  `json:"filename"`
	ContentType string  `json:"content_type"`
}

// body makes the one body that the arguments give.
func (c *checker) body(a *httpRequestArgs, d *HTTPDraft) {
	given := 0
	for _, form := range []struct {
		given bool
		make  func()
	}{
		{a.Body != nil, func() { d.Body, d.ContentType = []byte(*a.Body), "text/plain; charset=utf-8" }},
		{a.JSON != nil, func() { d.Body, d.ContentType = c.jsonBody(a.JSON), "application/json" }},
		{a.Form != nil, func() { d.Body, d.ContentType = c.formBody(a.Form), "application/x-www-form-urlencoded" }},
		{a.Multipart != nil, func() { d.Body, d.ContentType = c.multipartBody(a.Multipart) }},
		{a.BodyBase64 != nil, func() { d.Body, d.ContentType = c.base64("/body_base64", *a.BodyBase64), "application/octet-stream" }},
	} {
		if form.given {
			given++
			form.make()
		}
	}
	if given > 1 {
		c.add("", "body, json, form, multipart and body_base64: at most one of them is allowed")
	}
	if given > 0 && (a.Method == "GET" || a.Method == "HEAD") {
		c.add("", "a "+a.Method+" request has no body (RFC 9110, section 9.3)")
	}
}

func (c *checker) jsonBody(raw json.RawMessage) []byte {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		c.add("/json", "is not a JSON value")
	}
	return compact.Bytes()
}

func (c *checker) base64(path, text string) []byte {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		c.add(path, "is not base64 (RFC 4648, section 4, with padding)")
	}
	return b
}

// formBody writes the fields as HTML forms do, in order of their names.
func (c *checker) formBody(fields map[string]json.RawMessage) []byte {
	var out bytes.Buffer
	for _, p := range c.pairs("/form", fields) {
		if out.Len() > 0 {
			out.WriteByte('&')
		}
		out.WriteString(formEscape(p[0]) + "=" + formEscape(p[1]))
	}
	return out.Bytes()
}

// multipartBody writes the parts in their order. The boundary comes from the
// content, so that the same parts are the same act.
func (c *checker) multipartBody(parts []multipartPart) (body []byte, contentType string) {
	if len(parts) == 0 {
		c.add("/multipart", "one part at least is due")
	}
	contents := make([][]byte, len(parts))
	seed := sha256.New()
	for i, p := range parts {
		contents[i] = c.part(i, p)
		fmt.Fprintf(seed, "%q %q %q %d\n", p.Name, p.Filename, p.ContentType, len(contents[i]))
		seed.Write(contents[i])
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	boundary := "executor-" + hex.EncodeToString(seed.Sum(nil))[:40]
	err := w.SetBoundary(boundary)
	for i, p := range parts {
		if err != nil {
			break
		}
		part, partErr := w.CreatePart(p.header())
		if err = partErr; err == nil {
			_, err = part.Write(contents[i])
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		c.add("/multipart", "cannot be written")
	}
	return out.Bytes(), "multipart/form-data; boundary=" + boundary
}

func (c *checker) part(i int, p multipartPart) []byte {
	path := "/multipart/" + strconv.Itoa(i)
	if p.Name == "" || strings.ContainsFunc(p.Name+p.Filename, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		c.add(path, "a name is due, and neither it nor the filename holds a control character")
	}
	if p.ContentType != "" {
		if _, _, err := mime.ParseMediaType(p.ContentType); err != nil || !httpguts.ValidHeaderFieldValue(p.ContentType) {
			c.add(path+"/content_type", "is not a media type such as text/csv")
		}
	}
	switch {
	case (p.Text == nil) == (p.Base64 == nil):
		c.add(path, "exactly one of text and base64 is due")
	case p.Text != nil:
		return []byte(*p.Text)
	default:
		return c.base64(path+"/base64", *p.Base64)
	}
	return nil
}

// header is the part's own, with quotes escaped as browsers do.
func (p multipartPart) header() textproto.MIMEHeader {
	quote := strings.NewReplacer(`\`, `\\`, `"`, "%22").Replace
	disposition := `form-data; name="` + quote(p.Name) + `"`
	if p.Filename != "" {
		disposition += `; filename="` + quote(p.Filename) + `"`
	}
	h := textproto.MIMEHeader{"Content-Disposition": {disposition}}
	switch {
	case p.ContentType != "":
		h["Content-Type"] = []string{p.ContentType}
	case p.Filename != "":
		h["Content-Type"] = []string{"application/octet-stream"}
	}
	return h
}

func formEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// idempotencyKey checks the key and gives it to the draft.
func (c *checker) idempotencyKey(key *string, d *HTTPDraft) {
	if key == nil {
		return
	}
	if len(*key) < 1 || len(*key) > 255 || strings.ContainsFunc(*key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		c.add("/idempotency_key", "1 to 255 visible ASCII characters are due")
	}
	d.IdempotencyKey = *key
}
