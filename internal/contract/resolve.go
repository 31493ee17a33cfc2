package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"executor/internal/action"
	"executor/internal/strictjson"
)

// MetaKey is the key under which a contract is named in _meta: on each tool of
// tools/list, on every call result, and by a caller that declares what its call
// was built on.
const MetaKey = "executor/contract"

// ErrUnknownTool is returned for a name that no tool ever had.
var ErrUnknownTool = errors.New("unknown tool")

// A RemovedError refuses a call of a tool that was retired.
type RemovedError struct{ Tool, Replacement string }

func (e *RemovedError) Error() string {
	if e.Replacement == "" {
		return "the tool " + e.Tool + " is gone, and nothing replaces it"
	}
	return "the tool " + e.Tool + " is gone; its replacement is " + e.Replacement
}

// Evidence of the revision that a call was built on, strongest first.
const (
	FromArgument = "argument" // the argument contract_revision
	FromMeta     = "meta"     // the caller declared it in _meta
	FromSession  = "session"  // the one revision that this session was served
	FromNothing  = "none"
)

// An Origin is what is known of where a call comes from.
type Origin struct {
	// Claim is what the caller's _meta declared, or nil.
	Claim *Claim
	// Served is the one revision that its session was served, 0 for none or several.
	Served int
	// Opened is when its session was opened; Stateless says that it has none.
	Opened    time.Time
	Stateless bool
	Now       time.Time
}

// A Resolution is what a call means: the contract that it was built on, the one
// that it runs under, and what both make of it.
type Resolution struct {
	// Contract is the one that the call was built on; its result has that shape.
	Contract *Contract
	// Current is the one that it runs under.
	Current  *Contract
	Evidence string
	// Declared is the revision that the evidence names, 0 for none.
	Declared int
	// Adapter says what was changed to get from Contract to Current, "" for nothing.
	Adapter string
	Draft   Draft
	// Old is the draft by Contract, where that is not Current: the two must make one
	// and the same action, or the call is refused (Mismatch).
	Old Draft
}

// A StaleError refuses a call that was built on a contract which is not accepted.
type StaleError struct {
	Tool     string
	Declared int // 0: not known
	Current  *Contract
	Reason   string
	// Problems are what the arguments lack or have too many under the current contract.
	Problems action.Problems
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("this call of %s was built on %s; %s", e.Tool, revisionText(e.Declared), e.Reason)
}

func revisionText(n int) string {
	if n == 0 {
		return "an earlier revision"
	}
	return fmt.Sprintf("revision %d", n)
}

// Mismatch refuses an adapted call whose old and new rendering are not one action.
func (r Resolution) Mismatch() error {
	return &StaleError{
		Tool: r.Current.Tool, Declared: r.Contract.Revision, Current: r.Current,
		Reason: fmt.Sprintf("under revision %d it would be another action", r.Current.Revision),
	}
}

// Resolve says which contract a call was built on and what it means under the
// current one. Errors: ErrUnknownTool, *RemovedError, *StaleError, and
// action.Problems for arguments that never fitted.
func (s *Snapshot) Resolve(tool string, args json.RawMessage, o Origin) (Resolution, error) {
	t, ok := s.tools[tool]
	if !ok {
		return Resolution{}, ErrUnknownTool
	}
	if t.Current == nil {
		return Resolution{}, &RemovedError{tool, t.Replacement}
	}
	q := &question{Tool: t, origin: o}
	if err := q.read(args); err != nil {
		return Resolution{}, err
	}
	switch {
	case q.token != "":
		return q.byToken()
	case o.Claim != nil:
		return q.byClaim()
	}
	return q.byShape()
}

// A question is one call on its way through Resolve.
type question struct {
	*Tool
	origin Origin
	args   json.RawMessage // without the token
	token  string
}

// read takes the argument contract_revision out, where the tool ever declared it.
func (q *question) read(args json.RawMessage) error {
	q.args = args
	if len(args) == 0 {
		q.args = json.RawMessage("{}")
	}
	if !q.declares() {
		return nil
	}
	members, err := strictjson.Members(q.args)
	if err != nil {
		return asProblems(err)
	}
	raw, given := members[RevisionArgument]
	if !given {
		return nil
	}
	if err := json.Unmarshal(raw, &q.token); err != nil || q.token == "" {
		return action.Problems{{Path: "/" + RevisionArgument, Problem: "the value that tools/list shows is due"}}
	}
	delete(members, RevisionArgument)
	q.args, err = encodeMembers(members)
	return err
}

func (t *Tool) declares() bool {
	for _, r := range t.revisions {
		if r.contract.Declares() {
			return true
		}
	}
	return false
}

func (q *question) byToken() (Resolution, error) {
	for _, r := range q.revisions {
		c := r.contract
		if !c.Declares() || c.Token() != q.token {
			continue
		}
		if cl := q.origin.Claim; cl != nil && (cl.Revision != c.Revision || cl.Digest != "" && cl.Digest != c.digest) {
			return Resolution{}, q.stale(c.Revision, "its argument and its _meta name different contracts")
		}
		return q.built(c, FromArgument)
	}
	return Resolution{}, q.stale(0, "its contract_revision is none that was served here")
}

