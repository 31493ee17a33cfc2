package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// topics are the pages of "executor help TOPIC".
//
//go:embed topics/*.txt
var topics embed.FS

// addTopics makes each page a help topic of root. Its first line is its summary.
// A page that is named for a command becomes the long help of that command: a
// topic of the same name would stand in its way.
func addTopics(root *cobra.Command) {
	entries, err := topics.ReadDir("topics")
	if err != nil {
		return
	}
	for _, e := range entries {
		text, err := topics.ReadFile("topics/" + e.Name())
		if err != nil {
			continue
		}
		name, page := strings.TrimSuffix(e.Name(), ".txt"), strings.TrimSpace(string(text))
		if c := child(root, name); c != nil {
			c.Long = page
			continue
		}
		short, _, _ := strings.Cut(page, "\n")
		root.AddCommand(&cobra.Command{Use: name, Short: short, Long: page})
	}
}

// child is the command directly below c that has the name, or nil.
func child(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}
