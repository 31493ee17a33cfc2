package executor

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/peer"
	"executor/journal"
)

// sheet is the page that the operator reads: the action itself, all of it.
func (w *work) sheet(ctx context.Context) (approval.Sheet, error) {
	history, err := w.history(ctx)
	if err != nil {
		return approval.Sheet{}, err
	}
	s := approval.Sheet{Sections: []approval.Section{
		{Title: "Action", Fields: append(actionFields(w.bound.action), w.markerFields()...)},
		{Title: "Contract", Fields: []approval.Field{
			{Label: "tool", Text: w.contractText()},
			{Label: "earlier runs", Text: history},
		}},
		{Title: "Asked by", Fields: w.session.fields()},
	}}
	if w.bound.rule != nil {
		contract := &s.Sections[1]
		contract.Fields = append(contract.Fields, approval.Field{Label: "rule", Text: w.bound.rule.Text()})
	}
	if w.scope() != "" {
		s.Sections = append(s.Sections, approval.Section{Title: "A yes covers, until this session ends", Fields: []approval.Field{
			{Label: w.call.Tool, Text: w.scope()},
		}})
	}
	return s, nil
}

// contractText names the revision that runs, and what an adapter changed.
func (w *work) contractText() string {
	r := w.resolution
	text := fmt.Sprintf("%s, revision %d", w.call.Tool, r.Current.Revision)
	if r.Adapter != "" {
		text += fmt.Sprintf("; built on revision %d and adapted (%s)", r.Contract.Revision, r.Adapter)
	}
	return text
}

func actionFields(a action.Action) []approval.Field {
	switch a := a.(type) {
	case *action.HTTP:
		return httpFields(a)
	case *action.SSH:
		return sshFields(a)
	case *action.File:
		return fileFields(a)
	}
	return []approval.Field{{Label: "kind", Text: a.Kind()}}
}

func httpFields(a *action.HTTP) []approval.Field {
	f := []approval.Field{
		{Label: "request", Text: a.Method + " " + a.URL},
		{Label: "host", Text: a.Origin},
		{Label: "credential", Text: credentialText(a.Credential)},
	}
	for _, h := range a.Headers {
		f = append(f, approval.Field{Label: "header", Text: h.Name + ": " + h.Value})
	}
	f = append(f, blobFields("body", a.Body)...)
	limits := fmt.Sprintf("%s, answer up to %d bytes", a.Limits.Timeout, a.Limits.MaxBytes)
	if a.Redirects.Max > 0 {
		limits += fmt.Sprintf(", up to %d redirects inside %s", a.Redirects.Max, a.Redirects.Within)
	}
	f = append(f, serverFields(a)...)
	return append(f, approval.Field{Label: "limits", Text: limits})
}

func credentialText(c *action.Credential) string {
	if c == nil {
		return "none: no binding covers this target"
	}
	text := fmt.Sprintf("%s version %d (%s, in %s)", c.Name, c.Version, c.Type, c.Slot)
	if c.Token != nil {
		text += "; its token is fetched from " + c.Token.URL
		if c.Token.Resend {
			text += ", once more after a 401, and the read is then sent again once"
		}
	}
	return text
}

// blobFields shows all of a body: as text where it is text, as base64 otherwise.
func blobFields(label string, b action.Blob) []approval.Field {
	if len(b.Bytes) == 0 {
		return nil
	}
	f := []approval.Field{{Label: label, Text: fmt.Sprintf("%d bytes, %s", len(b.Bytes), action.Sum(b.Bytes))}}
	if utf8.Valid(b.Bytes) {
		return append(f, approval.Field{Label: label + " text", Text: string(b.Bytes)})
	}
	return append(f, approval.Field{Label: label + " in base64", Text: base64.StdEncoding.EncodeToString(b.Bytes)})
}

// history says how this very action fared before.
func (w *work) history(ctx context.Context) (string, error) {
	runs, err := w.cfg.Journal.RanBefore(ctx, w.digest)
	switch {
	case err != nil:
		return "", &Refusal{Code: JournalUnavailable, Message: "journal unavailable, action not run: it cannot be asked for earlier runs", Cause: err}
	case runs.Count == 0:
		return "none of this very action", nil
	}
	text := fmt.Sprintf("%d of this very action, last %s, which ended as %s", runs.Count, runs.LastTime.Format(time.RFC3339), runs.LastStatus)
	if runs.LastStatus == journal.Unknown {
		text += ": executor was stopped meanwhile, and it may have had its effect"
	}
	if w.level != w.bound.level {
		text += ". You are asked for that reason"
	}
	return text, nil
}

// fields show who asks: what the kernel saw, and what the agent claims.
func (s *Session) fields() []approval.Field {
	f := []approval.Field{
		{Label: "claims to be", Text: strings.TrimSpace(s.info.Client.Name + " " + s.info.Client.Version)},
		{Label: "observed", Text: chainText(s.info.Peer)},
		{Label: "session", Text: s.id},
	}
	if s.info.SameUID {
		f = append(f, approval.Field{Label: "note", Text: "runs under your own user id, so it is trusted no less than you are"})
	}
	return f
}

func chainText(p peer.Peer) string {
	names := []string{}
	for _, one := range p.Chain {
		names = append(names, fmt.Sprintf("%s[%d]", one.Name, one.PID))
	}
	if len(names) == 0 {
		return fmt.Sprintf("uid %d, pid %d", p.UID, p.PID)
	}
	return fmt.Sprintf("uid %d: %s", p.UID, strings.Join(names, " < "))
}
