// Package daemon is executor serve: it owns the sockets and the life cycle, and
// wires everything below it together.
//
// One process serves one home (serve.lock). Agents connect to agent.sock and get
// nothing but MCP; the operator's commands connect to operator.sock, which only
// the operator's own uid can open. On Linux the process makes itself undumpable,
// so that no other process of the uid reads its memory through ptrace or a core.
//
// The package also opens and makes homes (Home) for the command line, and holds
// the Bridge that agents run.
package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"executor/approval"
	"executor/approval/console"
	"executor/executor"
	"executor/executor/httprun"
	"executor/executor/mcpserver"
	"executor/executor/sshrun"
	"executor/internal/contract"
	"executor/internal/peer"
	"executor/journal"
)

// shutdownTime is how long calls may go on after serve was told to stop. They are
// then cancelled, and their outcome is still written.
const shutdownTime = 30 * time.Second

// A Config says how to serve a home. Home is required.
type Config struct {
	Home  *Home
	Build journal.Build
	// AllowUIDs may connect as agents besides the operator's own uid.
	AllowUIDs []int
	// AgentSocket is where agents connect, instead of agent.sock in the home. It
	// is made with mode 0666: the peer's uid decides.
	AgentSocket string
	// ApprovalLimit is how long a request may stay unanswered on the screen; 0 is 120 s.
	ApprovalLimit time.Duration
	// AutoLock locks the vault after this time of wall clock; 0 never does.
	AutoLock time.Duration
	// Terminal, if set, is run with a seat at the desk: serve's own approval screen.
	Terminal func(ctx context.Context, seat console.Seat) error
	// Say is told a line for the operator where there is no terminal, and of trouble.
	Say func(line string)
	// OnRequest, if set, hears the short id of each request that comes onto the
	// screens. It must not wait.
	OnRequest func(id string)
	// Ready, if set, is called once both sockets answer.
	Ready func()
}

// A daemon is one run of serve.
type daemon struct {
	Config
	keys     *keyring
	shelf    shelf
	desk     *approval.Desk
	executor *executor.Executor
	agents   *agents
	home     *Home

	publishing sync.Mutex
}

