package approval

import (
	"errors"

	"executor/internal/action"
)

// A Request asks for one execution of one action.
type Request struct {
	// ActivityID, SessionID and Tool say whose call this is. SessionID must not be empty.
	ActivityID, SessionID, Tool string
	// Target is where the action goes, for listings: an origin or a host's name.
	Target string
	// Client is the bucket of the flood limit and of the turns on the screen:
	// the peer's parent process, whatever number of sessions it opens.
	Client string
	// Level is Session, Call or Presence. Any other level is refused.
	Level action.Level
	// Digest is the approval digest: what the answer redeems. It covers the
	// action, session, tool, contract and the items involved. Must not be empty.
	Digest string
	// ActionDigest is the digest of what is on the screen. A denial and an
	// "exact" yes are remembered under it. Must not be empty.
	ActionDigest string
	// Scope is what a yes at level Session covers beyond this call, nil for nothing.
	Scope *Scope
	// Sheet is what the operator reads.
	Sheet Sheet
	// Holds is asked at redemption, with the desk locked: it must be quick and
	// must not call the desk. An error means that what was shown holds no more.
	// Nil is refused.
	Holds func() error
}

// A Scope names a set of calls of one session. Two requests with one Key are
// covered by one yes, so Key must hold the versions and digests whose change
// ends the grant. Text says the same to a person; it is foreign text.
type Scope struct {
	Key  string
	Text string
}

// A Sheet is what is shown: sections of fields, in order, all of it.
type Sheet struct {
	Sections []Section
}

// A Section is a part of a sheet. Title is this program's own word.
type Section struct {
	Title  string
	Fields []Field
}

// A Field is one fact. Label is this program's own word; Text is foreign and
// raw: whoever shows it makes it safe.
type Field struct {
	Label string
	Text  string
}

var errIncomplete = errors.New("incomplete request")

// check refuses what a mistake of the caller would otherwise let through.
func (r *Request) check() error {
	switch r.Level {
	case action.Session, action.Call, action.Presence:
	default:
		return errors.New("level " + r.Level.String() + " is not one that is asked about")
	}
	if r.SessionID == "" || r.Digest == "" || r.ActionDigest == "" || r.Holds == nil {
		return errIncomplete
	}
	return nil
}

// slot is what the request takes of its client's allowance: requests that one
// session yes would cover share a slot.
func (r *Request) slot(id string) string {
	if r.Level == action.Session && r.Scope != nil {
		return "scope\x00" + r.SessionID + "\x00" + r.Scope.Key
	}
	return "id\x00" + id
}
