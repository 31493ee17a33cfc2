package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/policy"

	"github.com/spf13/cobra"
)

// maxExample bounds the arguments that rule test reads.
const maxExample = 16 << 20

type ruleTestOptions struct {
	pass passphraseFlags
	out  outputFlags
	args string
}

func (a *app) ruleTest() *cobra.Command {
	o := &ruleTestOptions{}
	cmd := &cobra.Command{
		Use:   "test TOOL --args JSON",
		Short: "Say which rule an example call would meet, and why",
		Long: `Judge an example call as serve would: which action it is, which level is due,
which rule decides that, and why each other rule does not apply. Nothing runs,
nobody is asked, and no rule's calls are used up.`,
		Example: `  executor rule test ssh_exec \
      --args '{"host":"web-1","command":"systemctl status nginx"}'`,
		Args: func(cmd *cobra.Command, args []string) error { return oneArg(cmd, args, "TOOL") },
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.out.check(); err != nil {
				return err
			}
			return a.testRule(cmd.Context(), args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.args, "args", "{}", "the call's arguments as `JSON`, or - to read them from standard input")
	o.pass.register(cmd)
	o.out.registerOne(cmd)
	return cmd
}

// ruleVerdict is how an example call would be judged.
type ruleVerdict struct {
	Tool    string          `json:"tool"`
	Target  string          `json:"target"`
	Action  json.RawMessage `json:"action"`
	Level   action.Level    `json:"level"`
	Rule    string          `json:"rule"`
	Default action.Level    `json:"default"`
	Floor   action.Level    `json:"floor"`
	Because string          `json:"because"`
	Covers  string          `json:"covers,omitempty"`
	Rules   []ruleFinding   `json:"rules"`
}

// ruleFinding is what one rule has to do with it.
type ruleFinding struct {
	Name     string       `json:"name"`
	Approval action.Level `json:"approval"`
	Applies  bool         `json:"applies"`
	Why      string       `json:"why"`
}

func (a *app) testRule(ctx context.Context, tool string, o *ruleTestOptions) error {
	args := []byte(o.args)
	if o.args == "-" {
		var err error
		if args, err = io.ReadAll(io.LimitReader(a.In, maxExample)); err != nil {
			return err
		}
	}
	return a.read(ctx, &o.pass, func(h *daemon.Home) error {
		p, err := foresee(ctx, h, tool, args)
		var r *executor.Refusal
		if errors.As(err, &r) {
			return fmt.Errorf("the call would be refused before any rule is asked: %w", err)
		}
		if err != nil {
			return err
		}
		v, err := newVerdict(tool, p)
		if err != nil {
			return err
		}
		return a.showVerdict(o.out, v)
	})
}

// foresee judges a call by the vault as it is now.
func foresee(ctx context.Context, h *daemon.Home, tool string, args json.RawMessage) (executor.Preview, error) {
	g, err := daemon.LoadPolicy(h.Vault)
	if err != nil {
		return executor.Preview{}, err
	}
	tools, err := daemon.Contracts(h.Vault)
	if err != nil {
		return executor.Preview{}, err
	}
	used := map[policy.Ref]int{}
	for _, r := range g.Rules() {
		if used[r.Ref()], err = h.Journal.RanUnder(ctx, r.Title(), r.Created); err != nil {
			return executor.Preview{}, err
		}
	}
	p, err := executor.Foresee(g, tools, tool, args, time.Now(), func(r *policy.Rule) int { return used[r.Ref()] })
	if errors.Is(err, contract.ErrUnknownTool) {
		err = fmt.Errorf("%w: %q", err, tool)
	}
	return p, err
}

func newVerdict(tool string, p executor.Preview) (ruleVerdict, error) {
	canonical, err := action.Canonical(p.Action)
	if err != nil {
		return ruleVerdict{}, err
	}
	v := ruleVerdict{
		Tool: tool, Target: p.Action.Target(), Action: canonical, Level: p.Level, Default: p.Default, Floor: p.Floor,
		Because: because(p), Covers: p.Covers, Rules: []ruleFinding{},
	}
	if p.Ruling.Rule != nil {
		v.Rule = p.Ruling.Rule.Name
	}
	for _, f := range p.Ruling.Findings {
		v.Rules = append(v.Rules, ruleFinding{f.Rule.Name, f.Rule.Approval, f.Applies, f.Why})
	}
	return v, nil
}

// because says where the level comes from.
func because(p executor.Preview) string {
	switch r := p.Ruling.Rule; {
	case p.Level < p.Ruling.Level && r != nil:
		return fmt.Sprintf("%s gives %s, but a credential or host asks for %s", r.Title(), r.Approval, p.Floor)
	case p.Level < p.Ruling.Level:
		return fmt.Sprintf("a credential or host asks for %s", p.Floor)
	case r != nil:
		return r.Text()
	case p.Ruling.Level < p.Default:
		return "the command cannot be compared with a stricter rule, so it is asked about"
	}
	return "no rule applies: the default by effect"
}

func (a *app) showVerdict(out outputFlags, v ruleVerdict) error {
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, v)
	}
	decides := v.Rule
	if decides == "" {
		decides = "none"
	}
	facts := []fact{
		{"call", v.Tool + " on " + v.Target}, {"action", string(v.Action)}, {"level due", v.Level.String()},
		{"rule", decides}, {"because", v.Because}, {"a yes covers", v.Covers},
	}
	for _, r := range v.Rules {
		facts = append(facts, fact{"rule " + r.Name, r.Approval.String() + ": " + r.Why})
	}
	return writeFacts(a.Out, facts)
}
