package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"executor/internal/drift"
	"executor/internal/watchlist"

	"github.com/spf13/cobra"
)

func (a *app) contractCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "contract",
		Short: "Watch what MCP servers promise: snapshot, pin, diff, check",
		Long: `The tools of an MCP server are a contract: names, texts, annotations, schemas.
It changes under running agents, and nothing fails at deploy time. These
commands keep what a server declares, say what changed since, whether that
breaks the calls of yesterday, and stop a CI run that would ship it.

A server is named with one of

  --server NAME            one of "contract server list", or self, this executor
  --stdio -- CMD ARGS...   a command that speaks MCP on its input and output
  --http URL               a Streamable HTTP endpoint

The files are in contracts/ of the home, or in --store DIR: plain JSON, for git.
See "executor help contracts".`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.contractSnapshot(), a.contractPin(), a.contractPins(), a.contractDiff(),
		a.contractCheck(), a.contractWatch(), a.contractServer())
	return cmd
}

// storeFlags say where snapshots, pins and registrations lie.
type storeFlags struct{ dir string }

func (s *storeFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.dir, "store", "", "`DIR` of snapshots, pins and servers (default contracts/ in the home)")
}

// A contractStore is one directory with all that these commands keep.
type contractStore struct {
	drift.Store
	watchlist.List
	flags string // that name it again, to follow a command
}

func (a *app) contractStore(s *storeFlags) (contractStore, error) {
	a.store = s.dir
	dir := s.dir
	if dir == "" {
		home, err := a.homeDir()
		if err != nil {
			return contractStore{}, err
		}
		dir = filepath.Join(home, "contracts")
	}
	return contractStore{drift.Store{Dir: dir}, watchlist.List{Dir: dir}, a.storeFlags()}, nil
}

func (s contractStore) dir() string { return s.Store.Dir }

// keep puts a snapshot into the store, under the name of its server if it has one.
func (s contractStore) keep(name string, snap *drift.Snapshot) (hash string, err error) {
	if hash, err = s.Put(snap); err == nil && name != "" {
		err = s.SetSeen(name, hash)
	}
	return hash, err
}

var hashRE = regexp.MustCompile(`^(sha256:)?[0-9a-f]{4,64}$`)

// snapshot finds what ref means: a hash, or the beginning of one, that is kept, else a file.
func (s contractStore) snapshot(ref string) (*drift.Snapshot, error) {
	if hashRE.MatchString(ref) {
		snap, err := s.Get(ref)
		if !errors.Is(err, drift.ErrNotFound) {
			return snap, err
		}
		if _, statErr := os.Stat(ref); statErr != nil {
			return nil, err
		}
	}
	return readSnapshot(ref)
}
