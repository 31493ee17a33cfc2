package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"executor/internal/drift"
	"executor/internal/term"

	"github.com/spf13/cobra"
)

// A compareCommand is what diff and check have in common.
type compareCommand struct {
	from    targetFlags
	store   storeFlags
	pass    passphraseFlags
	report  reportFlags
	against string
}

func (c *compareCommand) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.against, "against", "pinned", "compare with `WHAT`: pinned, a hash that is kept, or a file")
	c.from.register(cmd)
	c.store.register(cmd)
	c.pass.register(cmd)
	c.report.register(cmd)
}

const exitCodesOfVerdicts = `Exit code: 0 no change or compatible, 10 breaking, 11 a person must look,
1 a server or file could not be read, 2 usage.`

func (a *app) contractDiff() *cobra.Command {
	c := &compareCommand{}
	cmd := &cobra.Command{
		Use:   "diff (OLD.json NEW.json | --server NAME)",
		Short: "Say what changed, and whether old calls still hold",
		Long: `Compare two snapshot files (any tools/list answer will do; no home is needed),
or what a server (--server, --stdio or --http) declares now with what is pinned,
kept or in a file.

` + exitCodesOfVerdicts,
		Example: `  executor contract diff old.json new.json
  executor contract diff --server github
  executor contract diff --against 7f3a91c4 --stdio -- github-mcp-server stdio`,
		Args: func(cmd *cobra.Command, args []string) error {
			if c.from.given() {
				return serverArgs(cmd, args)
			}
			if len(args) != 2 {
				return usagef("OLD.json and NEW.json, or a server, are due; see: %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.report.check(); err != nil {
				return err
			}
			if c.from.given() {
				return a.compareServer(cmd, args, c)
			}
			if f := cmd.Flags(); f.Changed("against") || f.Changed("name") || f.Changed("credential") {
				return usagef("--against, --name and --credential go with a server, not with two files")
			}
			return a.compareFiles(c, args[0], args[1])
		},
	}
	c.register(cmd)
	return cmd
}

func (a *app) contractCheck() *cobra.Command {
	c := &compareCommand{}
	cmd := &cobra.Command{
		Use:   "check --server NAME",
		Short: "Hold a server to its pin, for CI",
		Long: `Compare what a server (--server, --stdio or --http) declares now with its pin,
in the forms that CI systems read, and end with an exit code that says whether
to go on.

` + exitCodesOfVerdicts + `
With --fail-on breaking, what a person must look at ends with 0, too.`,
		Example: `  executor contract check --store contracts --name github -o github \
      --overrides contracts/overrides.yaml --stdio -- github-mcp-server stdio`,
		Args: serverArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.report.check(); err != nil {
				return err
			}
			return a.compareServer(cmd, args, c)
		},
	}
	c.register(cmd)
	return cmd
}

// compareFiles needs no home, unless a hash is given where no such file is.
func (a *app) compareFiles(c *compareCommand, oldRef, newRef string) error {
	var snaps [2]*drift.Snapshot
	for i, ref := range []string{oldRef, newRef} {
		snap, err := readSnapshot(ref)
		if err != nil && hashRE.MatchString(ref) {
			st, storeErr := a.contractStore(&c.store)
			if storeErr != nil {
				return storeErr
			}
			snap, err = st.Get(ref)
		}
		if err != nil {
			return err
		}
		snaps[i] = snap
	}
	return a.compare(c, snaps[0], reading{snap: snaps[1]}, newRef)
}

func (a *app) compareServer(cmd *cobra.Command, args []string, c *compareCommand) error {
	st, err := a.contractStore(&c.store)
	if err != nil {
		return err
	}
	s, err := c.from.source(cmd, args, st)
	if err != nil {
		return err
	}
	old, file, err := st.baseline(s, c.against)
	if err != nil {
		return err
	}
	return a.withCredential(cmd.Context(), &c.pass, s, func(s contractSource) error {
		return a.compareNow(cmd.Context(), c, s, old, file)
	})
}

func (a *app) compareNow(ctx context.Context, c *compareCommand, s contractSource, old *drift.Snapshot, file string) error {
	now, err := a.readContract(ctx, s)
	if err != nil {
		return err
	}
	if c.report.form == "text" && c.report.jq == "" {
		fmt.Fprintf(a.Out, "%s: %s -> %s\n\n", term.Safe(s.label()), shortHash(old.Hash()), shortHash(now.snap.Hash()))
	}
	return a.compare(c, old, now, file)
}

