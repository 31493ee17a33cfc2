package action

// MarkerName is the environment variable that every command is offered, with its
// activity's id, so that the operator finds its processes on the host. Servers
// that take no such name are offered MarkerFallback, which OpenSSH as Debian and
// others ship it takes. The marker is shown and recorded, and is no part of the
// digest: it differs in every call, and one act has one digest.
const (
	MarkerName     = "EXECUTOR_ACTIVITY"
	MarkerFallback = "LC_EXECUTOR_ACTIVITY"
)

// SSH is one command on one host.
type SSH struct {
	// Host is the operator's name for the destination.
	Host string
	// Hops lead to it: jump hosts first, the destination last. Never empty.
	Hops []Hop
	// Command is the exact line that the remote shell gets. When the caller gave
	// argv, Argv holds it and Command is its POSIX quoting.
	Command string
	Argv    []string
	// Env is sent with the command, sorted by name.
	Env    []EnvVar
	Stdin  Blob
	Limits Limits
}

// A Hop is one SSH connection on the way.
type Hop struct {
	// Address is host:port as it is dialed.
	Address    string      `json:"address"`
	Credential *Credential `json:"credential"`
	// HostKeys are the pinned keys as known_hosts lines without the host field
	// ("ssh-ed25519 AAAA…", "@cert-authority ssh-ed25519 AAAA…"), sorted.
	HostKeys []string `json:"host_keys"`
	User     string   `json:"user"`
}

// An EnvVar is one environment variable of a remote command.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// QuotingPOSIX names the quoting of argv: single quotes for a POSIX shell.
const QuotingPOSIX = "posix"

// Kind returns "ssh".
func (*SSH) Kind() string { return "ssh" }

// Target returns "ssh://" and the host's name.
func (s *SSH) Target() string { return "ssh://" + s.Host }

// Cred returns the credential of the destination.
func (s *SSH) Cred() *Credential { return lastCred(s.Hops) }

// Route returns the hops.
func (s *SSH) Route() []Hop { return s.Hops }

func (*SSH) sealed() {}

// MarshalJSON writes the form that the digest covers. What happens at the time
// limit is part of it: the remote process is signalled, then the channel closed.
func (s *SSH) MarshalJSON() ([]byte, error) {
	quoting := ""
	if s.Argv != nil {
		quoting = QuotingPOSIX
	}
	return marshal(struct {
		Argv     []string `json:"argv"`
		AtExpiry string   `json:"at_expiry"`
		Command  string   `json:"command"`
		Env      []EnvVar `json:"env"`
		Format   int      `json:"format"`
		Hops     []Hop    `json:"hops"`
		Host     string   `json:"host"`
		Kind     string   `json:"kind"`
		Limits   limits   `json:"limits"`
		Quoting  string   `json:"quoting"`
		Stdin    Blob     `json:"stdin"`
	}{s.Argv, "signal, then close", s.Command, nonNil(s.Env), Format, nonNil(s.Hops), s.Host, s.Kind(),
		s.Limits.canonical(), quoting, s.Stdin})
}
