package journal

import (
	"encoding/json"
	"time"
)

// An Activity is one tool call with all that became of it, as it is read back.
// Its JSON names are stable. An intent entry carries all of it but the outcome
// and what came from downstream; a refused entry carries all but Downstream.
type Activity struct {
	ActivityID       string          `json:"activity_id"`
	SessionID        string          `json:"session_id"`
	Seq              int64           `json:"seq"`
	Time             time.Time       `json:"time"`
	Tool             string          `json:"tool"`
	SchemaRevision   int             `json:"schema_revision"`
	DeclaredRevision int             `json:"declared_revision"`
	RevisionEvidence string          `json:"revision_evidence"`
	Adapter          string          `json:"adapter"`
	ContractDigest   string          `json:"contract_digest"`
	RawArgs          string          `json:"raw_args"`
	NormalizedArgs   json.RawMessage `json:"normalized_args"`
	ActionDigest     string          `json:"action_digest"`
	HandlerBuild     Build           `json:"handler_build"`
	Credential       *Credential     `json:"credential"`
	Decision         Decision        `json:"decision"`
	DownstreamTarget string          `json:"downstream_target"`
	Downstream       json.RawMessage `json:"downstream"`
	Outcome          Outcome         `json:"outcome"`
	// Redacted names the texts that were taken out of the record.
	Redacted []string `json:"redacted,omitempty"`
	// Count is how many like calls a refused entry stands for; else 0.
	Count int `json:"-"`
	// Settled is when the outcome was written, and SettledSeq its entry: nil and 0
	// for what is running and for what was refused, which is one entry.
	Settled    *time.Time `json:"-"`
	SettledSeq int64      `json:"-"`

	// KnownTool says that Tool is a name from the registry, so that it may
	// stand in the clear. The zero value keeps a name that an agent made up
	// in the redactable texts. Only Refuse asks: what runs is known.
	KnownTool bool `json:"-"`
}

// Build identifies the program that handled a call.
type Build struct {
	Version      string `json:"version"`
	VCSRevision  string `json:"vcs_revision"`
	VCSModified  bool   `json:"vcs_modified"`
	BinarySHA256 string `json:"binary_sha256"`
}

// Credential names the version of the credential that was bound.
type Credential struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// Results of a decision.
const (
	Allowed    = "allowed"
	Denied     = "denied"
	Expired    = "expired"
	NoApprover = "no_approver"
	Changed    = "changed"
)

// A Decision says who let a call run, or stopped it, and on what ground.
// Result is "" when a call was refused before a decision was due.
type Decision struct {
	Result string `json:"result"`
	Level  string `json:"level"`
	By     string `json:"by"`
	Basis  string `json:"basis"`
	// Reason is what the operator wrote beside a denial, or why nobody's answer counted.
	Reason         string `json:"reason"`
	ApprovalID     string `json:"approval_id"`
	ShownDigest    string `json:"shown_digest"`
	ApprovalDigest string `json:"approval_digest"`
}

// Statuses of an outcome. Running is what a reader sees of an intent whose
// outcome is not written yet; Unknown is what a start makes of an intent that a
// crash left without one.
const (
	Running   = "running"
	OK        = "ok"
	Error     = "error"
	Refused   = "refused"
	Cancelled = "cancelled"
	Timeout   = "timeout"
	Unknown   = "unknown"
)

// An Outcome says what became of an activity. HTTPStatus and ExitCode are nil
// where there was none.
type Outcome struct {
	Status            string `json:"status"`
	ErrorCode         string `json:"error_code"`
	SideEffectStarted bool   `json:"side_effect_started"`
	HTTPStatus        *int   `json:"http_status"`
	ExitCode          *int   `json:"exit_code"`
	Bytes             int64  `json:"bytes"`
	ResponseSHA256    string `json:"response_sha256"`
	Redactions        int    `json:"redactions"`
	DurationMS        int64  `json:"duration_ms"`
}

// A Session is one agent run, as it is read back.
type Session struct {
	SessionID   string           `json:"session_id"`
	Opened      time.Time        `json:"opened"`
	Closed      *time.Time       `json:"closed"`
	CloseReason string           `json:"close_reason"`
	Transport   string           `json:"transport"`
	SameUID     bool             `json:"same_uid"`
	Client      Client           `json:"client"`
	Peer        json.RawMessage  `json:"peer"`
	Grants      []Grant          `json:"grants"`
	Catalogs    []Catalog        `json:"catalogs"`
	Calls       map[string]int64 `json:"calls"`
}

// A Client is what the agent's software said of itself: a claim.
type Client struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
}

// A Grant is a yes that covers more than one call.
type Grant struct {
	ID      string     `json:"id"`
	Time    time.Time  `json:"time"`
	Scope   string     `json:"scope"`
	By      string     `json:"by"`
	Expires *time.Time `json:"expires"`
	Ended   *time.Time `json:"ended"`
	EndedBy string     `json:"ended_by"`
}

// A Catalog is one answer to tools/list: the digest of the whole and the
// revision of each tool that was served.
type Catalog struct {
	Time   time.Time      `json:"time"`
	Digest string         `json:"digest"`
	Tools  map[string]int `json:"tools"`
}

// A Change is something that the operator did: a vault generation, a publish, a
// lock, a redaction. Action is a word of this program such as
// "credential.add"; Detail is text that may hold names the operator chose.
type Change struct {
	Seq        int64           `json:"seq"`
	Time       time.Time       `json:"time"`
	Action     string          `json:"action"`
	By         string          `json:"by"`
	Detail     json.RawMessage `json:"detail"`
	Generation uint64          `json:"generation"`
	MAC        string          `json:"mac"`
}
