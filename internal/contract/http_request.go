package contract

import (
	"encoding/json"
	"net/textproto"
	"slices"
	"sort"
	"strings"

	"executor/internal/action"
)

type httpRequestArgs struct {
	Method         string                     `json:"method"`
	URL            string                     `json:"url"`
	Query          map[string]json.RawMessage `json:"query"`
	Headers        map[string]string          `json:"headers"`
	Body           *string                    `json:"body"`
	JSON           json.RawMessage            `json:"json"`
	Form           map[string]json.RawMessage `json:"form"`
	Multipart      []multipartPart            `json:"multipart"`
	BodyBase64     *string                    `json:"body_base64"`
	Credential     *string                    `json:"credential"`
	TimeoutS       *int                       `json:"timeout_s"`
	MaxBytes       *int                       `json:"max_bytes"`
	IdempotencyKey *string                    `json:"idempotency_key"`
}

var httpMethods = []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}

func renderHTTPRequest(raw json.RawMessage) (Draft, error) {
	var a httpRequestArgs
	if err := decodeArgs(raw, &a); err != nil {
		return nil, err
	}
	return draftHTTP(&a)
}

func draftHTTP(a *httpRequestArgs) (Draft, error) {
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
	d.Query = c.pairs("/query", a.Query)
	d.Headers = c.headers(a.Headers)
	c.idempotencyKey(a.IdempotencyKey, d)
	c.body(a, d)
	return d, c.err()
}

// pairs orders the parameters by name, so that two spellings of one call are one act.
func (c *checker) pairs(path string, params map[string]json.RawMessage) [][2]string {
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
			c.add(path+pointer(name), "a string or an array of strings is due")
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

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