func (q *question) byClaim() (Resolution, error) {
	claim := q.origin.Claim
	r := q.revision(claim.Revision)
	switch {
	case claim.Revision > q.Current.Revision:
		return Resolution{}, q.stale(claim.Revision, fmt.Sprintf("the current revision is %d, which is older", q.Current.Revision))
	case r == nil:
		return Resolution{}, q.stale(claim.Revision, "that revision was never served here")
	case claim.Digest != "" && claim.Digest != r.contract.digest:
		return Resolution{}, q.stale(claim.Revision, "the digest that it declares belongs to another contract")
	case r.contract.Declares():
		return Resolution{}, q.stale(claim.Revision, "the argument contract_revision is missing; only its value in tools/list declares this revision")
	}
	return q.built(r.contract, FromMeta)
}

// built resolves a call that was certainly built on c.
func (q *question) built(c *Contract, evidence string) (Resolution, error) {
	r := Resolution{Contract: c, Current: q.Current, Evidence: evidence, Declared: c.Revision}
	if c == q.Current {
		var err error
		r.Draft, err = c.Render(q.args)
		return r, err
	}
	w, ok := q.window(c.Revision)
	if !ok {
		return Resolution{}, q.stale(c.Revision, fmt.Sprintf("the current revision is %d, and calls of revision %d are not accepted any more", q.Current.Revision, c.Revision))
	}
	if why := w.Ended(q.origin); why != "" {
		return Resolution{}, q.stale(c.Revision, fmt.Sprintf("revision %d %s", c.Revision, why))
	}
	return q.adapted(r)
}

// adapted validates against the old contract, adapts, and renders both.
func (q *question) adapted(r Resolution) (Resolution, error) {
	var err error
	if r.Old, err = r.Contract.Render(q.args); err != nil {
		return Resolution{}, err
	}
	args, words, err := q.Adapt(r.Contract.Revision, q.args)
	if err == nil {
		r.Draft, err = q.Current.Render(args)
	}
	if err != nil {
		return Resolution{}, q.stale(r.Contract.Revision, "what its adapter makes of it does not fit revision "+fmt.Sprint(q.Current.Revision))
	}
	r.Adapter = words
	return r, nil
}

// byShape resolves a call with weak or no evidence: by what its arguments fit.
func (q *question) byShape() (Resolution, error) {
	r := Resolution{Contract: q.Current, Current: q.Current, Evidence: FromNothing}
	if q.origin.Served > 0 {
		r.Evidence, r.Declared = FromSession, q.origin.Served
	}
	draft, err := q.Current.Render(q.args)
	if err == nil && !q.Current.Declares() && len(q.overlaps) == 0 {
		r.Draft = draft
		return q.servedShape(r), nil
	}
	older, n := q.older()
	if n == 1 {
		r.Contract = older
		return q.adapted(r)
	}
	var problems action.Problems
	if errors.As(err, &problems) && !q.onceFitted() {
		return Resolution{}, problems
	}
	reason := fmt.Sprintf("the current revision is %d", q.Current.Revision)
	if n > 1 {
		reason += ", and it fits more than one earlier revision"
	}
	return Resolution{}, q.stale(q.origin.Served, reason)
}

// servedShape gives the result the shape of the revision that the session was
// served. Where that one takes the arguments too, both renderings are compared.
func (q *question) servedShape(r Resolution) Resolution {
	served := q.revision(q.origin.Served)
	if served == nil || served.contract == q.Current {
		return r
	}
	if old, err := served.contract.Render(q.args); err == nil {
		r.Contract, r.Old, r.Adapter = served.contract, old, fmt.Sprintf("revision %d, taken as it is", q.origin.Served)
	}
	return r
}

// older is the accepted earlier revision that takes the arguments, and how many
// do. Where the one that the session was served takes them, it is that one or none:
// the call would not mean another.
func (q *question) older() (one *Contract, n int) {
	served := q.revision(q.origin.Served)
	taken := served != nil && fits(served.contract, q.args)
	for _, r := range q.revisions {
		c := r.contract
		w, ok := q.window(c.Revision)
		if c == q.Current || !ok || c.Declares() || w.Ended(q.origin) != "" || taken && r != served {
			continue
		}
		if fits(c, q.args) {
			one, n = c, n+1
		}
	}
	return one, n
}

func fits(c *Contract, args json.RawMessage) bool {
	_, err := c.Render(args)
	return err == nil
}

// onceFitted reports whether any revision that once was would take the arguments.
func (q *question) onceFitted() bool {
	for _, r := range q.revisions {
		if fits(r.contract, q.args) {
			return true
		}
	}
	return false
}

func (q *question) stale(declared int, reason string) error {
	e := &StaleError{Tool: q.Name, Declared: declared, Current: q.Current, Reason: reason}
	_, err := q.Current.Render(q.args)
	errors.As(err, &e.Problems)
	return e
}
