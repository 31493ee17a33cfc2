package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"executor/executor/mcpserver"
	"executor/internal/contract"
	"executor/internal/daemon"
	"executor/internal/drift"
	"executor/internal/mcpclient"
	"executor/internal/target"
	"executor/internal/watchlist"

	"github.com/spf13/cobra"
)

// selfName is the server that this program is.
const selfName = "self"

// targetFlags name one MCP server on a command line.
type targetFlags struct {
	server  string
	stdio   bool
	http    watchlist.Server // URL and credential
	name    string
	timeout time.Duration
}

func (t *targetFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.server, "server", "", "the registered server `NAME`, or self")
	f.BoolVar(&t.stdio, "stdio", false, "the server is the command after --")
	f.StringVar(&t.http.HTTP, "http", "", "the server is at `URL` (Streamable HTTP)")
	f.StringVar(&t.http.Credential, "credential", "", "`NAME` of the credential that --http sends; it must be bound to that URL")
	f.StringVar(&t.name, "name", "", "`NAME` to keep it under (default the NAME of --server)")
	f.DurationVar(&t.timeout, "timeout", time.Minute, "how `LONG` a server may take to answer")
}

// given reports whether any server is named.
func (t *targetFlags) given() bool { return t.server != "" || t.stdio || t.http.HTTP != "" }

// serverArgs refuses arguments other than a command after --.
func serverArgs(cmd *cobra.Command, args []string) error {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		args = args[:n]
	}
	return noArgs(cmd, args)
}

// A contractSource is one server that can be read.
type contractSource struct {
	watchlist.Server      // Name may be empty
	self             bool // this program
	timeout          time.Duration
	authorize        *authorizer // nil without a credential
}

// source is the server that the flags and the command after -- name.
func (t *targetFlags) source(cmd *cobra.Command, args []string, store contractStore) (contractSource, error) {
	s := contractSource{timeout: t.timeout}
	n := 0
	for _, given := range []bool{t.server != "", t.stdio, t.http.HTTP != ""} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return s, usagef("name one server: --server NAME, --stdio -- CMD ARGS, or --http URL; see: %s --help", cmd.CommandPath())
	case t.timeout <= 0:
		return s, usagef("--timeout %s: a time above 0 is due, such as 30s", t.timeout)
	case t.http.Credential != "" && t.http.HTTP == "":
		return s, usagef("--credential goes with --http URL; a registered server has its own, and a command gets none")
	case t.stdio && (len(args) == 0 || cmd.ArgsLenAtDash() != 0 || args[0] == ""):
		return s, usagef("--stdio wants the server's command after --, as in: %s --stdio -- my-server --flag", cmd.CommandPath())
	case !t.stdio && len(args) > 0:
		return s, usagef("%q: a command after -- goes with --stdio", args[0])
	}
	if t.name != "" {
		if err := checkServerName(t.name); err != nil {
			return s, err
		}
	}
	switch {
	case t.stdio:
		s.Server.Stdio = args
	case t.http.HTTP != "":
		u, err := target.Parse(t.http.HTTP)
		if err != nil {
			return s, usagef("--http: %v", err)
		}
		s.Server = t.http
		s.HTTP = u.String()
	case t.server == selfName:
		s.self, s.Name = true, selfName
	default:
		var err error
		if s.Server, err = store.Server(t.server); err != nil {
			return s, err
		}
	}
	if t.name != "" {
		s.Name = t.name
	}
	return s, nil
}

func checkServerName(name string) error {
	if err := watchlist.CheckName(name); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// A reading is what one server declared.
type reading struct {
	snap *drift.Snapshot
	opt  drift.Options
}

// read lists the server's tools once.
func (a *app) readContract(ctx context.Context, s contractSource) (reading, error) {
	if s.self {
		return readSelf()
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	c, err := a.dial(ctx, s, nil)
	if err != nil {
		return reading{}, s.unread(err)
	}
	defer c.Close()
	return s.list(ctx, c)
}

func (s contractSource) list(ctx context.Context, c *mcpclient.Client) (reading, error) {
	l, err := c.List(ctx)
	if err != nil {
		return reading{}, s.unread(err)
	}
	raw := l.JSON()
	if s.authorize != nil {
		if err := s.authorize.check(raw); err != nil {
			return reading{}, s.unread(err)
		}
	}
	snap, err := drift.Parse(raw)
	if err != nil {
		return reading{}, s.unread(err)
	}
	r := reading{snap, drift.Options{Transport: "stdio", Protocol: l.Protocol}}
	if s.HTTP != "" {
		r.opt.Transport = "http"
	}
	return r, nil
}

// unread says which server could not be read, and in whose time.
func (s contractSource) unread(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s (--timeout): %w", s.timeout, err)
	}
	if s.authorize != nil {
		err = s.authorize.conceal(err)
	}
	return fmt.Errorf("%s: %w", s.label(), err)
}

// label is how messages call the server.
func (s contractSource) label() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.HTTP != "":
		return s.HTTP
	case len(s.Stdio) > 0:
		return s.Stdio[0]
	}
	return selfName
}

// dial begins a session. The caller closes it.
func (a *app) dial(ctx context.Context, s contractSource, changed func()) (*mcpclient.Client, error) {
	opt := mcpclient.Options{Name: "executor contract", Version: daemon.Build().Version, Changed: changed}
	if s.HTTP != "" {
		e := mcpclient.Endpoint{URL: s.HTTP, Transport: webTransport()}
		if s.authorize != nil {
			e.Authorize = s.authorize.put
		}
		return mcpclient.Dial(ctx, e, opt)
	}
	stderr := &serverWords{out: a.Err}
	return mcpclient.Run(ctx, func() *exec.Cmd {
		cmd := exec.Command(s.Stdio[0], s.Stdio[1:]...)
		cmd.Env = os.Environ()
		cmd.Stderr = stderr
		return cmd
	}, opt)
}

// readSelf is this program's own contract, without a daemon.
func readSelf() (reading, error) {
	tools, err := contract.Builtin()
	if err != nil {
		return reading{}, err
	}
	s, err := contract.NewSnapshot(tools...)
	if err != nil {
		return reading{}, err
	}
	raw, err := mcpserver.Declaration(s, daemon.Build().Version)
	if err != nil {
		return reading{}, err
	}
	snap, err := drift.Parse(raw)
	return reading{snap, drift.Options{Profile: drift.DefaultsApplied}}, err
}

// readSnapshot reads a file of a snapshot.
func readSnapshot(path string) (*drift.Snapshot, error) {
	raw, err := readLimited(path, drift.MaxSnapshotBytes)
	if err != nil {
		return nil, err
	}
	snap, err := drift.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return snap, nil
}

// describeSnapshot is a snapshot in one line.
func describeSnapshot(snap *drift.Snapshot) string {
	tools := "1 tool"
	if n := len(snap.Tools); n != 1 {
		tools = fmt.Sprintf("%d tools", n)
	}
	return tools + ", contract " + shortHash(snap.ContractHash()) + ", surface " + shortHash(snap.Hash())
}

// shortHash is the beginning of a hash, enough to name it.
func shortHash(hash string) string {
	hash = strings.TrimPrefix(hash, "sha256:")
	return hash[:min(12, len(hash))]
}
