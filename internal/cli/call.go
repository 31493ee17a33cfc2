package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"executor/internal/ctl"
	"executor/internal/daemon"
	"executor/internal/mcpclient"

	"github.com/spf13/cobra"
)

type callOptions struct {
	socket string
	args   string
	needs  []string
	all    bool
}

func (a *app) callCommand() *cobra.Command {
	o := &callOptions{}
	cmd := &cobra.Command{
		Use:   "call TOOL",
		Short: "Make one call as an agent would, from a script",
		Long: `Make one call of a tool through the running serve, as an agent would: it is
approved and recorded like any other. The result's JSON is printed; exit code 12
says that it is an error or a refusal.

When the tool's contract changes between listing and sending, the call is
repaired and sent once more only where that takes no choice; otherwise it says
what a person must decide, and ends with exit code 11.`,
		Example: `  executor call list_targets
  executor call ssh_exec --args '{"host":"web-1","command":"uptime"}'
  executor call http_request --args - < request.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("one TOOL is due; see: %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.call(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.args, "args", "{}", "arguments as a `JSON` object, or - for standard input")
	f.StringArrayVar(&o.needs, "need", nil, "a `FIELD` of the result that you will use: without it the call fails (repeatable)")
	f.BoolVar(&o.all, "attempts", false, "print all attempts beside the result")
	f.StringVar(&o.socket, "socket", "", "`PATH` of the socket of a serve that was started with --agent-socket")
	return cmd
}

func (a *app) call(ctx context.Context, tool string, o *callOptions) error {
	args := []byte(o.args)
	if o.args == "-" {
		var err error
		if args, err = io.ReadAll(io.LimitReader(a.In, 16<<20)); err != nil {
			return err
		}
	}
	if !json.Valid(args) {
		return usagef("--args: a JSON object is due")
	}
	if o.socket == "" {
		dir, err := a.homeDir()
		if err != nil {
			return err
		}
		o.socket = filepath.Join(dir, daemon.AgentSocket)
	}
	t, err := mcpclient.Socket(ctx, o.socket)
	if err != nil {
		return fmt.Errorf("%w at %s", ctl.ErrNoDaemon, o.socket)
	}
	c, err := mcpclient.DialCareful(ctx, t, "executor call", daemon.Build().Version)
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := sendCall(ctx, c, tool, args, o.needs)
	switch {
	case errors.Is(err, mcpclient.ErrOutputContract) && out != nil && out.Result != nil:
		return errors.Join(err, a.writeOutcome(out, o.all))
	case err != nil:
		return err
	}
	return a.showOutcome(out, o.all)
}

// sendCall leaves it to the server to answer for a tool that is not listed.
func sendCall(ctx context.Context, c *mcpclient.Careful, tool string, args []byte, needs []string) (*mcpclient.Outcome, error) {
	plan, err := c.Plan(ctx, tool, args, needs...)
	if errors.Is(err, mcpclient.ErrNoTool) {
		return c.Unlisted(ctx, tool, args)
	}
	if err != nil {
		return nil, err
	}
	out, err := c.Do(ctx, plan)
	if errors.Is(err, mcpclient.ErrNoTool) {
		return c.Unlisted(ctx, tool, args)
	}
	return out, err
}

func (a *app) showOutcome(out *mcpclient.Outcome, all bool) error {
	if err := a.writeOutcome(out, all); err != nil {
		return err
	}
	if out.IsError {
		return &silent{exitRefused}
	}
	return nil
}

func (a *app) writeOutcome(out *mcpclient.Outcome, all bool) error {
	if all {
		return writeJSON(a.Out, out)
	}
	return writeJSON(a.Out, out.Result)
}
