package publish

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/target"
)

// canonical writes a draft as one text: everything of a contract that enters an
// action, with the URL normalized. An error means that the call would be refused.
func canonical(d contract.Draft) (string, error) {
	switch d := d.(type) {
	case *contract.HTTPDraft:
		return canonicalHTTP(d)
	case *contract.SSHDraft:
		return write(struct {
			Host    string          `json:"host"`
			Command string          `json:"command"`
			Argv    []string        `json:"argv"`
			Env     []action.EnvVar `json:"env,omitempty"`
			Stdin   string          `json:"stdin,omitempty"`
			Timeout time.Duration   `json:"timeout"`
			Max     int             `json:"max_bytes"`
		}{d.Host, d.Command, d.Argv, d.Env, text(d.Stdin), d.Timeout, d.MaxBytes})
	}
	return "", fmt.Errorf("no way to compare a draft of type %T", d)
}

func canonicalHTTP(d *contract.HTTPDraft) (string, error) {
	u, err := target.Parse(d.URL)
	if err != nil {
		return "", err
	}
	headers := slices.Clone(d.Headers)
	slices.SortStableFunc(headers, func(a, b action.Header) int { return strings.Compare(a.Name, b.Name) })
	return write(struct {
		Method      string          `json:"method"`
		URL         string          `json:"url"`
		Headers     []action.Header `json:"headers,omitempty"`
		Body        string          `json:"body,omitempty"`
		ContentType string          `json:"content_type,omitempty"`
		Credential  string          `json:"credential,omitempty"`
		Timeout     time.Duration   `json:"timeout"`
		Max         int             `json:"max_bytes"`
	}{d.Method, u.AddQuery(d.Query).String(), headers, text(d.Body), d.ContentType, d.Credential, d.Timeout, d.MaxBytes})
}

// text is bytes as a JSON string that is different for different bytes.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return "base64:" + base64.StdEncoding.EncodeToString(b)
}

func write(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// show is a canonical draft for people: without the limits, which no template sets.
func show(canonical string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(canonical), &m) != nil {
		return canonical
	}
	delete(m, "timeout")
	delete(m, "max_bytes")
	s, err := write(m)
	if err != nil {
		return canonical
	}
	return s
}
