package journal

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxRefusedArgs is how much of the arguments of a refused call is kept.
const maxRefusedArgs = 64 << 10

// An entry is on its way into the log: seq, time and hashes are still open.
type entry struct {
	body  body
	texts texts
	needs room
}

// room is how much of the disk reserve must be free for an entry.
type room int

const (
	roomWhole room = iota // the zero value is the strictest
	roomHalf
	roomNone
)

func callEntry(kind string, a Activity) (*entry, error) {
	if a.ActivityID == "" || a.SessionID == "" || a.Tool == "" {
		return nil, fmt.Errorf("%s entry: %w: activity, session or tool is missing", kind, ErrInvalid)
	}
	if err := validJSON(a.NormalizedArgs); err != nil {
		return nil, fmt.Errorf("%s entry: normalized_args: %w", kind, err)
	}
	e := &entry{texts: make(texts, 0, 12), body: body{Kind: kind, ActivityID: a.ActivityID, SessionID: a.SessionID, Call: &callBody{
		SchemaRevision:   a.SchemaRevision,
		DeclaredRevision: a.DeclaredRevision,
		RevisionEvidence: a.RevisionEvidence,
		Adapter:          a.Adapter,
		ContractDigest:   a.ContractDigest,
		HandlerBuild: buildBody{BinarySHA256: a.HandlerBuild.BinarySHA256, VCSModified: a.HandlerBuild.VCSModified,
			VCSRevision: a.HandlerBuild.VCSRevision, Version: a.HandlerBuild.Version},
		Result:     a.Decision.Result,
		Level:      a.Decision.Level,
		ApprovalID: a.Decision.ApprovalID,
	}}}
	if kind == kindIntent || a.KnownTool {
		e.body.Call.Tool = a.Tool
	} else {
		e.texts.add(fieldTool, a.Tool)
	}
	if a.Credential != nil {
		version := a.Credential.Version
		e.body.Call.CredentialVersion = &version
		e.texts.add(fieldCredential, a.Credential.Name)
	}
	e.texts.add(fieldRawArgs, a.RawArgs)
	e.texts.add(fieldNormalizedArgs, jsonText(a.NormalizedArgs))
	e.texts.add(fieldActionDigest, a.ActionDigest)
	e.texts.add(fieldShownDigest, a.Decision.ShownDigest)
	e.texts.add(fieldApprovalDigest, a.Decision.ApprovalDigest)
	e.texts.add(fieldBy, a.Decision.By)
	e.texts.add(fieldBasis, a.Decision.Basis)
	e.texts.add(fieldReason, a.Decision.Reason)
	e.texts.add(fieldTarget, a.DownstreamTarget)
	return e, nil
}

// addOutcome gives e the outcome o and what came from downstream.
func (e *entry) addOutcome(o Outcome, downstream json.RawMessage, source string) error {
	if err := validJSON(downstream); err != nil {
		return fmt.Errorf("downstream: %w", err)
	}
	if o.Bytes < 0 || o.Bytes > maxInt || o.DurationMS < 0 || o.DurationMS > maxInt {
		return fmt.Errorf("outcome: %w: a number is out of range", ErrInvalid)
	}
	e.body.Outcome = &outcomeBody{
		Status:            o.Status,
		ErrorCode:         o.ErrorCode,
		SideEffectStarted: o.SideEffectStarted,
		HTTPStatus:        o.HTTPStatus,
		ExitCode:          o.ExitCode,
		Bytes:             o.Bytes,
		Redactions:        o.Redactions,
		DurationMS:        o.DurationMS,
		Source:            source,
	}
	e.texts.add(fieldResponse, o.ResponseSHA256)
	e.texts.add(fieldDownstream, jsonText(downstream))
	return nil
}

// refusedArgs cuts what a refused call brought, so that floods stay small. The
// cut is made between characters, and says what was there.
func refusedArgs(raw string) string {
	if len(raw) <= maxRefusedArgs {
		return raw
	}
	end := maxRefusedArgs
	for end > maxRefusedArgs-utf8.UTFMax && !utf8.RuneStart(raw[end]) {
		end--
	}
	return fmt.Sprintf("%s… [cut: %d bytes in all, sha256:%x]", raw[:end], len(raw), sha256.Sum256([]byte(raw)))
}

// seal salts the texts and commits the body to them: all the work that need not
// wait for the entry's place in the log.
func (e *entry) seal(rand io.Reader) error {
	if err := e.texts.salt(rand); err != nil {
		return err
	}
	slices.SortFunc(e.texts, func(a, b text) int { return strings.Compare(a.field, b.field) })
	e.body.Texts = e.texts.commitment()
	return nil
}

// at completes the entry for its place in the log.
func (e *entry) at(seq int64, t time.Time) ([]byte, error) {
	e.body.Seq = seq
	e.body.Time = t.Format(timeForm)
	return e.body.encode()
}

func jsonText(m json.RawMessage) string {
	if string(m) == "null" {
		return ""
	}
	return string(m)
}

func validJSON(m json.RawMessage) error {
	if len(m) > 0 && !json.Valid(m) {
		return fmt.Errorf("%w: not JSON", ErrInvalid)
	}
	return nil
}
