package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"executor/approval"
	"executor/internal/ctl"
	"executor/vault"

	"github.com/spf13/cobra"
)

type statusOptions struct {
	pass  passphraseFlags
	out   outputFlags
	queue bool
}

func (a *app) statusCommand() *cobra.Command {
	o := &statusOptions{}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how the running serve is",
		Long: `Say how the running serve is. Without the passphrase that is counts only; with
--queue, or the passphrase from a file or descriptor, each request that waits
for approval is listed. Answer one with: executor approve --once ID`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.out.check(); err != nil {
				return err
			}
			if o.queue || o.pass.given() {
				return a.queue(cmd.Context(), o)
			}
			c, dir, err := a.client()
			if err != nil {
				return err
			}
			s, err := c.Status(cmd.Context())
			if err != nil {
				return err
			}
			return a.showStatus(o.out, dir, s)
		},
	}
	cmd.Flags().BoolVar(&o.queue, "queue", false, "list the requests that wait; asks for the passphrase")
	o.pass.register(cmd)
	o.out.registerOne(cmd)
	return cmd
}

// statusWithQueue is the status with what only the operator may know.
type statusWithQueue struct {
	ctl.Status
	Queue approval.Snapshot `json:"queue"`
}

// queue shows the status and each request that waits.
func (a *app) queue(ctx context.Context, o *statusOptions) error {
	return a.proved(ctx, &o.pass, func(c *ctl.Client, _ *vault.Keys) error {
		s, err := c.Status(ctx)
		if err != nil {
			return err
		}
		q, err := c.Queue(ctx)
		if err != nil {
			return err
		}
		if o.out.format != "table" || o.out.jq != "" {
			return writeOne(a.Out, o.out, statusWithQueue{s, q})
		}
		_, dir, err := a.client()
		if err != nil {
			return err
		}
		facts := statusFacts(dir, s)
		if q.Away {
			facts = append(facts, fact{"away", "yes: the last request went unanswered, and new ones are refused until a key is pressed at a screen"})
		}
		return errors.Join(writeFacts(a.Out, facts), a.showQueue(o.out, q))
	})
}

func (a *app) showQueue(out outputFlags, q approval.Snapshot) error {
	if len(q.Open) == 0 {
		return nil
	}
	if err := a.print(""); err != nil {
		return err
	}
	now := time.Now()
	return writeListing(a.Out, out, q.Open, []column[approval.Open]{
		{"id", func(r approval.Open) string { return r.ID }},
		{"level", func(r approval.Open) string { return r.Level.String() }},
		{"tool", func(r approval.Open) string { return r.Tool }},
		{"where", func(r approval.Open) string { return r.Target }},
		{"state", func(r approval.Open) string { return r.State }},
		{"waits", func(r approval.Open) string { return seconds(now.Sub(r.Created)) }},
		{"ends in", func(r approval.Open) string { return seconds(r.Deadline.Sub(now)) }},
		{"client", func(r approval.Open) string { return r.Client }},
		{"activity", func(r approval.Open) string { return r.ActivityID }},
	})
}

// seconds is a duration in whole seconds.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d s", max(0, int(d.Round(time.Second)/time.Second)))
}
