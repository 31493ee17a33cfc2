package cli

import (
	"fmt"

	"executor/internal/action"
	"executor/internal/target"
	"executor/internal/watchlist"

	"github.com/spf13/cobra"
)

func (a *app) contractServer() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Register the MCP servers that are watched",
		Long: `A registration says how a server is reached. It is a plain file in the store,
has no secret in it, and gives agents nothing. Its command runs with your rights
when you name it: take no store from people whom you would not let write a
Makefile.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.contractServerAdd(), a.contractServerList(), a.contractServerRemove())
	return cmd
}

func (a *app) contractServerAdd() *cobra.Command {
	var store storeFlags
	var stdio bool
	var s watchlist.Server
	cmd := &cobra.Command{
		Use:   "add NAME (--stdio -- CMD... | --http URL)",
		Short: "Register a server",
		Long: `Register a server under a name. Put no secret into a command's arguments: they
are stored in the clear. A command gets the environment that this program has.`,
		Example: `  executor contract server add github --stdio -- github-mcp-server stdio
  executor contract server add tickets --http https://mcp.example.com/mcp \
      --credential tickets`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				args = args[:n]
			}
			return oneName(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Name = args[0]
			if err := addable(&s, stdio, args[1:]); err != nil {
				return err
			}
			st, err := a.contractStore(&store)
			if err != nil {
				return err
			}
			if err := st.Add(s); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Out, "server %s registered: %s\nread it with: executor contract snapshot --server %[1]s%[3]s\n", s.Name, reach(s), st.flags)
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stdio, "stdio", false, "the server is the command after --")
	f.StringVar(&s.HTTP, "http", "", "the server is at `URL` (Streamable HTTP)")
	f.StringVar(&s.Credential, "credential", "", "`NAME` of the vault's credential that it is read with (with --http)")
	store.register(cmd)
	return cmd
}

// addable fills in the command and refuses what cannot be meant.
func addable(s *watchlist.Server, stdio bool, command []string) error {
	if err := checkServerName(s.Name); err != nil {
		return err
	}
	switch {
	case s.Name == selfName:
		return usagef("self is this executor; give the server another name")
	case stdio == (s.HTTP != ""):
		return usagef("one of --stdio -- CMD ARGS and --http URL is due")
	case stdio && len(command) == 0:
		return usagef("--stdio wants the server's command after --")
	case !stdio && len(command) > 0:
		return usagef("%q: a command after -- goes with --stdio", command[0])
	}
	s.Stdio = command
	if s.HTTP != "" {
		u, err := target.Parse(s.HTTP)
		if err != nil {
			return usagef("--http: %v", err)
		}
		s.HTTP, s.Stdio = u.String(), nil
	}
	if err := s.Check(); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// reach is how a server is reached, as one would type it.
func reach(s watchlist.Server) string {
	if s.HTTP != "" {
		return s.HTTP
	}
	line, err := action.QuotePOSIX(s.Stdio)
	if err != nil {
		return s.Stdio[0]
	}
	return line
}

// A serverInfo is what is shown of a registration.
type serverInfo struct {
	Name       string   `json:"name"`
	Stdio      []string `json:"stdio,omitempty"`
	HTTP       string   `json:"http,omitempty"`
	Credential string   `json:"credential,omitempty"`
	reached    string
}

func (a *app) contractServerList() *cobra.Command {
	var store storeFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the registered servers", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			st, err := a.contractStore(&store)
			if err != nil {
				return err
			}
			servers, err := st.Servers()
			if err != nil {
				return err
			}
			var infos []serverInfo
			for _, s := range servers {
				infos = append(infos, serverInfo{s.Name, s.Stdio, s.HTTP, s.Credential, reach(s)})
			}
			return writeListing(a.Out, out, infos, []column[serverInfo]{
				{"name", func(s serverInfo) string { return s.Name }},
				{"credential", func(s serverInfo) string { return orDash(s.Credential) }},
				{"reached_by", func(s serverInfo) string { return s.reached }},
			})
		},
	}
	store.register(cmd)
	out.register(cmd)
	return cmd
}

func (a *app) contractServerRemove() *cobra.Command {
	var store storeFlags
	var yes bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Forget a registered server; its pin and snapshots stay", Args: oneName,
		RunE: func(_ *cobra.Command, args []string) error {
			st, err := a.contractStore(&store)
			if err != nil {
				return err
			}
			if _, err := st.Server(args[0]); err != nil {
				return err
			}
			if err := a.confirm(fmt.Sprintf("Forget the server %q?", args[0]), yes); err != nil {
				return err
			}
			if err := st.Remove(args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Out, "server %s forgotten\n", args[0])
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	store.register(cmd)
	return cmd
}
