package executor

import (
	"executor/approval"
	"executor/internal/action"
)

// serverFields show how the server is known, where that is not the system's way,
// and what else the credential changes.
func serverFields(a *action.HTTP) []approval.Field {
	var f []approval.Field
	add := func(label, text string) { f = append(f, approval.Field{Label: label, Text: text}) }
	if a.TLS.SkipVerify {
		add("TLS", "the server's certificate is NOT verified: whoever answers gets the credential")
	}
	if a.TLS.CA != "" {
		add("TLS", "the server is verified by the credential's private CA alone, "+a.TLS.CA)
	}
	if a.TLS.ClientCert != "" {
		add("TLS", "client certificate "+a.TLS.ClientCert)
	}
	if a.Cookies {
		add("cookies", "values of Set-Cookie in the answer go to the agent")
	}
	return f
}
