package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"executor/internal/contract"
	"executor/internal/peer"
	"executor/journal"

	"github.com/google/uuid"
)

// SessionInfo is what is known of an agent when its session begins. Client is
// the agent's own word; Peer is what the kernel saw.
type SessionInfo struct {
	Transport string
	// SameUID: the agent runs under the operator's own uid.
	SameUID bool
	Client  journal.Client
	Peer    peer.Peer
}

// A Session is one agent run. It is safe for concurrent use.
type Session struct {
	id     string
	info   SessionInfo
	opened time.Time

	mu        sync.Mutex
	recorded  bool // the journal knows of it
	closed    bool
	calls     int            // open now
	catalog   string         // digest of the last list served
	served    map[string]int // revision served by tool; ambiguous when it was served two
	echoes    int            // results withheld for a weak secret
	suspended bool
	flood     flood
	keys      map[string]*keptCall // by idempotency key
	keptBytes int                  // of replies in keys
}

// ambiguous marks a tool of which a session was served more than one revision.
const ambiguous = -1

// Begin starts a session. It is written to the journal at once, or, where the
// journal cannot be written, before its first call.
func (x *Executor) Begin(ctx context.Context, info SessionInfo) (*Session, error) {
	id, err := uuid.NewV7FromReader(x.cfg.Rand)
	if err != nil {
		return nil, fmt.Errorf("session id: %w", err)
	}
	s := &Session{id: id.String(), info: info, opened: x.cfg.Clock(), served: map[string]int{}}
	_ = x.record(ctx, s) // admit tries again, and refuses
	return s, nil
}

// ID is the session's id, a UUIDv7.
func (s *Session) ID() string { return s.id }

// record makes sure that the journal knows the session.
func (x *Executor) record(ctx context.Context, s *Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recorded {
		return nil
	}
	peerJSON, err := json.Marshal(s.info.Peer)
	if err != nil {
		return err
	}
	err = x.cfg.Journal.OpenSession(ctx, journal.Session{
		SessionID: s.id, Opened: s.opened, Transport: s.info.Transport,
		SameUID: s.info.SameUID, Client: s.info.Client, Peer: peerJSON,
	})
	s.recorded = err == nil
	return err
}

// Served notes that the session was given the list of tools in c. The list may
// go out only when that is written down: it is evidence later on.
func (x *Executor) Served(ctx context.Context, s *Session, c *contract.Snapshot) error {
	if err := x.record(ctx, s); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.catalog != c.Digest() {
		err := x.cfg.Journal.AddCatalog(ctx, s.id, journal.Catalog{
			Time: x.cfg.Clock(), Digest: c.Digest(), Tools: c.Revisions(),
		})
		if err != nil {
			return err
		}
		s.catalog = c.Digest()
	}
	for tool, revision := range c.Revisions() {
		if old, ok := s.served[tool]; ok && old != revision {
			revision = ambiguous
		}
		s.served[tool] = revision
	}
	return nil
}

// servedRevision is the one revision of a tool that the session was served, or 0.
func (s *Session) servedRevision(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.served[tool], 0)
}

// End closes a session: its grants end, its waiting requests are withdrawn.
func (x *Executor) End(ctx context.Context, s *Session, reason string) error {
	ended := x.cfg.Approver.EndSession(ctx, s.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ended
	}
	s.closed = true
	x.writeHeld(ctx, s.flood.held)
	s.flood.held = nil
	if !s.recorded {
		return ended
	}
	return errors.Join(ended, x.cfg.Journal.CloseSession(ctx, s.id, reason))
}

// Catalogs returns what the session was served, by tool.
func (s *Session) Catalogs() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.served)
}

// enter counts a call in.
func (s *Session) enter(limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return refusal(CallCancelled, "the session is closed")
	case s.suspended:
		return refusal(ResultWithheld, "this session is suspended: results came back that held a credential too short to mask; a new session needs the operator")
	case s.calls >= limit:
		return refusal(LimitExceeded, fmt.Sprintf("%d calls of this session are open, which is the limit; wait for one to end", limit))
	}
	s.calls++
	return nil
}

func (s *Session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
}

// echoed counts a result that was withheld, and suspends the session at the second.
func (s *Session) echoed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.echoes++
	s.suspended = s.echoes >= 2
}

// flood collects refusals that come faster than the journal should grow.
type flood struct {
	since time.Time
	n     int
	held  map[floodKey]*heldRefusal
}

type floodKey struct{ tool, code string }

type heldRefusal struct {
	last  journal.Activity
	count int
}