// Serve serves cfg.Home until ctx ends, then drains: no new calls, calls in flight
// finish or are settled, sessions are closed, the vault pins the journal.
func Serve(ctx context.Context, cfg Config) (err error) {
	lock, err := lockHome(cfg.Home.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := protect(); err != nil {
		return fmt.Errorf("protecting the process's memory: %w", err)
	}
	d, err := assemble(cfg)
	if err != nil {
		return err
	}
	if n, err := cfg.Home.Journal.Recover(ctx); err != nil {
		return fmt.Errorf("settling what a crash left open: %w", err)
	} else if n > 0 {
		d.say(fmt.Sprintf("%d calls of an earlier run had no outcome and are recorded as unknown", n))
	}
	return d.run(ctx)
}

// assemble wires the parts.
func assemble(cfg Config) (*daemon, error) {
	d := &daemon{Config: cfg, keys: &keyring{}, home: cfg.Home}
	if err := d.keys.open(cfg.Home.Vault); err != nil {
		return nil, err
	}
	http := httprun.New(httprun.Config{})
	d.keys.forget = http.Forget
	j := cfg.Home.Journal
	d.desk = approval.NewDesk(approval.Config{
		Limit:      cfg.ApprovalLimit,
		OnShow:     cfg.OnRequest,
		OnGrant:    recordGrant(j),
		OnGrantEnd: recordGrantEnd(j),
	})
	var snapshot *contract.Snapshot
	err := d.shelf.take(cfg.Home.Vault, func(s *contract.Snapshot) error { snapshot = s; return nil })
	if err != nil {
		return nil, err
	}
	ssh := sshrun.New(sshrun.Config{}) // one pool for commands and files
	d.executor, err = executor.New(executor.Config{
		Credentials: d.keys, Approver: d.desk, Journal: j,
		Runners: map[string]executor.Runner{
			"http":    http,
			"ssh":     ssh,
			"sftp":    ssh,
			"targets": executor.Targets{Credentials: d.keys},
		},
		Clock: time.Now, Rand: rand.Reader, Build: cfg.Build,
		Events: d.event, Trouble: d.say, Suggest: d.say,
	}, snapshot)
	if err != nil {
		return nil, err
	}
	d.agents = &agents{
		server: &mcpserver.Server{
			Executor: d.executor, Version: cfg.Build.Version, Report: d.panicked,
			Transport: mcpserver.TransportOptions{DrainLimit: agentDrain},
		},
		observer: &peer.Observer{}, uids: cfg.AllowUIDs, say: d.say, stop: make(chan struct{}),
	}
	return d, nil
}

// run listens, serves, and drains.
func (d *daemon) run(ctx context.Context) (err error) {
	agentPath, mode := filepath.Join(d.home.Dir, AgentSocket), os.FileMode(0o600)
	if d.AgentSocket != "" {
		agentPath, mode = d.AgentSocket, 0o666
	}
	agentSock, err := listen(agentPath, mode)
	if err != nil {
		return err
	}
	defer agentSock.Close()
	operatorSock, err := listen(filepath.Join(d.home.Dir, OperatorSocket), 0o600)
	if err != nil {
		return err
	}
	defer operatorSock.Close()

	// What serves goes on until the drain is done; only then its context ends.
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	operators := d.operators()
	wg.Go(func() { _ = d.agents.serve(live, agentSock) })
	wg.Go(func() { _ = operators.Serve(live, operatorSock) })
	wg.Go(func() { d.autoLock(live) })
	screen, err := d.terminal(live, &wg) // it shows what the drain ends
	if err != nil {
		return err
	}
	if d.Ready != nil {
		d.Ready()
	}
	select {
	case <-ctx.Done():
	case err = <-screen:
	}
	agentSock.Close()
	return errors.Join(err, d.drain(live))
}

// terminal runs serve's own screen, if it has one. The channel gets its end when
// that is a reason to stop.
func (d *daemon) terminal(ctx context.Context, wg *sync.WaitGroup) (<-chan error, error) {
	ended := make(chan error, 1)
	if d.Terminal == nil {
		return ended, nil
	}
	seat, err := d.desk.Attach(approval.Attachment{Name: "serve's terminal"})
	if err != nil {
		return nil, err
	}
	wg.Go(func() {
		err := d.Terminal(ctx, seat)
		switch {
		case errors.Is(err, console.ErrHangup):
			ended <- nil
		case err != nil:
			ended <- err
		}
	})
	return ended, nil
}

// drain ends everything in order: new calls, so that none begins to wait for an
// answer, then waiting requests, calls, sessions, the vault.
func (d *daemon) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTime)
	defer cancel()
	d.say("shutting down: no new calls, those in flight are settled")
	d.executor.Stop()
	ended := d.desk.Close(ctx, executor.ErrDraining)
	close(d.agents.stop)
	err := d.executor.Drain(ctx)
	d.agents.wg.Wait()
	return errors.Join(ended, err, d.keys.lock(ctx))
}

func recordGrant(j *journal.Journal) func(context.Context, string, approval.Grant) error {
	return func(ctx context.Context, session string, g approval.Grant) error {
		return j.AddGrant(ctx, session, journal.Grant{ID: g.ID, Time: g.Made, Scope: g.Scope, By: g.By, Expires: expiry(g)})
	}
}

func recordGrantEnd(j *journal.Journal) func(context.Context, string, approval.Grant, string) error {
	return func(ctx context.Context, session string, g approval.Grant, why string) error {
		return j.EndGrant(ctx, session, g.ID, why)
	}
}

func expiry(g approval.Grant) *time.Time {
	if g.Expires.IsZero() {
		return nil
	}
	return &g.Expires
}
