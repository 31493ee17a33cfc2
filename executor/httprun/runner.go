package httprun

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"sync"
	"time"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/target"
)

// A Resolver finds the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config says how connections are made. The zero value uses the system's
// resolver, roots and network.
type Config struct {
	// Resolver finds addresses; nil is the system's.
	Resolver Resolver
	// Dialer makes the connections. Its Control hooks are replaced by the guard
	// that judges the address.
	Dialer net.Dialer
	// Roots are the trusted certificates; nil is the system's.
	Roots *x509.CertPool
	// Idle is how long an unused connection is kept; 0 is 60 s.
	Idle time.Duration
	// Clock dates AWS signatures and the end of tokens; nil is the system's.
	Clock func() time.Time
	// MaxPools bounds the pools of connections, one per credential version and
	// policy; 0 is 64. The one that was not used for longest is given up.
	MaxPools int
}

// A Runner runs *action.HTTP. It is safe for concurrent use.
type Runner struct {
	pools  *pools
	tokens tokens
}

var _ executor.Runner = (*Runner)(nil)

// New returns a Runner. Close it after its last Run.
func New(cfg Config) *Runner {
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	if cfg.Idle == 0 {
		cfg.Idle = time.Minute
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.MaxPools == 0 {
		cfg.MaxPools = 64
	}
	return &Runner{pools: &pools{cfg: cfg, open: map[poolKey]*pool{}}}
}

// Close closes the connections that are not in use, and those in use as soon as
// their answer was read. A later Run opens new ones.
func (r *Runner) Close() { r.Forget() }

// Forget drops what is kept from one Run to the next: connections, with the
// client keys that they were made with, and tokens. It is called when the vault
// is locked. Runs that are under way go on.
func (r *Runner) Forget() {
	r.pools.close()
	r.tokens.forget()
}

// Run sends the action. See executor.Runner; beside an error the response holds
// what came so far, with Status 0 when no answer came.
func (r *Runner) Run(ctx context.Context, a action.Action, l *executor.Lease, started func()) (executor.Response, error) {
	h, ok := a.(*action.HTTP)
	if !ok {
		return nil, internal("this runner sends HTTP requests only")
	}
	u, err := check(h)
	if err == nil {
		err = fits(h, l)
	}
	if err != nil {
		return nil, err
	}
	p, err := r.pools.get(keyOf(h), l)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, h.Limits.Timeout)
	defer cancel()
	c := &call{
		runner: r, action: h, lease: l, url: u, pool: p,
		started: sync.OnceFunc(started),
		facts:   map[string]any{},
	}
	resp, err := c.follow(limited)
	resp.Duration, resp.Facts = time.Since(begin), c.facts
	if err != nil {
		return resp, c.failure(ctx, limited, err)
	}
	return resp, nil
}

// check refuses an action that cannot be sent exactly as it stands.
func check(h *action.HTTP) (target.URL, error) {
	u, err := target.Parse(h.URL)
	if err != nil || u.String() != h.URL || u.Origin() != h.Origin {
		return target.URL{}, internal("the action's URL is not in its normal form")
	}
	if u.Net().RequestURI() != h.URL[len(h.Origin):] {
		return target.URL{}, internal("the action's URL would not be sent as it is shown")
	}
	if h.Address.Proxy != "" {
		return target.URL{}, internal("proxies are not supported")
	}
	for _, line := range h.Headers {
		if action.Framing(line.Name) || action.CheckHeader(line.Name, line.Value) != "" {
			return target.URL{}, internal("the action has a header that cannot be sent as it is shown")
		}
	}
	return u, nil
}
