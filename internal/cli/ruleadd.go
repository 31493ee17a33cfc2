package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/vault"

	"github.com/spf13/cobra"
)

type ruleAddOptions struct {
	pass     passphraseFlags
	rule     policy.Rule
	approval string
	lasts    time.Duration
}

func (a *app) ruleAdd() *cobra.Command {
	o := &ruleAddOptions{}
	cmd := &cobra.Command{
		Use:   "add [NAME] --approval LEVEL",
		Short: "Add a rule",
		Long: `Add a rule for the calls of a tool, commands on a host, or requests to a target.
Without a NAME it gets one.

A command is compared word by word: it must be given as argv, or be a line of
plain words without operators, expansions or line breaks. A * alone stands for
one argument that does not begin with "-". At levels none and session, a call
that sets variables or has standard input needs --env or --stdin in the rule.
A target is matched by whole path segments.

Levels none and session widen what runs unasked: such a rule names its place,
and on a target the methods.`,
		Example: `  executor rule add --tool ssh_exec --host web-1 \
      --argv 'systemctl status *' --approval session
  executor rule add night --method GET --target https://api.example.com/v1/ \
      --approval none --for 8h --max-calls 200
  executor rule add --method DELETE --approval deny \
      --target https://api.example.com/`,
		Args: optionalName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.rule.Name = newRuleName(); len(args) > 0 {
				o.rule.Name = args[0]
			}
			if cmd.Flags().Changed("for") && o.lasts <= 0 {
				return usagef("--for %s: a time ahead is due", o.lasts)
			}
			if cmd.Flags().Changed("max-calls") && o.rule.MaxCalls <= 0 {
				return usagef("--max-calls %d: 1 or more is due", o.rule.MaxCalls)
			}
			return a.addRule(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.approval, "approval", "", "`LEVEL`: none, session, call, presence or deny")
	f.StringVar(&o.rule.Tool, "tool", "", "for calls of the tool `NAME` only")
	f.StringVar(&o.rule.Host, "host", "", "for commands on the host `NAME`")
	f.StringVar(&o.rule.Argv, "argv", "", "for this `COMMAND` only, such as 'systemctl status *'")
	f.StringSliceVar(&o.rule.Env, "env", nil, "the call may set the variable `NAME` (repeatable)")
	f.BoolVar(&o.rule.Stdin, "stdin", false, "the call may have standard input")
	f.StringSliceVar(&o.rule.Methods, "method", nil, "for requests with the `METHOD` (repeatable)")
	f.StringVar(&o.rule.Target, "target", "", "for requests under `PATTERN`, such as https://api.example.com/v1/")
	f.DurationVar(&o.lasts, "for", 0, "the rule ends after this `TIME`, such as 8h (default: it stays)")
	f.IntVar(&o.rule.MaxCalls, "max-calls", 0, "the rule ends when it let `N` calls run unasked")
	o.pass.register(cmd)
	return cmd
}

func optionalName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("at most one NAME is due; see: %s --help", cmd.CommandPath())
	}
	return nil
}

// newRuleName makes the name of a rule that was given none.
func newRuleName() string { return "r-" + strings.ToLower(rand.Text()[:6]) }

func (a *app) addRule(ctx context.Context, o *ruleAddOptions) (err error) {
	r := &o.rule
	if o.approval == "" {
		return usagef("no level: say with --approval which, of none, session, call, presence and deny")
	}
	if r.Approval, err = action.ParseLevel(o.approval); err != nil {
		return usagef("--approval %s: none, session, call, presence or deny is due", o.approval)
	}
	r.Created = time.Now().UTC().Truncate(time.Microsecond)
	if o.lasts > 0 {
		r.Expires = r.Created.Add(o.lasts).Truncate(time.Second)
	}
	if err := r.Check(); err != nil {
		return usagef("%v", err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return a.edit(ctx, &o.pass, func(h *daemon.Home) error {
		if err := checkRuleHost(h.Vault, r.Host); err != nil {
			return err
		}
		if err := checkRuleTool(h.Vault, r.Tool); err != nil {
			return err
		}
		err := h.Vault.Update(ctx, "rule add "+r.Name+", level "+r.Approval.String()+", "+r.Scope(), func(e *vault.Edit) (err error) {
			if _, err := e.Item(policy.KindRule, r.Name); err == nil {
				return fmt.Errorf("rule %q exists; remove it first with: executor rule remove %s", r.Name, r.Name)
			}
			r.Version, err = e.Put(vault.Item{Kind: policy.KindRule, Name: r.Name, Body: body})
			return err
		})
		if err != nil {
			return err
		}
		return a.print(fmt.Sprintf("%s, level %s: %s", r.Title(), r.Approval, r.Scope()))
	})
}

// checkRuleHost refuses a rule on a host that does not exist, which would mostly
// be a misspelt one.
func checkRuleHost(v *vault.Vault, name string) error {
	if name == "" {
		return nil
	}
	g, err := daemon.LoadPolicy(v)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(g.Hosts(), func(h *policy.Host) bool { return h.Name == name }) {
		return fmt.Errorf("no host is called %q; see: executor host list", name)
	}
	return nil
}

// checkRuleTool refuses a rule for a tool that never was. A retired one can come back.
func checkRuleTool(v *vault.Vault, name string) error {
	if name == "" {
		return nil
	}
	s, err := daemon.Contracts(v)
	if err != nil {
		return err
	}
	if _, ok := s.Tool(name); ok {
		return nil
	}
	var names []string
	for _, c := range s.Served() {
		names = append(names, c.Tool)
	}
	return fmt.Errorf("no tool is called %q; there are %s", name, strings.Join(names, ", "))
}
