package sshrun

import (
	"context"
	"sync"
	"time"
)

const (
	probeAfter = 10 * time.Second // a connection unused for longer is asked before use
	probeLimit = 3 * time.Second
)

// A slot is one connection of the pool, perhaps still being made. Its fields
// but ready are guarded by pool.mu until ready is closed; conn and err do not change after.
type slot struct {
	key     string
	ready   chan struct{}
	conn    *conn
	err     error
	retry   bool // the caller that dialed left: another may try
	active  int
	limit   int
	retired bool
	used    time.Time
	done    chan struct{} // closed when nothing of the connection is left
}

type pool struct {
	cfg Config

	mu      sync.Mutex
	slots   map[string][]*slot
	changed chan struct{} // closed and replaced whenever a session or slot is free
	waited  bool          // somebody holds changed
	tended  map[*slot]bool
}

func newPool(cfg Config) *pool {
	return &pool{cfg: cfg, slots: map[string][]*slot{}, tended: map[*slot]bool{}, changed: make(chan struct{})}
}

// acquire returns a live connection with room for a session. Callers that
// arrive while one is being made wait for it and share its failure, so that a wrong
// password is tried once. No lock is held meanwhile.
func (p *pool) acquire(ctx context.Context, key string, dial func(context.Context) (*conn, error)) (s *slot, reused bool, err error) {
	for {
		s, mine, wait := p.pick(key)
		if s == nil {
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, false, &stageError{"waiting for a free connection"}
			}
		}
		if mine {
			return s, false, p.dial(ctx, s, dial)
		}
		if ok, err := p.join(ctx, s); ok || err != nil {
			return s, true, err
		}
	}
}

// pick takes a session of a connection that has room, or else a new slot, which
// the caller must dial, or else returns what to wait for.
func (p *pool) pick(key string) (s *slot, mine bool, wait <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.slots[key] {
		if s.active < s.limit {
			s.active++
			return s, false, nil
		}
	}
	if len(p.slots[key]) >= p.cfg.Connections {
		return nil, false, p.wait()
	}
	s = &slot{key: key, ready: make(chan struct{}), done: make(chan struct{}), active: 1, limit: p.cfg.Sessions, used: time.Now()}
	p.slots[key] = append(p.slots[key], s)
	return s, true, nil
}

func (p *pool) dial(ctx context.Context, s *slot, dial func(context.Context) (*conn, error)) error {
	s.conn, s.err = dial(ctx)
	s.retry = ctx.Err() != nil
	close(s.ready)
	if s.err != nil {
		close(s.done)
		p.retire(s)
		return s.err
	}
	p.mu.Lock()
	p.tended[s] = true
	p.mu.Unlock()
	go p.tend(s) // ends with the connection; pool.close waits for it
	return nil
}

// join waits until the connection is made and looks whether it lives. It returns
// false without an error if another one must be found.
func (p *pool) join(ctx context.Context, s *slot) (bool, error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		p.release(s)
		return false, &stageError{"the connection that another call is opening"}
	}
	if s.err != nil {
		p.release(s)
		if s.retry {
			return false, ctx.Err()
		}
		return false, s.err
	}
	p.mu.Lock()
	unused := time.Since(s.used)
	p.mu.Unlock()
	if s.conn.isDead() || unused > probeAfter && !s.conn.ping(probeLimit) {
		p.retire(s)
		p.release(s)
		return false, nil
	}
	return true, nil
}

// release gives a session back. The last one closes a retired connection.
func (p *pool) release(s *slot) {
	p.mu.Lock()
	s.active--
	s.used = time.Now()
	last := s.retired && s.active == 0
	p.broadcast()
	p.mu.Unlock()
	if last {
		s.shut()
	}
}

// retire takes a connection out of the pool. Sessions on it go on.
func (p *pool) retire(s *slot) {
	p.mu.Lock()
	if !s.retired {
		s.retired = true
		p.remove(s)
		p.broadcast()
	}
	last := s.active == 0
	p.mu.Unlock()
	if last {
		s.shut()
	}
}

func (p *pool) remove(s *slot) {
	list := p.slots[s.key]
	for i := range list {
		if list[i] == s {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if p.slots[s.key] = list; len(list) == 0 {
		delete(p.slots, s.key)
	}
}

func (p *pool) broadcast() {
	if p.waited {
		close(p.changed)
		p.changed, p.waited = make(chan struct{}), false
	}
}

// wait returns the channel that is closed at the next change.
func (p *pool) wait() <-chan struct{} {
	p.waited = true
	return p.changed
}

// narrow notes that the server refused a further session on s, and reports
// whether it holds others.
func (p *pool) narrow(s *slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.active <= 1 {
		return false
	}
	s.limit = min(s.limit, s.active-1)
	return true
}

func (s *slot) shut() {
	if s.conn != nil {
		s.conn.close()
	}
}

// close ends all connections and waits for what belongs to them.
func (p *pool) close() {
	p.mu.Lock()
	var all []*slot
	for s := range p.tended {
		all = append(all, s)
	}
	for _, list := range p.slots {
		all = append(all, list...)
	}
	p.mu.Unlock()
	for _, s := range all {
		<-s.ready
		p.retire(s)
		s.shut()
		<-s.done
	}
}
