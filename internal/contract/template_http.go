package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"executor/internal/action"
	"executor/internal/target"

	"github.com/yosida95/uritemplate/v3"
)

type httpTemplate struct {
	method     string
	url        *uritemplate.Template
	path       []string // the arguments that stand in the path, or before it
	headers    []headerTemplate
	json       *node
	credential string
	args       []string
}

type headerTemplate struct {
	name  string
	value text
}

func compileHTTP(h *HTTPTemplate, in *input) (*httpTemplate, error) {
	t := &httpTemplate{method: h.Method, credential: h.Credential}
	if !slices.Contains(httpMethods, h.Method) {
		return nil, fmt.Errorf("http: method: one of %s is due", strings.Join(httpMethods, ", "))
	}
	if err := t.compileURL(h.URL, in); err != nil {
		return nil, fmt.Errorf("http: url: %w", err)
	}
	if err := t.compileHeaders(h.Headers, in); err != nil {
		return nil, err
	}
	if h.JSON != nil {
		if h.Method == "GET" || h.Method == "HEAD" {
			return nil, fmt.Errorf("http: json: a %s request has no body", h.Method)
		}
		var err error
		if t.json, err = parseNode(h.JSON); err != nil {
			return nil, fmt.Errorf("http: json: %w", err)
		}
		t.args = append(t.args, t.json.uses()...)
	}
	return t, nil
}

// prefix finds the modifier of RFC 6570, section 2.4.1.
var prefix = regexp.MustCompile(`\{[^}]*:[0-9]+[^}]*\}`)

func (t *httpTemplate) compileHeaders(headers map[string]string, in *input) error {
	for _, name := range keys(headers) {
		value, err := parseText(headers[name])
		if err == nil && action.Reserved(name) {
			err = errors.New("this header is not a template's to set")
		}
		if err == nil {
			if p := action.CheckHeader(name, value.literals()); p != "" {
				err = errors.New(p)
			}
		}
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if slices.ContainsFunc(t.headers, func(h headerTemplate) bool { return h.name == canonical }) {
			err = errors.New("it is given twice, in different spellings")
		}
		for _, arg := range value.uses() {
			err = errors.Join(err, in.scalarOnly(arg))
		}
		if err != nil {
			return fmt.Errorf("http: header %q: %w", name, err)
		}
		t.headers = append(t.headers, headerTemplate{canonical, value})
		t.args = append(t.args, value.uses()...)
	}
	return nil
}

// compileURL reads the template and makes sure that no argument reaches scheme,
// host or port, unless it is one of a list.
func (t *httpTemplate) compileURL(raw string, in *input) (err error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || scheme != "https" && scheme != "http" {
		return errors.New("an absolute https or http URL is due; the scheme is a constant")
	}
	end := strings.IndexAny(rest, "/?#")
	// {/x} and {?x} begin the path or query themselves.
	for _, operator := range []string{"{/", "{?"} {
		if i := strings.Index(rest, operator); i >= 0 && (end < 0 || i < end) {
			end = i
		}
	}
	if end < 0 {
		end = len(rest)
	}
	for _, operator := range []string{"{+", "{#", "{.", "{;"} {
		if strings.Contains(raw, operator) {
			return fmt.Errorf("%s…} would let an argument leave its place; {x}, {/x}, {?x} and {&x} are allowed", operator)
		}
	}
	if prefix.MatchString(raw) {
		return errors.New("{x:N} would drop the rest of an argument: calls that differ there would be one")
	}
	if t.url, err = uritemplate.New(raw); err != nil {
		return err
	}
	authority, err := uritemplate.New(rest[:end])
	if err != nil {
		return errors.New("host and port: an expression reaches over their end")
	}
	for _, name := range authority.Varnames() {
		if err := in.enumOfLabels(name); err != nil {
			return err
		}
	}
	for _, name := range t.url.Varnames() {
		if err := in.pathable(name); err != nil {
			return err
		}
	}
	t.args = append(t.args, t.url.Varnames()...)
	if t.path, err = pathArguments(raw, in); err != nil {
		return err
	}
	return t.probe(in)
}

