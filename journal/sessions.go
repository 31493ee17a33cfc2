package journal

import (
	"context"
	"fmt"
	"time"
)

func sessionEntry(kind, id string) (*entry, error) {
	if id == "" {
		return nil, fmt.Errorf("%s entry: %w: no session id", kind, ErrInvalid)
	}
	return &entry{body: body{Kind: kind, SessionID: id}, needs: roomHalf}, nil
}

// OpenSession records the beginning of a session: SessionID, Transport, SameUID,
// Client and Peer of s; the rest is recorded as it comes.
func (j *Journal) OpenSession(ctx context.Context, s Session) error {
	e, err := sessionEntry(kindOpen, s.SessionID)
	if err != nil {
		return err
	}
	if err := validJSON(s.Peer); err != nil {
		return fmt.Errorf("session.open entry: peer: %w", err)
	}
	e.body.Session = &sessionBody{Transport: s.Transport, SameUID: s.SameUID}
	e.texts.add(fieldClientName, s.Client.Name)
	e.texts.add(fieldClientVersion, s.Client.Version)
	e.texts.add(fieldClientProtocol, s.Client.Protocol)
	e.texts.add(fieldPeer, jsonText(s.Peer))
	_, err = j.append(ctx, e)
	return err
}

// CloseSession records the end of a session. It needs no disk reserve.
func (j *Journal) CloseSession(ctx context.Context, id, reason string) error {
	e, err := sessionEntry(kindClose, id)
	if err != nil {
		return err
	}
	e.needs = roomNone
	e.texts.add(fieldReason, reason)
	_, err = j.append(ctx, e)
	return err
}

// AddCatalog records one answer to tools/list; the journal gives its Time. The
// tools are names from the registry.
func (j *Journal) AddCatalog(ctx context.Context, sessionID string, c Catalog) error {
	e, err := sessionEntry(kindCatalog, sessionID)
	if err != nil {
		return err
	}
	e.body.Catalog = &catalogBody{Digest: c.Digest, Tools: c.Tools}
	_, err = j.append(ctx, e)
	return err
}

// AddGrant records a yes that covers more than one call: ID, Scope, By and
// Expires of g. The journal gives its Time.
func (j *Journal) AddGrant(ctx context.Context, sessionID string, g Grant) error {
	e, err := sessionEntry(kindGrant, sessionID)
	if err != nil {
		return err
	}
	if g.ID == "" {
		return fmt.Errorf("session.grant entry: %w: no grant id", ErrInvalid)
	}
	e.body.Grant = &grantBody{ID: g.ID}
	if g.Expires != nil {
		e.body.Grant.Expires = g.Expires.UTC().Format(time.RFC3339Nano)
	}
	e.texts.add(fieldScope, g.Scope)
	e.texts.add(fieldBy, g.By)
	_, err = j.append(ctx, e)
	return err
}

// EndGrant records that a grant ended before its time, and by whom.
func (j *Journal) EndGrant(ctx context.Context, sessionID, grantID, by string) error {
	e, err := sessionEntry(kindGrantEnd, sessionID)
	if err != nil {
		return err
	}
	if grantID == "" {
		return fmt.Errorf("session.grant_end entry: %w: no grant id", ErrInvalid)
	}
	e.body.Grant = &grantBody{ID: grantID}
	e.texts.add(fieldBy, by)
	_, err = j.append(ctx, e)
	return err
}
