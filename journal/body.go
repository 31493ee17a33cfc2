package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"executor/internal/strictjson"
)

// Kinds of entries.
const (
	kindOpen       = "session.open"
	kindClose      = "session.close"
	kindCatalog    = "session.catalog"
	kindGrant      = "session.grant"
	kindGrantEnd   = "session.grant_end"
	kindIntent     = "intent"
	kindOutcome    = "outcome"
	kindRefused    = "refused"
	kindChange     = "change"
	kindGeneration = "vault.generation"
	kindRedaction  = "redaction"
)

// timeForm is how a body spells its time: RFC 3339, UTC, microseconds.
const timeForm = "2006-01-02T15:04:05.000000Z"

// maxInt is the largest number that JSON (RFC 8785) carries exactly.
const maxInt = 1<<53 - 1

// A body is what an entry says, in the clear. Its canonical JSON (RFC 8785) is
// stored and is the leaf of the tree. The fields of this and the structs below
// stand in the order of their names, see encode.
type body struct {
	ActivityID string         `json:"activity_id,omitempty"`
	Call       *callBody      `json:"call,omitempty"`
	Catalog    *catalogBody   `json:"catalog,omitempty"`
	Change     *changeBody    `json:"change,omitempty"`
	Grant      *grantBody     `json:"grant,omitempty"`
	Kind       string         `json:"kind"`
	Of         int64          `json:"of,omitempty"`
	Outcome    *outcomeBody   `json:"outcome,omitempty"`
	Redaction  *redactionBody `json:"redaction,omitempty"`
	Seq        int64          `json:"seq"`
	Session    *sessionBody   `json:"session,omitempty"`
	SessionID  string         `json:"session_id,omitempty"`
	Texts      string         `json:"texts,omitempty"`
	Time       string         `json:"time"`
}

// callBody is the part of an intent or a refused entry that is not text.
type callBody struct {
	Adapter           string    `json:"adapter"`
	ApprovalID        string    `json:"approval_id"`
	ContractDigest    string    `json:"contract_digest"`
	Count             int       `json:"count,omitempty"`
	CredentialVersion *int      `json:"credential_version,omitempty"`
	DeclaredRevision  int       `json:"declared_revision"`
	HandlerBuild      buildBody `json:"handler_build"`
	Level             string    `json:"level"`
	Result            string    `json:"result"`
	RevisionEvidence  string    `json:"revision_evidence"`
	SchemaRevision    int       `json:"schema_revision"`
	Tool              string    `json:"tool,omitempty"`
}

// buildBody is Build in the order that encode needs.
type buildBody struct {
	BinarySHA256 string `json:"binary_sha256"`
	VCSModified  bool   `json:"vcs_modified"`
	VCSRevision  string `json:"vcs_revision"`
	Version      string `json:"version"`
}

type outcomeBody struct {
	Bytes             int64  `json:"bytes"`
	DurationMS        int64  `json:"duration_ms"`
	ErrorCode         string `json:"error_code"`
	ExitCode          *int   `json:"exit_code"`
	HTTPStatus        *int   `json:"http_status"`
	Redactions        int    `json:"redactions"`
	SideEffectStarted bool   `json:"side_effect_started"`
	Source            string `json:"source,omitempty"`
	Status            string `json:"status"`
}

type sessionBody struct {
	SameUID   bool   `json:"same_uid"`
	Transport string `json:"transport"`
}

type grantBody struct {
	Expires string `json:"expires,omitempty"`
	ID      string `json:"id"`
}

type catalogBody struct {
	Digest string         `json:"digest"`
	Tools  map[string]int `json:"tools"`
}

type changeBody struct {
	Action     string `json:"action,omitempty"`
	Generation uint64 `json:"generation,omitempty"`
	MAC        string `json:"mac,omitempty"`
}

// redactionBody names the texts that were taken out of an earlier entry.
type redactionBody struct {
	Fields []string `json:"fields"`
	Seq    int64    `json:"seq"`
}

// encode returns the bytes that are stored.
func (b *body) encode() ([]byte, error) {
	raw, err := strictjson.Canonical(b)
	if err != nil {
		return nil, fmt.Errorf("%w: encoding an entry: %v", ErrInvalid, err)
	}
	return raw, nil
}

// readBody reads stored bytes for a view, which proves nothing.
func readBody(raw []byte) (*body, time.Time, error) {
	b := &body{}
	if err := json.Unmarshal(raw, b); err != nil {
		return nil, time.Time{}, fmt.Errorf("%w: body: %v", ErrTampered, err)
	}
	t, err := time.Parse(timeForm, b.Time)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%w: body: time: %v", ErrTampered, err)
	}
	return b, t, nil
}

// decodeBody reads stored bytes and refuses any that this program would not
// have written: unknown, duplicate or case-variant names, another order.
func decodeBody(raw []byte) (*body, time.Time, error) {
	b, t, err := readBody(raw)
	if err != nil {
		return nil, time.Time{}, err
	}
	again, err := b.encode()
	if err != nil || !bytes.Equal(again, raw) {
		return nil, time.Time{}, fmt.Errorf("%w: body is not in canonical form", ErrTampered)
	}
	return b, t, nil
}
