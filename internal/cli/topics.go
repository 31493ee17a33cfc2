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
		short, _, _ := strings.Cut(string(text), "\n")
		root.AddCommand(&cobra.Command{
			Use: strings.TrimSuffix(e.Name(), ".txt"), Short: short, Long: strings.TrimSpace(string(text)),
		})
	}
}
