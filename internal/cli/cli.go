// Package cli is the command line: one file a noun, and the only importer of
// cobra. Flags are parsed here, the environment is read here, and here alone are
// hints for people and exit codes. What a command does is in the packages below.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"executor/internal/term"

	"github.com/spf13/cobra"
)

// IO is what a run of the program is given by the system.
type IO struct {
	Args   []string
	In     *os.File
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	// Context ends with the program's interrupt signals.
	Context context.Context
	stop    func()
}

// System returns the process's own IO.
func System() IO {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	return IO{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Context: ctx, stop: stop,
	}
}

// Main runs one command and returns the exit code.
func Main(sys IO) int {
	if sys.stop != nil {
		defer sys.stop()
	}
	a := &app{IO: sys}
	root := a.root()
	root.SetArgs(sys.Args)
	root.SetIn(sys.In)
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	err := root.ExecuteContext(sys.Context)
	if err == nil {
		return exitOK
	}
	a.complain(err)
	return exitCode(err)
}

// complain says what went wrong and what to type next.
func (a *app) complain(err error) {
	var quiet *silent
	switch {
	case errors.As(err, &quiet):
		return
	case errors.Is(err, context.Canceled) && a.Context.Err() != nil:
		err = errors.New("interrupted")
	}
	fmt.Fprintln(a.Err, "executor: "+term.Safe(sentence(err)))
	if h := hint(err, a.homeFlag(), a.storeFlags()); h != "" {
		fmt.Fprintln(a.Err, "hint: "+term.Safe(h))
	}
}

// sentence is the text of an error on one line: errors.Join puts a line break
// between two errors.
func sentence(err error) string {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err.Error()
	}
	var words []string
	for _, e := range list.Unwrap() {
		words = append(words, e.Error())
	}
	if strings.Join(words, "\n") != err.Error() {
		return err.Error()
	}
	return strings.Join(words, "; ")
}

// An app is one run: the system's IO and the flags that every command has.
type app struct {
	IO
	home  string
	store string // the --store of a contract command
}

const groupAgents, groupAuthority, groupRecord = "agents", "authority", "record"

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "executor",
		Short: "Let AI agents act on production without holding a key",
		Long: `executor is an MCP server that runs HTTP requests and SSH commands for AI
agents. It keeps the credentials in an encrypted vault, asks you before
sensitive calls, and writes down what was asked, what was approved and what
came of it.

Start with "executor demo" to see it work, then "executor init".`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&a.home, "home", "", "`DIR` of vault, journal and sockets (default $EXECUTOR_HOME, else ~/.local/share/executor)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s; see: %s --help", err, cmd.CommandPath())
	})
	root.AddGroup(
		&cobra.Group{ID: groupAgents, Title: "Run and approve:"},
		&cobra.Group{ID: groupAuthority, Title: "What agents may use:"},
		&cobra.Group{ID: groupRecord, Title: "What happened:"},
	)
	for _, c := range []struct {
		group string
		cmd   *cobra.Command
	}{
		{groupAgents, a.initCommand()},
		{groupAgents, a.serveCommand()},
		{groupAgents, a.mcpCommand()},
		{groupAgents, a.approveCommand()},
		{groupAgents, a.statusCommand()},
		{groupAgents, a.lockCommand()},
		{groupAgents, a.unlockCommand()},
		{groupAgents, a.callCommand()},
		{groupAgents, a.demoCommand()},

		{groupAuthority, a.credentialCommand()},
		{groupAuthority, a.hostCommand()},
		{groupAuthority, a.ruleCommand()},
		{groupAuthority, a.toolCommand()},
		{groupAuthority, a.approvalsCommand()},
		{groupRecord, a.journalCommand()},
		{groupRecord, a.contractCommand()},
		{"", a.versionCommand()},
	} {
		c.cmd.GroupID = c.group
		root.AddCommand(c.cmd)
	}
	addTopics(root)
	polish(root)
	return root
}
