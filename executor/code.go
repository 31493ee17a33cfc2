package executor

// A Code is the stable name of an error. Agents match on it.
type Code string

// The codes.
const (
	StaleToolSchema     Code = "STALE_TOOL_SCHEMA"
	InvalidArguments    Code = "INVALID_ARGUMENTS"
	ToolRemoved         Code = "TOOL_REMOVED"
	UnknownHost         Code = "UNKNOWN_HOST"
	TargetBlocked       Code = "TARGET_BLOCKED"
	CredentialNotBound  Code = "CREDENTIAL_NOT_BOUND"
	CredentialInArgs    Code = "CREDENTIAL_IN_ARGUMENTS"
	ApprovalDenied      Code = "APPROVAL_DENIED"
	ApprovalExpired     Code = "APPROVAL_EXPIRED"
	NoApprover          Code = "NO_APPROVER"
	ChangedSinceShown   Code = "CHANGED_SINCE_SHOWN"
	DeniedByRule        Code = "DENIED_BY_RULE"
	LimitExceeded       Code = "LIMIT_EXCEEDED"
	VaultLocked         Code = "VAULT_LOCKED"
	JournalUnavailable  Code = "JOURNAL_UNAVAILABLE"
	UpstreamUnreachable Code = "UPSTREAM_UNREACHABLE"
	UpstreamTimeout     Code = "UPSTREAM_TIMEOUT"
	HostKeyMismatch     Code = "HOST_KEY_MISMATCH"
	SSHAuthFailed       Code = "SSH_AUTH_FAILED"
	ResultContract      Code = "RESULT_CONTRACT"
	ResultWithheld      Code = "RESULT_WITHHELD"
	CallCancelled       Code = "CANCELLED"
	Draining            Code = "DRAINING"
	DoneNotRecorded     Code = "DONE_NOT_RECORDED"
	Internal            Code = "INTERNAL"
)

// What a caller may do about an error.
const (
	refreshTools   = "refresh_tools"
	fixArguments   = "fix_arguments"
	useReplacement = "use_replacement"
	askOperator    = "ask_operator"
	retryLater     = "retry_later"
	doNotRetry     = "do_not_retry"
)

var requiredActions = map[Code]string{
	StaleToolSchema:     refreshTools,
	InvalidArguments:    fixArguments,
	ToolRemoved:         useReplacement,
	UnknownHost:         fixArguments,
	TargetBlocked:       askOperator,
	CredentialNotBound:  fixArguments,
	CredentialInArgs:    fixArguments,
	ApprovalDenied:      doNotRetry,
	ApprovalExpired:     askOperator,
	NoApprover:          askOperator,
	ChangedSinceShown:   retryLater,
	DeniedByRule:        doNotRetry,
	LimitExceeded:       retryLater,
	VaultLocked:         askOperator,
	JournalUnavailable:  askOperator,
	UpstreamUnreachable: retryLater,
	UpstreamTimeout:     askOperator,
	HostKeyMismatch:     askOperator,
	SSHAuthFailed:       askOperator,
	ResultContract:      askOperator,
	ResultWithheld:      askOperator,
	CallCancelled:       doNotRetry,
	Draining:            retryLater,
	DoneNotRecorded:     askOperator,
	Internal:            askOperator,
}

// RequiredAction is what a caller may do about c. What is not known asks the operator.
func (c Code) RequiredAction() string {
	if a, ok := requiredActions[c]; ok {
		return a
	}
	return askOperator
}
