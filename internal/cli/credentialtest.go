package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"executor/executor"
	"executor/internal/daemon"
	"executor/internal/policy"

	"github.com/spf13/cobra"
)

type credentialTestOptions struct {
	pass   passphraseFlags
	out    outputFlags
	url    string
	method string
}

func (a *app) credentialTest() *cobra.Command {
	o := &credentialTestOptions{}
	cmd := &cobra.Command{
		Use:   "test NAME --url URL",
		Short: "Try a credential against a harmless URL of yours",
		Long: `Send one GET (or HEAD) with the credential to a URL that you know to be
harmless, as an agent's call would be sent: the URL must be under one of its
targets. It is written to the journal. What is told is how the server answered,
not the body.

Exit code 1 when the server refused the credential (401, 403) or did not answer.`,
		Example: `  executor credential test ci --url https://ci.example.com/v1/me`,
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.url == "":
				return usagef("no URL: name one that is harmless to read with --url")
			case o.method != "GET" && o.method != "HEAD":
				return usagef("--method %s: GET or HEAD is due", o.method)
			}
			if err := o.out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &o.pass, func(h *daemon.Home) error {
				meta, err := credentialMeta(h.Vault, args[0])
				if err != nil {
					return err
				}
				got, err := daemon.TryCredential(cmd.Context(), h, args[0], o.method, o.url)
				if errors.Is(err, policy.ErrNotBound) {
					return fmt.Errorf("%w; it is for %s", err, strings.Join(meta.Targets, ", "))
				}
				if err != nil {
					return err
				}
				if err := a.showProbed(o.out, got); err != nil {
					return err
				}
				return probedFailure(got)
			})
		},
	}
	cmd.Flags().StringVar(&o.url, "url", "", "`URL` to read")
	cmd.Flags().StringVar(&o.method, "method", "GET", "`METHOD`: GET or HEAD")
	o.out.registerOne(cmd)
	o.pass.register(cmd)
	return cmd
}

func (a *app) showProbed(out outputFlags, p executor.Probed) error {
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, p)
	}
	status, echoed := strconv.Itoa(p.Status), ""
	if p.Status == 0 {
		status = "none"
	}
	if p.Echoed {
		echoed = "the answer held the credential; agents would see a mask, or nothing"
	}
	return writeFacts(a.Out, []fact{
		{"credential", fmt.Sprintf("%s version %d", p.Credential, p.Version)}, {"request", p.Request},
		{"status", status}, {"protocol", p.Protocol}, {"TLS", p.TLS}, {"final URL", p.FinalURL},
		{"bytes", strconv.FormatInt(p.Bytes, 10)}, {"took", strconv.FormatInt(p.DurationMS, 10) + " ms"},
		{"note", p.Note}, {"echo", echoed},
	})
}

// probedFailure says what was wrong with the answer, or nil.
func probedFailure(p executor.Probed) error {
	switch {
	case p.ErrorCode != "":
		return fmt.Errorf("%s: %s", p.ErrorCode, p.Message)
	case p.Status == 401 || p.Status == 403:
		return fmt.Errorf("the server refused the credential: it answered %d", p.Status)
	}
	return nil
}
