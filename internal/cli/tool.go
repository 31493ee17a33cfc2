package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/vault"

	"github.com/spf13/cobra"
)

func (a *app) toolCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tool",
		Short: "Publish your own tools, and change them under running agents",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.toolPublish(), a.toolTest(), a.toolList(), a.toolShow(), a.toolDiff(), a.toolRetire(), a.toolPrune())
	return cmd
}

func oneFile(cmd *cobra.Command, args []string) error { return oneArg(cmd, args, "FILE") }

// readContract reads a contract file.
func readContract(path string) (*contract.File, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := contract.ParseFile(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// history is what the vault holds of a published tool.
func history(v *vault.Vault, name string) (*contract.Tool, []contract.Op, error) {
	all, err := daemon.Histories(v)
	if err != nil {
		return nil, nil, err
	}
	ops, ok := all[name]
	if !ok {
		return nil, nil, fmt.Errorf("no published tool is called %q; see: executor tool list", name)
	}
	t, err := contract.Replay(name, ops)
	return t, ops, err
}

// appendOp seals one entry of a tool's history, which must still have length entries.
func appendOp(e *vault.Edit, name string, length int, op contract.Op) error {
	if len(e.Versions(policy.KindTool, name)) != length {
		return fmt.Errorf("tool %s was changed in the meantime by another command; nothing was changed by this one, try again", name)
	}
	body, err := json.Marshal(op)
	if err != nil {
		return err
	}
	_, err = e.Put(vault.Item{Kind: policy.KindTool, Name: name, Body: body})
	return err
}

// aRevision reads a revision of a tool from the command line.
func aRevision(t *contract.Tool, text string) (*contract.Contract, error) {
	n, err := revisionNumber(text)
	if err != nil {
		return nil, err
	}
	c, ok := t.Revision(n)
	if !ok {
		return nil, fmt.Errorf("tool %s has no revision %d; it has %s", t.Name, n, revisionList(t.Revisions()))
	}
	return c, nil
}

func revisionNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, usagef("%q: the number of a revision is due", text)
	}
	return n, nil
}

func revisionList(list []*contract.Contract) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = strconv.Itoa(c.Revision)
	}
	return strings.Join(words, ", ")
}
