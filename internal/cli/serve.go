package cli

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"executor/approval/console"
	"executor/internal/daemon"
	"executor/internal/secret"
	"executor/internal/term"
	"executor/vault"

	"github.com/spf13/cobra"
)

type serveOptions struct {
	pass          passphraseFlags
	allowUIDs     []int
	agentSocket   string
	approvalLimit time.Duration
	autoLock      time.Duration
	call          callFlags
}

func (a *app) serveCommand() *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents; this terminal becomes the approval screen",
		Long: `Open the vault and serve agents until interrupted. The terminal becomes the
approval screen, with a line for each call. Without a terminal (a service, with
--passphrase-file) approvals are answered with "executor approve".

SIGTERM, Ctrl-C and the end of the terminal drain: no new calls are taken, those
in flight finish or are settled, and the vault is locked.`,
		Example: `  executor serve
  executor serve --passphrase-file /run/secrets/executor --auto-lock 8h`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.IntSliceVar(&o.allowUIDs, "allow-uid", nil, "serve agents of the user id `UID` too (repeatable)")
	f.StringVar(&o.agentSocket, "agent-socket", "", "listen for agents at `PATH`, for every uid that is allowed, and not in the home")
	f.DurationVar(&o.approvalLimit, "approval-limit", 120*time.Second, "`TIME` that a request on the screen waits for an answer, at most 10m")
	f.DurationVar(&o.autoLock, "auto-lock", 0, "lock the vault after this `TIME`, such as 8h (default: never)")
	o.call.register(cmd)
	o.pass.register(cmd)
	return cmd
}

// gcPercent lets the heap of serve grow fivefold between collections: it is a few
// megabytes, and calls wait for no collector.
const gcPercent = 400

func (a *app) serve(ctx context.Context, o *serveOptions) error {
	if o.approvalLimit <= 0 || o.approvalLimit > 10*time.Minute {
		return usagef("--approval-limit %s: more than 0 and at most 10m is due", o.approvalLimit)
	}
	if o.autoLock < 0 {
		return usagef("--auto-lock %s: 0 or more is due", o.autoLock)
	}
	if !signal.Ignored(syscall.SIGHUP) {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	out := &printer{app: a}
	notes, err := a.notifier(o.call.command, func(line string) {
		if !a.terminal() { // nothing is printed into the screen
			out.say(line)
		}
	})
	if err != nil {
		return err
	}
	h, err := a.openHome(ctx, &o.pass)
	if err != nil {
		return err
	}
	defer h.Close()
	log.SetOutput(io.Discard) // net/http logs what servers sent
	debug.SetGCPercent(gcPercent)
	a.warn(o, h.Dir, out.say)
	cfg := daemon.Config{
		Home: h, Build: daemon.Build(), AllowUIDs: o.allowUIDs, AgentSocket: o.agentSocket,
		ApprovalLimit: o.approvalLimit, AutoLock: o.autoLock, Say: out.say,
		Ready: func() { out.say("serving " + h.Dir) },
	}
	if notes != nil {
		cfg.OnRequest = notes.note
	}
	if a.terminal() {
		cfg.Say = nil // the screen has the lines
		cfg.Terminal = func(ctx context.Context, seat console.Seat) error {
			return a.console(ctx, h.Dir, seat, o.call, false)
		}
	}
	return notes.during(ctx, func() error { return daemon.Serve(ctx, cfg) })
}

// terminal reports whether standard input and output are one's own terminal.
func (a *app) terminal() bool {
	return isTerminal(a.In) && isTerminal(a.Out)
}

// console answers approvals at this terminal until ctx or the seat ends.
func (a *app) console(ctx context.Context, dir string, seat console.Seat, call callFlags, once bool) error {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	c, err := console.New(console.Options{
		Terminal: a.In, Resized: resized, Bell: call.bell, Note: call.note, Once: once,
		Passphrase: func(p *secret.Secret) error {
			keys, err := vault.OpenIdentity(dir, p)
			if err == nil {
				keys.Wipe()
			}
			return err
		},
	})
	if err != nil {
		seat.Close()
		return err
	}
	return c.Run(ctx, seat)
}

// A printer writes lines for a serve that has no screen, one at a time.
type printer struct {
	*app
	mu sync.Mutex
}

func (p *printer) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.Out, term.Safe(line))
}

// warn says what weakens the boundary between agents and the operator.
func (a *app) warn(o *serveOptions, dir string, say func(string)) {
	if a.Getenv("TMUX") != "" || a.Getenv("STY") != "" {
		say("warning: this is a tmux or screen session: a process of your own uid can type into it and answer for you; see: executor help security")
	}
	if o.pass.file != "" {
		if who := readers(o.pass.file, o.allowUIDs); who != "" {
			say("warning: the passphrase file " + o.pass.file + " can be read by " + who + ", who is served as an agent; see: executor help security")
		}
	}
	if o.agentSocket != "" && strings.HasPrefix(filepath.Clean(o.agentSocket), dir+string(filepath.Separator)) {
		say("warning: --agent-socket lies in the home, which no other uid can enter")
	}
}

// readers names the served uids that can read a file, as far as its mode tells.
func readers(path string, uids []int) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	owner := -1
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = int(st.Uid)
	}
	var who []string
	if owner == os.Getuid() || info.Mode().Perm()&0o004 != 0 {
		who = append(who, "your own uid")
	}
	for _, uid := range uids {
		if uid != os.Getuid() && (uid == owner || info.Mode().Perm()&0o004 != 0) {
			who = append(who, fmt.Sprintf("uid %d", uid))
		}
	}
	return strings.Join(who, " and ")
}
