package cli

import (
	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/vault"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// credentialInfo is what is shown of a credential.
type credentialInfo struct {
	Name     string       `json:"name"`
	Type     string       `json:"type"`
	Version  int          `json:"version"`
	Versions []int        `json:"versions"`
	Targets  []string     `json:"targets"`
	Approval action.Level `json:"approval"`
	Slot     string       `json:"slot"`
	Username string       `json:"username,omitempty"`
	Format   string       `json:"format,omitempty"`
	Created  time.Time    `json:"created"`
	Restored int          `json:"restored_from,omitempty"`
	Hosts    []string     `json:"hosts"`

	TokenURL          string   `json:"token_url,omitempty"`
	ClientID          string   `json:"client_id,omitempty"`
	Scopes            []string `json:"scopes,omitempty"`
	ClientCertificate string   `json:"client_certificate,omitempty"`
	CA                string   `json:"ca,omitempty"`
	SkipVerify        bool     `json:"skip_verify,omitempty"`
	AllowSetCookie    bool     `json:"allow_set_cookie,omitempty"`
	IdempotencyHeader string   `json:"idempotency_header,omitempty"`
	// Certificate is set where an SSH key has one.
	Certificate *certificateInfo `json:"certificate,omitempty"`
}

// server are the facts of how the credential's servers are met.
func (c credentialInfo) server() []fact {
	facts := []fact{
		{"token from", c.TokenURL}, {"client id", c.ClientID}, {"scopes", strings.Join(c.Scopes, " ")},
		{"client certificate", c.ClientCertificate}, {"private CA", c.CA}, {"idempotency header", c.IdempotencyHeader},
	}
	if c.SkipVerify {
		facts = append(facts, fact{"TLS", "the server's certificate is NOT verified"})
	}
	if c.AllowSetCookie {
		facts = append(facts, fact{"Set-Cookie", "values go to agents"})
	}
	return facts
}

func credentialInfos(v *vault.Vault) ([]credentialInfo, error) {
	g, err := daemon.LoadPolicy(v)
	if err != nil {
		return nil, err
	}
	out := []credentialInfo{}
	for _, c := range g.Credentials() {
		info := credentialInfo{
			Name: c.Name, Type: c.Type, Version: c.Version, Targets: c.Targets, Approval: c.Approval, Slot: c.Slot(),
			Username: c.Username, Format: c.Format, Created: c.Created, Restored: c.RestoredFrom, Hosts: []string{},
			Certificate: describeCertificate(c.Certificate, time.Now()),
		}
		info.TokenURL, info.ClientID, info.Scopes = c.TokenURL, c.ClientID, c.Scopes
		info.ClientCertificate, info.CA, info.SkipVerify = c.TLS().ClientCert, c.TLS().CA, c.SkipVerify
		info.AllowSetCookie, info.IdempotencyHeader = c.AllowSetCookie, c.IdempotencyHeader
		for _, it := range v.Versions(policy.KindCredential, c.Name) {
			info.Versions = append(info.Versions, it.Version)
		}
		for _, h := range g.Hosts() {
			if h.Credential == c.Name {
				info.Hosts = append(info.Hosts, h.Name)
			}
		}
		out = append(out, info)
	}
	return out, nil
}

func (a *app) credentialList() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List credentials, never their secrets", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				infos, err := credentialInfos(h.Vault)
				if err != nil {
					return err
				}
				return writeListing(a.Out, out, infos, []column[credentialInfo]{
					{"name", func(c credentialInfo) string { return c.Name }},
					{"type", func(c credentialInfo) string { return c.Type }},
					{"version", func(c credentialInfo) string { return strconv.Itoa(c.Version) }},
					{"approval", func(c credentialInfo) string { return c.Approval.String() }},
					{"targets", func(c credentialInfo) string { return strings.Join(c.Targets, " ") }},
				})
			})
		},
	}
	pass.register(cmd)
	out.register(cmd)
	return cmd
}

func (a *app) credentialShow() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show one credential, never its secret", Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				infos, err := credentialInfos(h.Vault)
				if err != nil {
					return err
				}
				for _, c := range infos {
					if c.Name == args[0] {
						return showCredential(a.Out, out, c)
					}
				}
				return fmt.Errorf("no credential is called %q", args[0])
			})
		},
	}
	pass.register(cmd)
	out.registerOne(cmd)
	return cmd
}

func showCredential(w io.Writer, out outputFlags, c credentialInfo) error {
	if out.format != "table" || out.jq != "" {
		return writeOne(w, out, c)
	}
	versions := []string{}
	for _, v := range c.Versions {
		versions = append(versions, strconv.Itoa(v))
	}
	return writeFacts(w, append([]fact{
		{"name", c.Name}, {"type", c.Type}, {"version", strconv.Itoa(c.Version)},
		{"kept versions", strings.Join(versions, ", ")}, {"goes into", c.Slot},
		{"username", c.Username}, {"format", c.Format}, {"certificate", c.Certificate.text()},
		{"approval", c.Approval.String()}, {"targets", strings.Join(c.Targets, "\n")},
		{"hosts", strings.Join(c.Hosts, ", ")}, {"created", c.Created.Format(time.RFC3339)},
		{"secret", "not shown"},
	}, c.server()...))
}
