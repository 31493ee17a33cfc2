package contract

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/textproto"
	"slices"
	"sort"
	"strings"

	"executor/internal/action"
)

type httpRequestArgs struct {
	Method     string                     `json:"method"`
	URL        string                     `json:"url"`
	Query      map[string]json.RawMessage `json:"query"`
	Headers    map[string]string          `json:"headers"`
	Body       *string                    `json:"body"`
	JSON       json.RawMessage            `json:"json"`
	BodyBase64 *string                    `json:"body_base64"`
	Credential *string                    `json:"credential"`
	TimeoutS   *int                       `json:"timeout_s"`
	MaxBytes   *int                       `json:"max_bytes"`
}

var httpMethods = []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}

func renderHTTPRequest(raw json.RawMessage) (Draft, error) {
	var a httpRequestArgs
	if err := decodeArgs(raw, &a); err != nil {
		return nil, err
	}
	c := &checker{}
	d := &HTTPDraft{Method: a.Method, URL: a.URL, Timeout: c.timeout(a.TimeoutS, 600), MaxBytes: c.maxBytes(a.MaxBytes)}
	if !slices.Contains(httpMethods, a.Method) {
		c.add("/method", "one of "+strings.Join(httpMethods, ", ")+" is due, in upper case")
	}
	if a.URL == "" {
		c.add("/url", "an absolute http or https URL is due")
	}
	if a.Credential != nil {
		d.Credential = *a.Credential
		if d.Credential == "" {
			c.add("/credential", "a credential's name is due, or leave it out")
		}
	}
	d.Query = c.query(a.Query)
	d.Headers = c.headers(a.Headers)
	c.body(&a, d)
	return d, c.err()
}

// query orders the parameters by name, so that two spellings of one call are one act.
func (c *checker) query(params map[string]json.RawMessage) [][2]string {
	var out [][2]string
	for _, name := range keys(params) {
		var one string
		var many []*string
		switch raw := params[name]; {
		case json.Unmarshal(raw, &one) == nil && raw[0] == '"':
			out = append(out, [2]string{name, one})
		case json.Unmarshal(raw, &many) == nil && raw[0] == '[' && !slices.Contains(many, nil):
			for _, v := range many {
				out = append(out, [2]string{name, *v})
			}
		default:
			c.add("/query"+pointer(name), "a string or an array of strings is due")
		}
	}
	return out
}

func (c *checker) headers(in map[string]string) []action.Header {
	var out []action.Header
	seen := map[string]bool{}
	for _, name := range keys(in) {
		path := "/headers" + pointer(name)
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if p := action.CheckHeader(name, in[name]); p != "" {
			c.add(path, p)
			continue
		}
		switch {
		case action.Reserved(name):
			c.add(path, "this header is not yours to set; leave it out")
		case seen[canonical]:
			c.add(path, "this header is given twice in different spellings")
		}
		seen[canonical] = true
		out = append(out, action.Header{Name: canonical, Value: strings.TrimSpace(in[name])})
	}
	return out
}

func (c *checker) body(a *httpRequestArgs, d *HTTPDraft) {
	given := 0
	if a.Body != nil {
		given++
		d.Body = []byte(*a.Body)
		d.ContentType = "text/plain; charset=utf-8"
	}
	if a.JSON != nil {
		given++
		var compact bytes.Buffer
		if err := json.Compact(&compact, a.JSON); err != nil {
			c.add("/json", "is not a JSON value")
		}
		d.Body, d.ContentType = compact.Bytes(), "application/json"
	}
	if a.BodyBase64 != nil {
		given++
		b, err := base64.StdEncoding.Strict().DecodeString(*a.BodyBase64)
		if err != nil {
			c.add("/body_base64", "is not base64 (RFC 4648, section 4, with padding)")
		}
		d.Body, d.ContentType = b, "application/octet-stream"
	}
	if given > 1 {
		c.add("", "body, json and body_base64: at most one of them is allowed")
	}
	if given > 0 && (a.Method == "GET" || a.Method == "HEAD") {
		c.add("", "a "+a.Method+" request has no body (RFC 9110, section 9.3)")
	}
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
