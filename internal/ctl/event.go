package ctl

import (
	"time"

	"executor/approval"
	"executor/internal/action"
)

// event is an approval.Event on the wire. Foreign text is bytes.
type event struct {
	Kind    string  `json:"kind"`
	ID      string  `json:"id,omitempty"`
	Prompt  *prompt `json:"prompt,omitempty"`
	Why     []byte  `json:"why,omitempty"`
	Line    []byte  `json:"line,omitempty"`
	Dropped int     `json:"dropped,omitempty"`
}

type prompt struct {
	ID           string       `json:"id"`
	SessionID    string       `json:"session_id"`
	Tool         []byte       `json:"tool"`
	Level        action.Level `json:"level"`
	Digest       string       `json:"digest"`
	ActionDigest string       `json:"action_digest"`
	Scope        []byte       `json:"scope"`
	Sections     []section    `json:"sections"`
	Waiting      int          `json:"waiting"`
	Flooding     int          `json:"flooding"`
	LimitMS      int64        `json:"limit_ms"`
}

type section struct {
	Title  string  `json:"title"`
	Fields []field `json:"fields"`
}

type field struct {
	Label string `json:"label"`
	Text  []byte `json:"text"`
}

func toWire(e approval.Event) *event {
	w := &event{Kind: e.Kind, ID: e.ID, Why: []byte(e.Why), Line: []byte(e.Line), Dropped: e.Dropped}
	if e.Prompt == nil {
		return w
	}
	p := e.Prompt
	w.Prompt = &prompt{p.ID, p.SessionID, []byte(p.Tool), p.Level, p.Digest, p.ActionDigest, []byte(p.Scope),
		[]section{}, p.Waiting, p.Flooding, p.Limit.Milliseconds()}
	for _, s := range p.Sheet.Sections {
		ws := section{s.Title, []field{}}
		for _, f := range s.Fields {
			ws.Fields = append(ws.Fields, field{f.Label, []byte(f.Text)})
		}
		w.Prompt.Sections = append(w.Prompt.Sections, ws)
	}
	return w
}

func fromWire(w *event) approval.Event {
	e := approval.Event{Kind: w.Kind, ID: w.ID, Why: string(w.Why), Line: string(w.Line), Dropped: w.Dropped}
	if w.Prompt == nil {
		return e
	}
	p := w.Prompt
	e.Prompt = &approval.Prompt{ID: p.ID, SessionID: p.SessionID, Tool: string(p.Tool), Level: p.Level, Digest: p.Digest,
		ActionDigest: p.ActionDigest, Scope: string(p.Scope), Waiting: p.Waiting, Flooding: p.Flooding, Limit: time.Duration(p.LimitMS) * time.Millisecond}
	for _, ws := range p.Sections {
		s := approval.Section{Title: ws.Title}
		for _, f := range ws.Fields {
			s.Fields = append(s.Fields, approval.Field{Label: f.Label, Text: string(f.Text)})
		}
		e.Prompt.Sheet.Sections = append(e.Prompt.Sheet.Sections, s)
	}
	return e
}