// baseline is what a server is compared with, and the file that holds it.
func (s contractStore) baseline(of contractSource, against string) (*drift.Snapshot, string, error) {
	if against != "pinned" {
		snap, err := s.snapshot(against)
		return snap, against, err
	}
	if of.Name == "" {
		return nil, "", usagef("say whose pin: --name NAME, or --against with a hash or a file")
	}
	snap, err := s.Pinned(of.Name)
	if errors.Is(err, drift.ErrNotFound) {
		return nil, "", usagef("nothing is pinned as %s in %s; pin what was read last with: executor contract pin %[1]s%[3]s", of.Name, s.dir(), s.flags)
	}
	return snap, filepath.Join(s.dir(), "pins", of.Name+".json"), err
}

// compare writes the report and turns its verdict into an exit code.
func (a *app) compare(c *compareCommand, old *drift.Snapshot, now reading, file string) error {
	overrides, err := c.report.overrides()
	if err != nil {
		return err
	}
	if c.report.profile != "" {
		now.opt.Profile = drift.Profile(c.report.profile)
	}
	r := overrides.Apply(drift.Diff(old, now.snap, now.opt), time.Now())
	if err := c.report.write(a, r, file); err != nil {
		return err
	}
	return verdictError(r.Verdict, c.report.failOn)
}

// verdictError is the exit code of a verdict, nil for 0.
func verdictError(v drift.Class, failOn string) error {
	switch {
	case v == drift.Breaking:
		return &silent{exitBreaking}
	case v == drift.NeedsHuman && failOn != string(drift.Breaking):
		return &silent{exitNeedsPerson}
	}
	return nil
}

// reportFlags choose the form of a report, and what it counts.
type reportFlags struct {
	outputFlags
	form     string
	overFile string
	failOn   string
	profile  string
}

var reportForms = []string{"text", "json", "markdown", "sarif", "github"}

func (o *reportFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.form, "output", "o", "text", "`FORM` of the report: text, json, markdown, sarif or github")
	f.StringVar(&o.jq, "jq", "", "filter what -o json would give with the jq expression `EXPR`")
	f.StringVar(&o.overFile, "overrides", "", "`FILE` (YAML or JSON) of severities and ignores; see: executor help contracts")
	f.StringVar(&o.failOn, "fail-on", "needs-human", "least `CLASS` that ends with an exit code: breaking or needs-human")
	f.StringVar(&o.profile, "profile", "", "`HOW` to read schemas: strict, or defaults-applied for a server that applies its defaults")
	o.context = cmd.Context
}

func (o *reportFlags) check() error {
	switch {
	case !slices.Contains(reportForms, o.form):
		return usagef("-o %s: text, json, markdown, sarif or github is due", o.form)
	case o.failOn != "breaking" && o.failOn != "needs-human":
		return usagef("--fail-on %s: breaking or needs-human is due", o.failOn)
	case !slices.Contains([]string{"", string(drift.Strict), string(drift.DefaultsApplied)}, o.profile):
		return usagef("--profile %s: strict or defaults-applied is due", o.profile)
	}
	o.format = "json"
	return o.outputFlags.check()
}

func (o *reportFlags) overrides() (drift.Overrides, error) {
	if o.overFile == "" {
		return drift.Overrides{}, nil
	}
	raw, err := readLimited(o.overFile, drift.MaxOverridesBytes)
	if err != nil {
		return drift.Overrides{}, err
	}
	out, err := drift.ParseOverrides(raw)
	if err != nil {
		return out, usagef("%s: %v", o.overFile, err)
	}
	return out, nil
}

func (o *reportFlags) write(a *app, r drift.Report, file string) (err error) {
	var out []byte
	switch {
	case o.jq != "":
		return writeJQ(a.Out, o.outputFlags, r)
	case o.form == "json":
		out, err = r.JSON()
	case o.form == "sarif":
		out, err = r.SARIF((&url.URL{Path: inRepository(file)}).String())
	case o.form == "markdown":
		out = r.Markdown()
	case o.form == "github":
		out = r.GitHub(inRepository(file))
	case len(r.Changes) == 0:
		out = []byte(foldText(r.Note, 80) + "\n")
	default:
		out = r.Text()
	}
	if err != nil {
		return err
	}
	_, err = a.Out.Write(out)
	return err
}

// inRepository is a file as a report names it: with slashes, and never with a path
// that begins outside of the repository.
func inRepository(file string) string {
	if filepath.IsAbs(file) {
		return filepath.Base(file)
	}
	return filepath.ToSlash(filepath.Clean(file))
}

// foldText breaks a text of one line at spaces.
func foldText(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
