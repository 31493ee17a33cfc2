package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/drift"
	"executor/internal/publish"
	"executor/internal/term"

	"github.com/spf13/cobra"
)

// A revisionInfo is one revision of a tool.
type revisionInfo struct {
	Digest    string         `json:"digest"`
	Published time.Time      `json:"published"`
	Kind      string         `json:"kind"` // of the change, "" for the first revision
	Current   bool           `json:"current"`
	Accepted  bool           `json:"accepted"` // calls of it are taken
	File      *contract.File `json:"file"`
}

func (a *app) toolShow() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	var revision string
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a tool's contract, the newest or an earlier one",
		Args:  oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.showTool(h, args[0], revision, out)
			})
		},
	}
	cmd.Flags().StringVar(&revision, "revision", "", "show revision `N` instead of the newest")
	pass.register(cmd)
	out.registerOne(cmd)
	return cmd
}

func (a *app) showTool(h *daemon.Home, name, revision string, out outputFlags) error {
	t, ops, err := history(h.Vault, name)
	if err != nil {
		return err
	}
	c := t.Newest()
	if revision != "" {
		if c, err = aRevision(t, revision); err != nil {
			return err
		}
	}
	info := revisionInfo{Digest: c.Digest(), Current: c == t.Current}
	info.Published, info.Kind = t.PublishedAt(c.Revision)
	_, info.Accepted = t.Window(c.Revision)
	info.File = fileOf(ops, c.Revision)
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, info)
	}
	return writeFacts(a.Out, contractFacts(t, c, info))
}

func contractFacts(t *contract.Tool, c *contract.Contract, i revisionInfo) []fact {
	state := "earlier, its calls are refused"
	switch {
	case t.Current == nil && t.Replacement == "":
		state = "retired, nothing replaces it"
	case t.Current == nil:
		state = "retired; its replacement is " + t.Replacement
	case i.Current:
		state = "current"
	case i.Accepted:
		state = "earlier, its calls are still taken"
	}
	declares := ""
	if c.Declares() {
		declares = "calls carry the argument contract_revision"
	}
	level := "the default by effect"
	if l, ok := c.Approval(); ok {
		level = l.String()
	}
	return []fact{
		{"tool", c.Tool}, {"revision", fmt.Sprintf("%d (%s)", c.Revision, state)}, {"title", c.Title}, {"description", c.Description},
		{"published", i.Published.Local().Format(time.RFC3339)}, {"change", i.Kind}, {"digest", i.Digest}, {"declared", declares}, {"approval", level},
		{"reaches", reaches(c)}, {"template", templateText(i.File)}, {"input", pretty(c.Input)}, {"accepts", acceptsText(i.File.Accepts)},
	}
}

func templateText(f *contract.File) string {
	var v any = f.HTTP
	if f.SSH != nil {
		v = f.SSH
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return pretty(raw)
}

func acceptsText(list []contract.Accept) string {
	if len(list) == 0 {
		return ""
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err.Error()
	}
	return pretty(raw)
}

func (a *app) toolDiff() *cobra.Command {
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:     "diff NAME A B",
		Short:   "Compare two revisions of a tool",
		Example: "  executor tool diff deploy_preview 1 2",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 3 {
				return usagef("NAME and two revisions are due; see: %s --help", cmd.CommandPath())
			}
			_, err := revisionNumber(args[1])
			_, err2 := revisionNumber(args[2])
			return errors.Join(err, err2)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				return a.diffTool(h, args[0], args[1], args[2], out)
			})
		},
	}
	pass.register(cmd)
	out.registerOne(cmd)
	return cmd
}

// A toolDifference is what tool diff shows.
type toolDifference struct {
	Findings  drift.Report `json:"findings"`
	Authority []string     `json:"authority"`
}

func (a *app) diffTool(h *daemon.Home, name, from, to string, out outputFlags) error {
	t, ops, err := history(h.Vault, name)
	if err != nil {
		return err
	}
	old, err := aRevision(t, from)
	if err != nil {
		return err
	}
	next, err := aRevision(t, to)
	if err != nil {
		return err
	}
	d := toolDifference{Authority: nonNil(publish.Authority(old, next))}
	if d.Findings, err = publish.Compare(old, next); err != nil {
		return err
	}
	if out.format != "table" || out.jq != "" {
		return writeOne(a.Out, out, d)
	}
	text := string(d.Findings.Text())
	if takes(t, ops, next, old.Revision) {
		text = string(d.Findings.AdaptedText())
	}
	for _, line := range d.Authority {
		text += "authority  " + term.Safe(line) + "\n"
	}
	return a.text(text)
}

// takes reports whether c takes, or took when it was current, calls of revision n.
func takes(t *contract.Tool, ops []contract.Op, c *contract.Contract, n int) bool {
	if c == t.Current {
		_, ok := t.Window(n)
		return ok
	}
	file := fileOf(ops, c.Revision)
	return slices.ContainsFunc(file.Accepts, func(a contract.Accept) bool { return a.Revision == n && a.Change != contract.Fence })
}

// fileOf is the file that published a revision.
func fileOf(ops []contract.Op, revision int) *contract.File {
	for _, op := range ops {
		if op.File != nil && op.File.Revision == revision {
			return op.File
		}
	}
	return nil
}
