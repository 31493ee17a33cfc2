package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/policy"

	"github.com/spf13/cobra"
)

func (a *app) ruleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rule",
		Short: "Decide ahead of time which calls are asked about",
		Long: `A rule puts a level of approval, or deny, in the place of the default for the
calls that it names. It never goes below what a credential or host asks for; of
several rules that apply the strictest counts. See: executor help rules`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.ruleAdd(), a.ruleList(), a.ruleTest(), a.ruleRemove())
	return cmd
}

// ruleInfo is what is shown of a rule.
type ruleInfo struct {
	Name     string       `json:"name"`
	Version  int          `json:"version"`
	Approval action.Level `json:"approval"`
	Tool     string       `json:"tool,omitempty"`
	Host     string       `json:"host,omitempty"`
	Argv     string       `json:"argv,omitempty"`
	Env      []string     `json:"env,omitempty"`
	Stdin    bool         `json:"stdin,omitempty"`
	Methods  []string     `json:"methods,omitempty"`
	Target   string       `json:"target,omitempty"`
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires,omitzero"`
	MaxCalls int          `json:"max_calls,omitempty"`
	// Used is how many calls it let run unasked.
	Used  int    `json:"used"`
	Scope string `json:"scope"`
	// State is "holds", "expired" or "used up".
	State string `json:"state"`
}

// ruleInfos reads the rules, and from the journal how often each was used.
func ruleInfos(ctx context.Context, h *daemon.Home) ([]ruleInfo, error) {
	g, err := daemon.LoadPolicy(h.Vault)
	if err != nil {
		return nil, err
	}
	out := []ruleInfo{}
	for _, r := range g.Rules() {
		used, err := h.Journal.RanUnder(ctx, r.Title(), r.Created)
		if err != nil {
			return nil, err
		}
		info := ruleInfo{
			Name: r.Name, Version: r.Version, Approval: r.Approval, Tool: r.Tool, Host: r.Host, Argv: r.Argv, Env: r.Env,
			Stdin: r.Stdin, Methods: r.Methods, Target: r.Target, Created: r.Created, Expires: r.Expires,
			MaxCalls: r.MaxCalls, Used: used, Scope: r.Scope(), State: "holds",
		}
		switch {
		case !r.Expires.IsZero() && !time.Now().Before(r.Expires):
			info.State = "expired"
		case r.MaxCalls > 0 && used >= r.MaxCalls:
			info.State = "used up"
		}
		out = append(out, info)
	}
	return out, nil
}

func (a *app) ruleList() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List rules, and how often each was used", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				infos, err := ruleInfos(cmd.Context(), h)
				if err != nil {
					return err
				}
				return writeListing(a.Out, out, infos, []column[ruleInfo]{
					{"name", func(r ruleInfo) string { return r.Name }},
					{"approval", func(r ruleInfo) string { return r.Approval.String() }},
					{"state", func(r ruleInfo) string { return r.State }},
					{"used", func(r ruleInfo) string { return strconv.Itoa(r.Used) }},
					{"for", func(r ruleInfo) string { return r.Scope }},
				})
			})
		},
	}
	pass.register(cmd)
	out.register(cmd)
	return cmd
}

func (a *app) ruleRemove() *cobra.Command {
	var pass passphraseFlags
	var yes bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a rule", Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.removeItem(cmd.Context(), h, policy.KindRule, args[0], fmt.Sprintf("Remove rule %q?", args[0]), yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	pass.register(cmd)
	return cmd
}