// probe renders the URL once, so that what could never be sent is refused now.
func (t *httpTemplate) probe(in *input) error {
	values := uritemplate.Values{}
	for _, name := range t.url.Varnames() {
		values.Set(name, uritemplate.String("x"))
		if p := in.schema.Properties[name]; p != nil && len(p.Enum) > 0 {
			values.Set(name, uritemplate.String(fmt.Sprint(p.Enum[0])))
		}
	}
	s, err := t.url.Expand(values)
	if err != nil {
		return err
	}
	_, err = target.Parse(s)
	return err
}

// enumOfLabels demands an enum of strings that are host labels.
func (in *input) enumOfLabels(name string) error {
	p := in.schema.Properties[name]
	if p == nil || len(p.Enum) == 0 {
		return fmt.Errorf("the argument %q stands in host or port: it must be an enum", name)
	}
	for _, v := range p.Enum {
		s, ok := v.(string)
		if !ok || s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return fmt.Errorf("the argument %q stands in host or port: its value %v is no host label", name, v)
		}
	}
	return nil
}

// pathable refuses a property that cannot stand in a URL.
func (in *input) pathable(name string) error {
	p := in.schema.Properties[name]
	if p != nil && p.Type == "array" {
		return nil // a list of values, in a query
	}
	return in.scalarOnly(name)
}

func (t *httpTemplate) uses() []string { return t.args }

func (t *httpTemplate) render(args map[string]json.RawMessage) (Draft, error) {
	d := &HTTPDraft{Method: t.method, Credential: t.credential, Timeout: defaultTimeout, MaxBytes: defaultMaxBytes}
	values := uritemplate.Values{}
	for _, name := range t.url.Varnames() {
		raw, ok := args[name]
		if !ok {
			continue
		}
		v, err := uriValue(name, raw)
		if err != nil {
			return nil, err
		}
		if slices.Contains(t.path, name) && (len(v.V) == 0 || slices.Contains(v.V, "")) {
			return nil, action.Problems{{Path: pointer(name), Problem: "is empty: it stands in the URL's path, which would name something else without it"}}
		}
		values.Set(name, v)
	}
	var err error
	if d.URL, err = t.url.Expand(values); err != nil {
		return nil, action.Problems{{Problem: "the arguments do not make a URL: " + err.Error()}}
	}
	for _, h := range t.headers {
		value, ok, err := h.value.expand(args)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if p := action.CheckHeader(h.name, value); p != "" {
			return nil, action.Problems{{Path: pointer(h.value.uses()[0]), Problem: "stands in the header " + h.name + ", where " + p}}
		}
		d.Headers = append(d.Headers, action.Header{Name: h.name, Value: strings.TrimSpace(value)})
	}
	if t.json != nil {
		var body bytes.Buffer
		t.json.write(&body, args)
		d.Body, d.ContentType = body.Bytes(), "application/json"
	}
	return d, nil
}

func uriValue(name string, raw json.RawMessage) (uritemplate.Value, error) {
	if raw[0] != '[' {
		s, err := uriText(name, raw)
		return uritemplate.String(s), err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return uritemplate.Value{}, err
	}
	list := make([]string, len(items))
	for i, it := range items {
		s, err := uriText(name, it)
		if err != nil {
			return uritemplate.Value{}, err
		}
		list[i] = s
	}
	return uritemplate.List(list...), nil
}

// uriText is an argument as the expander takes it: each byte of its UTF-8 as one
// character, since the expander escapes characters by their number and RFC 6570
// (section 1.6) wants the bytes. It would drop a NUL, which is refused.
func uriText(name string, raw json.RawMessage) (string, error) {
	s, err := scalar(name, raw)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == 0 {
			return "", action.Problems{{Path: pointer(name), Problem: "holds a NUL byte, which no URL carries"}}
		}
		b.WriteRune(rune(s[i]))
	}
	return b.String(), nil
}
