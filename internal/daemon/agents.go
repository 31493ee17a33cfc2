package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"executor/executor"
	"executor/executor/mcpserver"
	"executor/internal/peer"
)

// agents accepts the connections of agents and serves each on its own.
type agents struct {
	server   *mcpserver.Server
	observer *peer.Observer
	// uids may connect besides the operator's own.
	uids []int
	say  func(string)
	stop chan struct{} // closed to end input and drain

	wg   sync.WaitGroup
	mu   sync.Mutex
	open int
}

// serve accepts until l is closed. Sessions end when stop is closed, or ctx ends.
func (a *agents) serve(ctx context.Context, l *net.UnixListener) error {
	for {
		conn, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			a.say("agent socket: " + err.Error())
			if !pause(ctx, 100*time.Millisecond) { // out of descriptors, most likely
				return nil
			}
			continue
		}
		a.count(1)
		a.wg.Go(func() {
			defer a.count(-1)
			if err := a.one(ctx, conn); err != nil {
				a.say("agent: " + err.Error())
			}
		})
	}
}

func (a *agents) one(ctx context.Context, conn *net.UnixConn) error {
	p, err := a.observer.FromConn(conn)
	if err != nil {
		conn.Close()
		return fmt.Errorf("the peer cannot be told: %w", err)
	}
	own := p.UID == os.Getuid()
	if !own && !slices.Contains(a.uids, p.UID) {
		conn.Close()
		return fmt.Errorf("uid %d is not served; allow it with: executor serve --allow-uid %d", p.UID, p.UID)
	}
	info := executor.SessionInfo{Transport: "stdio", SameUID: own, Peer: p}
	return a.server.Serve(ctx, conn, info, a.stop)
}

func (a *agents) count(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open += n
}

// connections is how many agents are connected.
func (a *agents) connections() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open
}

// pause waits for d, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
