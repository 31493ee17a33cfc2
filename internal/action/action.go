// Package action holds the concrete, normalized thing that is done for an agent.
//
// An action is what the operator sees, what the journal records and what a
// runner executes: one value, made once by the pipeline, never re-parsed. The
// kinds are sealed: HTTP, SSH, File and Targets. What is not in an action cannot
// take part in its execution, except the credential's secret, which is added
// at the slot that the action names.
//
// # Canonical form and digest
//
// The canonical form is the JSON of the action under RFC 8785 (JCS). Bodies and
// standard input take part by length and SHA-256. The digest is the SHA-256 of
// that form, written "sha256:" and 64 hex digits. For
//
//	GET https://api.example.com/v1/me with the bearer credential "api", version 3
//
// the canonical form begins
//
//	{"address":{"private":false},"binding":"https://api.example.com/v1/",…,"format":1,"kind":"http",…
//
// Two calls that spell the same act differently have one digest; a change of any
// byte that leaves the machine, or of what it may meet there, changes it.
package action

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"executor/internal/strictjson"
)

// Format is the version of the canonical form.
const Format = 1

// An Action is one of *HTTP, *SSH, *File and *Targets.
type Action interface {
	// Kind is "http", "ssh", "sftp" or "targets".
	Kind() string
	// Target names where the action goes: an origin such as
	// "https://api.example.com", "ssh://web-1", or "executor" for the program itself.
	Target() string
	// Cred is the credential that is bound, or nil.
	Cred() *Credential
	sealed()
}

// The fields of everything that is encoded here stand in the order of their JSON
// names, as strictjson.Canonical asks.

// A Credential names exactly one version of a vault credential and the place
// where its secret is put. It holds no secret.
type Credential struct {
	Name string `json:"name"`
	// Slot is where the secret goes: "header Authorization", "query api_key",
	// "ssh authentication".
	Slot string `json:"slot"`
	// Token is set where a token is fetched with the secret, and sent in its place.
	Token   *Token `json:"token,omitempty"`
	Type    string `json:"type"`
	Version int    `json:"version"`
}

// A Token says where a credential's token comes from.
type Token struct {
	// Resend: a 401 renews the token and sends the request once more. Only for reads,
	// where one approval covers more than one request anyway.
	Resend bool `json:"resend,omitempty"`
	// URL is the normalized URL of the authorization server's token endpoint.
	URL string `json:"url"`
}

// Canonical returns the action's canonical JSON (RFC 8785).
func Canonical(a Action) ([]byte, error) {
	out, err := strictjson.Canonical(a)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return out, nil
}

// Digest returns the SHA-256 of the canonical form, as "sha256:" and hex.
func Digest(a Action) (string, error) {
	c, err := Canonical(a)
	if err != nil {
		return "", err
	}
	return Sum(c), nil
}

// Sum returns "sha256:" and the hex SHA-256 of b, the one spelling of a digest in this program.
func Sum(b []byte) string {
	h := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(h[:])
}

// A Blob is a body or standard input: it takes part in the canonical form by
// length and hash, and carries the bytes to the runner and the screen.
type Blob struct {
	Bytes []byte
}

// MarshalJSON writes {"length":N,"sha256":"…"}.
func (b Blob) MarshalJSON() ([]byte, error) {
	h := sha256.Sum256(b.Bytes)
	return json.Marshal(struct {
		Length int    `json:"length"`
		SHA256 string `json:"sha256"`
	}{len(b.Bytes), hex.EncodeToString(h[:])})
}
