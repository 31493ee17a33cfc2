package sshrun

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"executor/executor"
	"executor/internal/action"
)

// A DialFunc opens a TCP connection; (*net.Dialer).DialContext is one.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Config says how connections are made and kept. The zero value is ready for use.
type Config struct {
	// Dial opens connections to first hops; nil is a plain net.Dialer.
	Dial DialFunc
	// Now tells the time against which host certificates are checked; nil is time.Now.
	Now func() time.Time
	// Handshake bounds connect and login of each hop; 0 is 15 s.
	Handshake time.Duration
	// KeepAlive is how often an open connection is asked for a sign of life; 0 is 30 s.
	KeepAlive time.Duration
	// Idle is how long an unused connection is kept; 0 is 5 min.
	Idle time.Duration
	// Sessions is how many commands run at once over one connection before a second
	// is opened; 0 is 10, the default of OpenSSH. A server that allows fewer is believed.
	Sessions int
	// Connections bounds the connections to one host; 0 is 6. Further commands wait.
	Connections int
}

// A Runner runs *action.SSH and *action.File. It is safe for concurrent use.
type Runner struct {
	cfg  Config
	pool *pool
}

var _ executor.Runner = (*Runner)(nil)

// New returns a Runner. Close it after its last Run.
func New(cfg Config) *Runner {
	if cfg.Dial == nil {
		cfg.Dial = new(net.Dialer).DialContext
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Handshake = or(cfg.Handshake, 15*time.Second)
	cfg.KeepAlive = or(cfg.KeepAlive, 30*time.Second)
	cfg.Idle = or(cfg.Idle, 5*time.Minute)
	cfg.Sessions = or(cfg.Sessions, 10)
	cfg.Connections = or(cfg.Connections, 6)
	return &Runner{cfg: cfg, pool: newPool(cfg)}
}

func or[T int | time.Duration](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}

// Close ends every connection, also those in use, and waits for what belongs to
// them. A later Run opens new ones.
func (r *Runner) Close() { r.pool.close() }

// Run runs a command or a file operation. See executor.Runner; beside an error the
// response holds what came so far.
func (r *Runner) Run(ctx context.Context, a action.Action, l *executor.Lease, started func()) (executor.Response, error) {
	switch a := a.(type) {
	case *action.SSH:
		return r.runCommand(ctx, a, l, started)
	case *action.File:
		return r.runFile(ctx, a, l, started)
	}
	return nil, internal("this runner runs SSH commands and file operations only")
}

func (r *Runner) runCommand(ctx context.Context, s *action.SSH, l *executor.Lease, started func()) (executor.Response, error) {
	leases, err := leasesOf(s.Hops, l)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, s.Limits.Timeout)
	defer cancel()
	c := &call{action: s, activity: l.Activity, caller: ctx, started: sync.OnceFunc(started), response: &executor.SSHResponse{Facts: map[string]any{}}}
	err = r.run(limited, c, leases)
	c.response.Duration = time.Since(begin)
	if err != nil {
		return c.response, c.failure(err)
	}
	return c.response, nil
}

func (r *Runner) run(ctx context.Context, c *call, leases []*executor.Lease) error {
	sess, err := r.session(ctx, c.action.Hops, leases)
	if err != nil {
		return err
	}
	defer sess.release()
	sess.describe(c.response.Facts)
	if err := sess.setenv(ctx, c.action.Env); err != nil {
		return err
	}
	if c.marker, err = sess.mark(ctx, c.activity); err != nil {
		return err
	}
	if c.marker != "" {
		c.response.Facts["marker"] = c.marker
	}
	return c.exec(ctx, sess)
}

// session opens a session at the end of the hops.
func (r *Runner) session(ctx context.Context, hops []action.Hop, leases []*executor.Lease) (*session, error) {
	return r.open(ctx, routeKey(hops), func(ctx context.Context) (*conn, error) { return r.dialChain(ctx, hops, leases) })
}

// routeKey names a route: two actions with one key may share a connection. Every
// part has its length in front, so that no two routes have one key.
func routeKey(hops []action.Hop) string {
	var key []byte
	add := func(part string) {
		key = append(strconv.AppendInt(key, int64(len(part)), 10), ':')
		key = append(key, part...)
	}
	for _, h := range hops {
		add(h.Address)
		add(h.User)
		add(h.Credential.Name)
		add(strconv.Itoa(h.Credential.Version))
		add(h.Credential.Type)
		add(strconv.Itoa(len(h.HostKeys)))
		for _, k := range h.HostKeys {
			add(k)
		}
	}
	return string(key)
}

// leasesOf returns one lease per hop, each for exactly the credential that the hop names.
func leasesOf(hops []action.Hop, l *executor.Lease) ([]*executor.Lease, error) {
	if l == nil || len(hops) == 0 || len(l.Hops) != len(hops)-1 {
		return nil, internal("the leased credentials are not one for each hop")
	}
	leases := append(append([]*executor.Lease{}, l.Hops...), l)
	for i, hop := range hops {
		cred, meta := hop.Credential, leases[i].Meta
		if cred == nil || meta.Name != cred.Name || meta.Version != cred.Version || meta.Type != cred.Type {
			return nil, internal("a leased credential is not the one that the action names")
		}
	}
	return leases, nil
}
