package ctl

import (
	"errors"

	"executor/approval"
)

// hello is the first line of a connection.
type hello struct {
	Op       string `json:"op"`
	Protocol int    `json:"protocol,omitempty"`
	Nonce    []byte `json:"nonce,omitempty"`
}

// welcome is the reply to it.
type welcome struct {
	OK     bool    `json:"ok"`
	Code   string  `json:"code,omitempty"`
	Error  string  `json:"error,omitempty"`
	Status *Status `json:"status,omitempty"`
	Nonce  []byte  `json:"nonce,omitempty"`
	Proof  []byte  `json:"proof,omitempty"`
}

// proof is the second line of a connection that proves itself.
type proof struct {
	Proof []byte `json:"proof"`
}

// Operations. The first three need no proof, the last three a seat.
const (
	opStatus = "status"
	opLock   = "lock"
	opReload = "reload"
	opProve  = "prove"
	opGrants = "grants"
	opRevoke = "revoke"
	opQueue  = "queue"
	opUnlock = "unlock"
	opAttach = "attach"
	opShown  = "shown"
	opAwake  = "awake"
	opAnswer = "answer"
)

// command is the body of a line to the daemon.
type command struct {
	Op     string           `json:"op"`
	ID     string           `json:"id,omitempty"`
	Name   string           `json:"name,omitempty"`
	Only   string           `json:"only,omitempty"`
	Sealed []byte           `json:"sealed,omitempty"`
	Answer *approval.Answer `json:"answer,omitempty"`
}

// message is the body of a line to a command: a reply to the line with that
// number, or an event.
type message struct {
	Reply  uint64             `json:"reply,omitempty"`
	Code   string             `json:"code,omitempty"`
	Error  string             `json:"error,omitempty"`
	Grants []approval.Grant   `json:"grants,omitempty"`
	Queue  *approval.Snapshot `json:"queue,omitempty"`
	Event  *event             `json:"event,omitempty"`
}

// codes names the errors that must be told apart at the other end.
var codes = []struct {
	code string
	err  error
}{
	{"gone", approval.ErrGone},
	{"caller_gone", approval.ErrCallerGone},
	{"not_shown", approval.ErrNotShown},
	{"mismatch", approval.ErrMismatch},
	{"presence", approval.ErrPresence},
	{"verdict", approval.ErrVerdict},
	{"left", approval.ErrLeft},
	{"no_grant", approval.ErrNoGrant},
	{"changed", approval.ErrChanged},
	{"not_recorded", approval.ErrNotRecorded},
	{"locked", ErrLocked},
}

const codeFailed = "failed"

// coded is err as it is sent.
func coded(err error) (code, text string) {
	if err == nil {
		return "", ""
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code, err.Error()
		}
	}
	return codeFailed, err.Error()
}

// remote is an error as it arrived: the daemon's text, and what it is.
type remote struct {
	text string
	is   error
}

func (r *remote) Error() string { return r.text }
func (r *remote) Unwrap() error { return r.is }

func decoded(code, text string) error {
	if code == "" {
		return nil
	}
	for _, c := range codes {
		if c.code == code {
			return &remote{text, c.err}
		}
	}
	return &remote{text, nil}
}
