package cli

import (
	"errors"
	"fmt"

	"executor/internal/drift"
	"executor/internal/watchlist"

	"github.com/spf13/cobra"
)

func (a *app) contractSnapshot() *cobra.Command {
	var from targetFlags
	var store storeFlags
	var pass passphraseFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "snapshot --server NAME",
		Short: "Keep what a server declares now",
		Long: `List all tools of a server (--server, --stdio or --http), from the first page to
the last, and keep the list under its hash. With a name (that of --server, or
--name) "contract pin" knows it as what was read last under that name. Two
hashes are printed: snapshot, over everything that a model reads (the surface),
and contract, over schemas and annotations. -o json has those of each tool, too.`,
		Example: `  executor contract snapshot --name github --stdio -- github-mcp-server stdio
  executor contract snapshot --name example --store contracts \
      --http https://mcp.example.com/mcp --credential ci`,
		Args: serverArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			st, err := a.contractStore(&store)
			if err != nil {
				return err
			}
			s, err := from.source(cmd, args, st)
			if err != nil {
				return err
			}
			return a.withCredential(cmd.Context(), &pass, s, func(s contractSource) error {
				r, err := a.readContract(cmd.Context(), s)
				if err != nil {
					return err
				}
				hash, err := st.keep(s.Name, r.snap)
				if err != nil {
					return err
				}
				if out.format != "table" || out.jq != "" {
					return writeOne(a.Out, out, newSnapshotInfo(r.snap))
				}
				fmt.Fprintf(a.Out, "snapshot %s\ncontract %s\n", hash, r.snap.ContractHash())
				return a.snapshotNext(st, s.Name, hash, r.snap)
			})
		},
	}
	from.register(cmd)
	store.register(cmd)
	pass.register(cmd)
	out.registerOne(cmd)
	return cmd
}

// A snapshotInfo is what is shown of a snapshot: its hashes, and those of its tools.
type snapshotInfo struct {
	Snapshot string     `json:"snapshot"`
	Contract string     `json:"contract"`
	Tools    []toolInfo `json:"tools"`
}

type toolInfo struct {
	Name     string `json:"name"`
	Surface  string `json:"surface"`
	Contract string `json:"contract"`
}

func newSnapshotInfo(snap *drift.Snapshot) snapshotInfo {
	out := snapshotInfo{snap.Hash(), snap.ContractHash(), []toolInfo{}}
	for _, t := range snap.Tools {
		out.Tools = append(out.Tools, toolInfo{t.Name, t.SurfaceHash(), t.ContractHash()})
	}
	return out
}

// snapshotNext says what the snapshot means beside the pin of its name.
func (a *app) snapshotNext(st contractStore, name, hash string, snap *drift.Snapshot) error {
	text := describeSnapshot(snap)
	if name != "" {
		switch pin, err := st.Pin(name); {
		case errors.Is(err, drift.ErrNotFound):
			text += "; not pinned: executor contract pin " + name + st.flags
		case err != nil:
			return err
		case pin.Snapshot == hash:
			text += "; as pinned"
		default:
			text += "; not as pinned"
		}
	}
	_, err := fmt.Fprintln(a.Out, text)
	return err
}

func (a *app) contractPin() *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "pin NAME [SNAPSHOT]",
		Short: "Make a snapshot the one that a server is held to",
		Long: `Make a snapshot the one that the server NAME is held to by diff, check and
watch. SNAPSHOT is a hash or the beginning of one, or a file; without it, what
was read last under NAME.`,
		Example: `  executor contract pin github
  executor contract pin github 7f3a91c4`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("a NAME and at most one SNAPSHOT are due; see: %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkServerName(args[0]); err != nil {
				return err
			}
			st, err := a.contractStore(&store)
			if err != nil {
				return err
			}
			snap, err := st.toPin(args)
			if err != nil {
				return err
			}
			hash, err := st.Put(snap)
			if err != nil {
				return err
			}
			if _, err := st.SetPin(args[0], hash); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Out, "%s pinned to %s\n%s\n", args[0], hash, describeSnapshot(snap))
			return err
		},
	}
	store.register(cmd)
	return cmd
}

// toPin is the snapshot that NAME [SNAPSHOT] means.
func (s contractStore) toPin(args []string) (*drift.Snapshot, error) {
	if len(args) == 2 {
		return s.snapshot(args[1])
	}
	hash, err := s.Seen(args[0])
	if errors.Is(err, watchlist.ErrUnseen) {
		return nil, fmt.Errorf("%w; read it with: executor contract snapshot --name %s%s, and --server, --stdio or --http", err, args[0], s.flags)
	}
	if err != nil {
		return nil, err
	}
	return s.Get(hash)
}

// A pinInfo is what is shown of a pin.
type pinInfo struct {
	Name     string `json:"name"`
	Snapshot string `json:"snapshot"`
	Contract string `json:"contract"`
	Tools    int    `json:"tools"`
	Seen     string `json:"seen,omitempty"` // snapshot that was read last
}

func (p pinInfo) state() string {
	switch p.Seen {
	case "":
		return "not read by name"
	case p.Snapshot:
		return "as pinned"
	}
	return "changed"
}

func (a *app) contractPins() *cobra.Command {
	var store storeFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "pins", Short: "List what is pinned, and whether the last reading differed", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			st, err := a.contractStore(&store)
			if err != nil {
				return err
			}
			infos, err := st.pinInfos()
			if err != nil {
				return err
			}
			return writeListing(a.Out, out, infos, []column[pinInfo]{
				{"name", func(p pinInfo) string { return p.Name }},
				{"tools", func(p pinInfo) string { return fmt.Sprint(p.Tools) }},
				{"contract", func(p pinInfo) string { return shortHash(p.Contract) }},
				{"surface", func(p pinInfo) string { return shortHash(p.Snapshot) }},
				{"last_reading", pinInfo.state},
			})
		},
	}
	store.register(cmd)
	out.register(cmd)
	return cmd
}

func (s contractStore) pinInfos() ([]pinInfo, error) {
	pins, err := s.Pins()
	if err != nil {
		return nil, err
	}
	var out []pinInfo
	for _, p := range pins {
		snap, err := s.Get(p.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("pin %s: %w", p.Name, err)
		}
		seen, err := s.Seen(p.Name)
		if err != nil && !errors.Is(err, watchlist.ErrUnseen) && !errors.Is(err, watchlist.ErrName) {
			return nil, err
		}
		out = append(out, pinInfo{p.Name, p.Snapshot, p.Contract, len(snap.Tools), seen})
	}
	return out, nil
}
