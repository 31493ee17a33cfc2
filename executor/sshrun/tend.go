package sshrun

import "time"

// tend keeps a connection alive until it ends or was unused for too long, and
// then waits for all that belongs to it.
func (p *pool) tend(s *slot) {
	p.keep(s)
	p.retire(s)
	s.conn.close()
	p.drained(s)
	s.conn.wg.Wait()
	p.mu.Lock()
	delete(p.tended, s)
	p.mu.Unlock()
	close(s.done)
}

func (p *pool) keep(s *slot) {
	tick := time.NewTicker(min(p.cfg.KeepAlive, p.cfg.Idle))
	defer tick.Stop()
	for {
		select {
		case <-s.conn.dead:
			return
		case <-tick.C:
			if p.idle(s) || !s.conn.ping(p.cfg.KeepAlive) {
				return
			}
		}
	}
}

// drained waits until no session is left on a retired connection: only they
// start further goroutines on it.
func (p *pool) drained(s *slot) {
	for {
		p.mu.Lock()
		active, changed := s.active, p.wait()
		p.mu.Unlock()
		if active == 0 {
			return
		}
		<-changed
	}
}

// idle retires a connection that was unused for too long.
func (p *pool) idle(s *slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.active > 0 || time.Since(s.used) < p.cfg.Idle {
		return false
	}
	if !s.retired {
		s.retired = true
		p.remove(s)
	}
	return true
}
