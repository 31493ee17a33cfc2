package action

import "time"

// HTTP is one HTTP request. Everything that is sent is here, except the
// credential's secret, Host (always the URL's), and the framing headers.
type HTTP struct {
	// Method is upper case.
	Method string
	// URL is the normalized URL, byte for byte as it is matched, shown, journaled and sent.
	URL string
	// Origin is the URL's scheme, host and, where it is not the default, port.
	Origin string
	// Headers are the final headers, sorted by name, each name once, in the canonical
	// spelling of net/http.
	Headers []Header
	Body    Blob
	// Credential is nil when nothing is injected.
	Credential *Credential
	// Binding is the target pattern of the credential that matched, or "".
	Binding   string
	Redirects Redirects
	TLS       TLS
	Address   Address
	Limits    Limits
	// Cookies: values of Set-Cookie are given to the caller instead of withheld.
	Cookies bool
}

// A Header is one header line.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Redirects says which redirects are followed: none when Max is 0; otherwise at
// most Max, for GET and HEAD, inside Within (a target pattern) and the origin.
type Redirects struct {
	Max    int    `json:"max"`
	Within string `json:"within,omitempty"`
}

// TLS is the TLS policy: TLS 1.2 and up always. CA is the digest of a private CA
// bundle that replaces the system's roots, ClientCert the digest of a client
// certificate. The zero value verifies the server against the system's roots.
type TLS struct {
	CA         string `json:"ca,omitempty"`
	ClientCert string `json:"client_cert,omitempty"`
	SkipVerify bool   `json:"skip_verify,omitempty"`
}

// Address says which addresses may be dialed. Private allows private and
// loopback addresses; Proxy is the proxy's URL, or "" for a direct connection.
type Address struct {
	Private bool   `json:"private"`
	Proxy   string `json:"proxy,omitempty"`
}

// Limits bound the time and the answer of an action.
type Limits struct {
	// Timeout covers the whole of it, from dial to the last byte.
	Timeout time.Duration `json:"-"`
	// MaxBytes is how much of the answer goes to the agent.
	MaxBytes int `json:"max_bytes"`
}

// Kind returns "http".
func (*HTTP) Kind() string { return "http" }

// Target returns the origin.
func (h *HTTP) Target() string { return h.Origin }

// Cred returns the bound credential, or nil.
func (h *HTTP) Cred() *Credential { return h.Credential }

func (*HTTP) sealed() {}

// MarshalJSON writes the form that the digest covers.
func (h *HTTP) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Address    Address     `json:"address"`
		Binding    string      `json:"binding"`
		Body       Blob        `json:"body"`
		Cookies    bool        `json:"cookies,omitempty"`
		Credential *Credential `json:"credential"`
		Format     int         `json:"format"`
		Headers    []Header    `json:"headers"`
		Kind       string      `json:"kind"`
		Limits     limits      `json:"limits"`
		Method     string      `json:"method"`
		Redirects  Redirects   `json:"redirects"`
		TLS        TLS         `json:"tls"`
		URL        string      `json:"url"`
	}{h.Address, h.Binding, h.Body, h.Cookies, h.Credential, Format, nonNil(h.Headers), h.Kind(),
		h.Limits.canonical(), h.Method, h.Redirects, h.TLS, h.URL})
}
