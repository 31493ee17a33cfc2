package contract

import (
	"encoding/json"
	"errors"
	"fmt"

	"executor/internal/strictjson"
)

// MetaKey is the key under which a contract is named in _meta: on each tool of
// tools/list, on every call result, and by a caller that declares what its call
// was built on.
const MetaKey = "executor/contract"

// ErrUnknownTool is returned for a name that no contract has.
var ErrUnknownTool = errors.New("unknown tool")

// Evidence of the revision that a call was built on, strongest first.
const (
	FromMeta    = "meta"    // the caller declared it in _meta
	FromSession = "session" // the one revision that this session was served
	FromNothing = "none"
)

// A Claim is what a caller's _meta says of the contract that its call was built on.
type Claim struct {
	Revision int    `json:"revision"`
	Digest   string `json:"digest"`
	// Accepts is on what this program sends; it is read and not used.
	Accepts []int `json:"accepts,omitempty"`
}

// ParseClaim reads the value of _meta["executor/contract"]; nil when there is none.
func ParseClaim(raw json.RawMessage) (*Claim, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var c Claim
	if err := strictjson.Decode(raw, &c); err != nil {
		return nil, fmt.Errorf("_meta[%q]: %w", MetaKey, err)
	}
	if c.Revision < 1 {
		return nil, fmt.Errorf("_meta[%q]: revision: a whole number from 1 up is due", MetaKey)
	}
	return &c, nil
}

// A Resolution is the contract that a call is judged by, and why.
type Resolution struct {
	Contract *Contract
	Evidence string
	// Declared is the revision that the evidence names, 0 for none.
	Declared int
}

// A StaleError refuses a call that was built on a contract which is not served.
type StaleError struct {
	Tool     string
	Declared int
	Current  *Contract
	Reason   string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("this call was built on revision %d of %s; %s", e.Declared, e.Tool, e.Reason)
}

// Resolve says which contract a call of a tool was built on. claim is what the
// caller declared, or nil; served is the one revision that its session was
// served, or 0 when that is none or not one.
func (s *Snapshot) Resolve(tool string, claim *Claim, served int) (Resolution, error) {
	current, ok := s.tools[tool]
	if !ok {
		return Resolution{}, ErrUnknownTool
	}
	switch {
	case claim != nil:
		return current.declared(claim)
	case served == 0:
		return Resolution{Contract: current, Evidence: FromNothing}, nil
	case served != current.Revision:
		return Resolution{}, current.stale(served)
	}
	return Resolution{Contract: current, Evidence: FromSession, Declared: served}, nil
}

func (c *Contract) declared(claim *Claim) (Resolution, error) {
	if claim.Revision != c.Revision {
		return Resolution{}, c.stale(claim.Revision)
	}
	if claim.Digest != "" && claim.Digest != c.digest {
		return Resolution{}, &StaleError{c.Tool, claim.Revision, c, "the digest that it declares belongs to another contract"}
	}
	return Resolution{Contract: c, Evidence: FromMeta, Declared: claim.Revision}, nil
}

func (c *Contract) stale(declared int) error {
	reason := fmt.Sprintf("the current revision is %d", c.Revision)
	if declared > c.Revision {
		reason += ", which is older"
	}
	return &StaleError{c.Tool, declared, c, reason}
}
