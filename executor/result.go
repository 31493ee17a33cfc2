package executor

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"executor/internal/action"
	"executor/internal/mask"
	"executor/journal"
)

// fields are the parts of a response, masked: result for the agent, facts for the
// journal.
type fields struct {
	result     map[string]any
	facts      map[string]any
	outcome    journal.Outcome
	redactions int
	weak       bool
	err        error
}

// fields masks the response. It is the one place where downstream text passes on.
func (w *work) fields() fields {
	f := fields{result: map[string]any{}, facts: map[string]any{}}
	m := &masker{work: w, fields: &f}
	if c := w.bound.action.Cred(); c != nil {
		m.inUse = c.Name
	}
	switch r := w.response.(type) {
	case *HTTPResponse:
		m.http(r)
	case *SSHResponse:
		m.ssh(r)
	case *FileResponse:
		m.file(r)
	case *TargetsResponse:
		f.result["hosts"], f.result["bindings"] = r.Hosts, r.Bindings
	}
	return f
}

// A masker takes the secrets out of one response, and counts them.
type masker struct {
	*work
	*fields
	inUse string
}

// bytes masks b. What was cut at a limit loses a secret's first half as well.
func (m *masker) bytes(b []byte, cut bool) []byte {
	if !cut && m.mask.Clean(b, m.inUse) {
		return b
	}
	var out bytes.Buffer
	filter := m.mask.Writer(&out, m.inUse)
	_, err := filter.Write(b)
	end := filter.Close
	if cut {
		end = filter.Cut
	}
	if err == nil {
		err = end()
	}
	m.note(filter.Report(), err)
	if err != nil {
		return nil
	}
	return out.Bytes()
}

func (m *masker) text(s string) string { return string(m.bytes([]byte(s), false)) }

func (m *masker) note(r mask.Report, err error) {
	m.redactions += r.Total()
	m.weak = m.weak || r.WeakSeen
	if err != nil {
		m.err = fmt.Errorf("mask: %w", err)
	}
}

func (m *masker) http(r *HTTPResponse) {
	if status := r.Status; status > 0 {
		m.outcome.HTTPStatus = &status
	}
	m.outcome.Bytes = r.Total
	headers := map[string]string{}
	for _, h := range r.Headers {
		name, value := m.text(h.Name), m.text(h.Value)
		if old, ok := headers[name]; ok {
			value = old + ", " + value
		}
		headers[name] = value
	}
	body := m.bytes(r.Body, r.Truncated)
	m.outcome.ResponseSHA256 = action.Sum(body)
	m.result["status"], m.result["headers"] = r.Status, headers
	m.result["content_type"], m.result["bytes"] = m.text(r.ContentType), r.Total
	m.result["truncated"], m.result["duration_ms"] = r.Truncated, r.Duration.Milliseconds()
	m.result["final_url"] = m.text(r.FinalURL)
	m.optional("redirect", r.Redirect)
	m.optional("note", r.Note)
	if isJSON(r.ContentType) && !r.Truncated && utf8.Valid(body) && json.Valid(body) {
		m.result["json"] = json.RawMessage(body)
	} else {
		m.output("body", body, r.Truncated)
	}
	m.keep(r.Facts)
}

func (m *masker) optional(name, value string) {
	if value != "" {
		m.result[name] = m.text(value)
		m.facts[name] = m.result[name]
	}
}

// output gives text as text and anything else as base64. What was cut in the
// middle of a character loses the rest of it.
func (m *masker) output(name string, b []byte, cut bool) {
	if cut {
		b = trimPartialRune(b)
	}
	if utf8.Valid(b) && !bytes.ContainsRune(b, 0) {
		m.result[name] = string(b)
		return
	}
	m.result[name+"_base64"] = base64.StdEncoding.EncodeToString(b)
}

func trimPartialRune(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// keep masks what the runner observed, for the journal.
func (m *masker) keep(facts map[string]any) {
	for k, v := range facts {
		raw, err := json.Marshal(v)
		if err != nil {
			m.err = err
			continue
		}
		m.facts[k] = json.RawMessage(m.bytes(raw, false))
	}
}

// downstream is what the journal records of the downstream.
func (w *work) downstream(f fields) json.RawMessage {
	if w.response == nil {
		return nil
	}
	raw, err := json.Marshal(f.facts)
	if err != nil {
		return nil
	}
	return raw
}

// succeed makes the reply: the result in the shape of the revision that the call
// was built on.
func (s *shaped) succeed(ctx context.Context, w *work, f fields) error {
	if _, isTargets := w.response.(*TargetsResponse); !isTargets {
		f.result["redactions"] = f.redactions
	}
	built := w.resolution.Contract
	result, err := built.Map(ctx, f.result)
	if err != nil {
		message := fmt.Sprintf("the answer does not fit what revision %d of %s promises", built.Revision, built.Tool)
		if f.outcome.HTTPStatus != nil {
			message += fmt.Sprintf("; the server answered with status %d", *f.outcome.HTTPStatus)
		}
		return &RunError{Code: ResultContract, Message: message, Detail: err}
	}
	result["schema_revision"], result["activity_id"] = w.record.SchemaRevision, w.record.ActivityID
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	s.reply = Reply{Structured: result, Text: string(text), Revision: built.Revision, Digest: built.Digest()}
	return nil
}

func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}
