package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// polish gives every command help that fits a terminal of 80 columns, and one way
// to refuse what it does not know. It is called when the tree is whole.
func polish(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	usage := strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsagesWrapped 80 |")
	root.SetUsageTemplate(strings.ReplaceAll(usage, "for more information about a command", "for more about one"))
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short, c.Long = "Show the help of a command or a topic", ""
			c.Run, c.RunE = nil, showHelp
		case "completion":
			c.Short = "Write the completion script for a shell"
			for _, shell := range c.Commands() {
				shell.Args = noArgs
				shell.Long = foldLines(shell.Long, 80)
			}
		}
	}
	polishGroups(root)
}

// polishGroups makes commands that only hold others refuse a name they do not know.
func polishGroups(c *cobra.Command) {
	if c.HasSubCommands() {
		c.Args = knownCommand
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range c.Commands() {
		polishGroups(sub)
	}
}

func showHelp(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	switch {
	case err != nil || found == nil:
		return knownCommand(cmd.Root(), args)
	case len(rest) > 0 && found.HasSubCommands():
		return knownCommand(found, rest)
	}
	found.InitDefaultHelpFlag()
	return found.Help()
}

// knownCommand refuses arguments of a command that only holds others.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	meant := ""
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		meant = "; did you mean: " + cmd.CommandPath() + " " + strings.Join(names, ", ")
	}
	return usagef("%q is no command of %s%s; see: %[2]s --help", args[0], cmd.CommandPath(), meant)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q: no argument is due; see: %s --help", args[0], cmd.CommandPath())
	}
	return nil
}

func oneName(cmd *cobra.Command, args []string) error { return oneArg(cmd, args, "NAME") }

func oneID(cmd *cobra.Command, args []string) error { return oneArg(cmd, args, "ID") }

func oneArg(cmd *cobra.Command, args []string, what string) error {
	if len(args) != 1 {
		return usagef("one %s is due; see: %s --help", what, cmd.CommandPath())
	}
	return nil
}

// foldLines breaks lines that are longer than width at a space.
func foldLines(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if at := strings.LastIndexByte(line[:min(len(line), width+1)], ' '); len(line) > width && at > 0 {
			lines[i] = line[:at] + "\n" + line[at+1:]
		}
	}
	return strings.Join(lines, "\n")
}
