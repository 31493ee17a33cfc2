package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"executor/internal/cli"
	"executor/internal/term"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func tree() *cobra.Command {
	return cli.Root(cli.IO{Out: io.Discard, Err: io.Discard, Getenv: os.Getenv, Context: context.Background()})
}

// walk calls fn for every command and topic, parents first.
func walk(c *cobra.Command, fn func(*cobra.Command)) {
	fn(c)
	for _, sub := range c.Commands() {
		walk(sub, fn)
	}
}

func TestHelpFits(t *testing.T) {
	n := 0
	walk(tree(), func(c *cobra.Command) {
		n++
		var b bytes.Buffer
		c.SetOut(&b)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if term.Width(line) > 80 {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), term.Width(line), line)
			}
		}
	})
	if n < 30 {
		t.Errorf("only %d commands were seen", n)
	}
}

// A second command of one name would hide the first, now and then.
func TestNamesAreUnique(t *testing.T) {
	walk(tree(), func(c *cobra.Command) {
		seen := map[string]bool{}
		for _, sub := range c.Commands() {
			if seen[sub.Name()] {
				t.Errorf("%s is there twice", sub.CommandPath())
			}
			seen[sub.Name()] = true
		}
	})
}

func TestCommandsAreDocumented(t *testing.T) {
	walk(tree(), func(c *cobra.Command) {
		switch {
		case c.Short == "":
			t.Errorf("%s has no short help", c.CommandPath())
		case strings.HasSuffix(c.Short, "."):
			t.Errorf("%s: the short help is a sentence: %s", c.CommandPath(), c.Short)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s is not explained", c.CommandPath(), f.Name)
			}
		})
		if c.Name() == "add" && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
	})
}

// Too many arguments are a usage error everywhere, and no command takes them silently.
func TestArgumentsAreCounted(t *testing.T) {
	walk(tree(), func(c *cobra.Command) {
		if c.Name() == "help" || c.IsAdditionalHelpTopicCommand() {
			return
		}
		if c.Args == nil {
			t.Errorf("%s takes any arguments", c.CommandPath())
			return
		}
		if c.Name() == "rekey" { // takes any number of hosts
			return
		}
		if code := cli.ExitCode(c.Args(c, []string{"one", "two", "three"})); code != 2 {
			t.Errorf("%s one two three: exit code %d, want 2", c.CommandPath(), code)
		}
	})
}

// Every command that unlocks takes the passphrase in the two other ways, and every
// listing has the same forms.
func TestFlagsAreAlike(t *testing.T) {
	walk(tree(), func(c *cobra.Command) {
		has := func(name string) bool { return c.Flags().Lookup(name) != nil }
		if has("passphrase-file") != has("passphrase-fd") {
			t.Errorf("%s has only one of --passphrase-file and --passphrase-fd", c.CommandPath())
		}
		if has("output") != has("jq") {
			t.Errorf("%s has only one of -o and --jq", c.CommandPath())
		}
		if (c.Name() == "list" || c.Name() == "show") && !has("output") {
			t.Errorf("%s has no -o", c.CommandPath())
		}
		if c.Name() == "remove" && !has("yes") {
			t.Errorf("%s asks, and has no --yes", c.CommandPath())
		}
	})
}
