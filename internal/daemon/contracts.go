package daemon

import (
	"fmt"
	"sort"

	"executor/internal/contract"
	"executor/internal/policy"
	"executor/vault"
)

// Contracts reads the tools that a vault publishes, beside the built-in ones.
func Contracts(v *vault.Vault) (*contract.Snapshot, error) {
	tools, err := contract.Builtin()
	if err != nil {
		return nil, err
	}
	published, err := Published(v)
	if err != nil {
		return nil, err
	}
	return contract.NewSnapshot(append(tools, published...)...)
}

// Published reads the operator's own tools, by name.
func Published(v *vault.Vault) ([]*contract.Tool, error) {
	histories, err := Histories(v)
	if err != nil {
		return nil, err
	}
	var out []*contract.Tool
	for name, ops := range histories {
		t, err := contract.Replay(name, ops)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// Histories reads the history of each published tool, oldest entry first. A locked
// vault is vault.ErrLocked: it shows no tools, which is not the same as having none.
func Histories(v *vault.Vault) (map[string][]contract.Op, error) {
	out := map[string][]contract.Op{}
	for name, entries := range entries(v) {
		ops, err := decodeHistory(name, entries)
		if err != nil {
			return nil, err
		}
		out[name] = ops
	}
	if v.Locked() {
		return nil, vault.ErrLocked
	}
	return out, nil
}

// entries are the sealed histories of the published tools, by name.
func entries(v *vault.Vault) map[string][]vault.Item {
	out := map[string][]vault.Item{}
	for _, newest := range v.Items() {
		if newest.Kind == policy.KindTool {
			out[newest.Name] = v.Versions(newest.Kind, newest.Name)
		}
	}
	return out
}

func decodeHistory(name string, entries []vault.Item) ([]contract.Op, error) {
	ops := make([]contract.Op, len(entries))
	for i, it := range entries {
		var err error
		if ops[i], err = contract.DecodeOp(it.Body); err != nil {
			return nil, fmt.Errorf("tool %s, entry %d of its history: %w", name, it.Version, err)
		}
	}
	return ops, nil
}
