package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/policy"
)

// waiting is what such a caller hears.
const waiting = "waiting for the operator's approval"

// informEvery is how often a waiting caller that asked for it hears that it waits.
const informEvery = 10 * time.Second

// request is what the operator is asked: the action itself, bound by its digest.
func (w *work) request() (approval.Request, error) {
	digest, err := w.approvalDigest()
	if err != nil {
		return approval.Request{}, err
	}
	r := approval.Request{
		ActivityID: w.record.ActivityID, SessionID: w.session.id, Tool: w.call.Tool, Target: w.bound.action.Target(),
		Client: w.session.client(), Level: w.level, Digest: digest, ActionDigest: w.digest,
		Holds: w.holds(w.held),
	}
	if w.scope() != "" {
		r.Scope = &approval.Scope{Key: w.scopeKey(), Text: w.scope()}
	}
	return r, nil
}

// approvalDigest is what an answer redeems: the action under one contract, for
// one session, by the versions of the items that were involved.
func (w *work) approvalDigest() (string, error) {
	raw, err := json.Marshal(struct {
		Action   string       `json:"action"`
		Session  string       `json:"session"`
		Tool     string       `json:"tool"`
		Contract string       `json:"contract"`
		Adapter  string       `json:"adapter"`
		Items    []policy.Ref `json:"items"`
		Level    action.Level `json:"level"`
	}{w.digest, w.session.id, w.call.Tool, w.record.ContractDigest, w.record.Adapter,
		slices.Concat(w.bound.items, w.bound.ruling.Items), w.level})
	if err != nil {
		return "", err
	}
	return action.Sum(raw), nil // the fields above are one order and one spelling
}

// scopeKey names what a session yes covers: it changes with the contract, the
// binding, the rule and every version that takes part.
func (w *work) scopeKey() string {
	key := w.call.Tool + "|" + w.record.ContractDigest + "|" + w.bound.scope
	if w.bound.exact {
		key += "|" + w.digest
	}
	for _, it := range w.bound.items {
		key += fmt.Sprintf("|%s/%s@%d", it.Kind, it.Name, it.Version)
	}
	return key
}

var errMoved = errors.New("what was shown no longer holds")

// holds is asked at redemption: would this call, judged now, still be this action
// under this contract at this level, by the same rule? mine is the rule in which
// the call holds a place.
func (w *work) holds(mine *policy.Rule) func() error {
	return func() error {
		g, _, err := w.cfg.Credentials.Current()
		if err != nil {
			return err
		}
		snapshot := w.contract.Load()
		if snapshot == w.snapshot && g == w.policy && w.resolution.Old == nil && len(g.Rules()) == 0 {
			return nil // both are immutable, and no window or rule ends by time or count
		}
		origin := w.origin
		origin.Now = w.cfg.Clock()
		now, err := snapshot.Resolve(w.call.Tool, w.call.Arguments, origin)
		if err != nil || now.Contract.Digest() != w.resolution.Contract.Digest() {
			return errors.Join(errMoved, err)
		}
		again, err := judged(g, now, w.question(mine))
		if err != nil {
			return errors.Join(errMoved, err)
		}
		digest, err := action.Digest(again.action)
		if err != nil || digest != w.digest || again.level != w.bound.level || ref(again.rule) != ref(w.bound.rule) {
			return errMoved
		}
		return nil
	}
}

// ref names a rule's version; the zero Ref is no rule.
func ref(r *policy.Rule) policy.Ref {
	if r == nil {
		return policy.Ref{}
	}
	return r.Ref()
}

// keepInformed tells the caller that it waits, at once and then at intervals,
// until stop is called.
func (w *work) keepInformed() (stop func()) {
	if w.call.Progress == nil {
		return func() {}
	}
	// The first word goes out before anybody can answer: a client may drop what
	// reaches it together with the reply.
	w.call.Progress(waiting)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(informEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.call.Progress(waiting)
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// client is the bucket of the flood limits: the process that started the peer.
func (s *Session) client() string {
	if p, ok := s.info.Peer.Parent(); ok {
		return "pid " + strconv.Itoa(p.PID)
	}
	return "pid " + strconv.Itoa(s.info.Peer.PID)
}
