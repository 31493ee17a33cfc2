package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/mask"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/journal"

	"github.com/google/uuid"
)

// A Call is what an agent sent.
type Call struct {
	Tool string
	// Arguments are the bytes as received.
	Arguments json.RawMessage
	// Claim is the value of _meta["executor/contract"], if there was one.
	Claim json.RawMessage
	// Stateless: the caller's protocol keeps no state between requests (MCP
	// 2026-07-28), so what its session was served is no evidence.
	Stateless bool
	// Progress, if set, is told what the call waits for. It must not block for long.
	Progress func(message string)
}

// A work is one call on its way through the pipeline.
type work struct {
	*Executor
	session *Session
	call    Call
	began   time.Time
	record  journal.Activity

	snapshot   *contract.Snapshot
	policy     *policy.Generation
	mask       *mask.Set
	origin     contract.Origin
	resolution contract.Resolution
	bound      bound
	held       *policy.Rule // the rule in which the call holds a place, or nil
	digest     string
	started    atomic.Bool
	response   Response

	// level is what is due: the bound one, or a stricter one for what happened before.
	level action.Level
	// key is what the call's idempotency key stands for in its session, or nil.
	key *keptCall
}

// Call takes one call from arguments to result. It always answers, and what it
// answers with was written to the journal first.
func (x *Executor) Call(ctx context.Context, s *Session, c Call) Reply {
	w := &work{Executor: x, session: s, call: c, began: x.cfg.Clock()}

	leave, err := w.admit(ctx)
	if err != nil {
		return w.refuse(ctx, err)
	}
	defer leave()

	for _, step := range []func(context.Context) error{
		w.takeSnapshot,
		w.resolve,
		w.normalize,
		w.recall,
		w.decide,
		w.approve,
		w.intend,
	} {
		if err := step(ctx); err != nil {
			w.session.release(w.key)
			return w.refuse(ctx, err)
		}
	}

	failure := w.execute(ctx)
	result := w.shape(context.WithoutCancel(ctx), failure)
	err = w.settle(ctx, result)
	if err != nil {
		result.reply = w.notRecorded()
	}
	w.session.keep(w.key, w.record.ActivityID, result)
	return result.reply
}

// admit lets the call in, and gives it its id.
func (w *work) admit(ctx context.Context) (leave func(), err error) {
	id, err := uuid.NewV7FromReader(w.cfg.Rand)
	if err != nil {
		return nil, fmt.Errorf("activity id: %w", err)
	}
	w.record = journal.Activity{
		ActivityID: id.String(), SessionID: w.session.id, Time: w.began,
		Tool: w.call.Tool, HandlerBuild: w.cfg.Build,
	}
	if !w.enter() {
		return nil, ErrDraining
	}
	if err := w.admitted(ctx); err != nil {
		w.open.Done()
		return nil, err
	}
	return func() { w.session.leave(); w.open.Done() }, nil
}

func (w *work) admitted(ctx context.Context) error {
	if n := len(w.call.Arguments); n > w.cfg.Limits.ArgumentBytes {
		return refusal(LimitExceeded, fmt.Sprintf("the arguments have %d bytes; %d are allowed", n, w.cfg.Limits.ArgumentBytes))
	}
	err := w.cfg.Journal.Writable(ctx)
	if err == nil {
		err = w.Executor.record(ctx, w.session)
	}
	if err != nil {
		return &Refusal{Code: JournalUnavailable, Message: "journal unavailable, action not run: nothing is done that cannot be written down first", Cause: err}
	}
	if w.cfg.Approver.Blocked(w.session.id) {
		return refusal(ApprovalDenied, "the operator blocked this session")
	}
	return w.session.enter(w.cfg.Limits.CallsPerSession)
}

// takeSnapshot reads what the call is judged by, once.
func (w *work) takeSnapshot(ctx context.Context) (err error) {
	w.snapshot = w.contract.Load()
	_, w.record.KnownTool = w.snapshot.Tool(w.call.Tool)
	w.policy, w.mask, err = w.cfg.Credentials.Current()
	if err != nil {
		return err
	}
	if err := w.tally.learn(ctx, w.policy, w.cfg.Journal); err != nil {
		return &Refusal{Code: JournalUnavailable, Message: "journal unavailable, action not run: it cannot be asked how often a rule was used", Cause: err}
	}
	if name, found := w.mask.Contains(w.call.Arguments); found {
		return refusal(CredentialInArgs, fmt.Sprintf("the arguments contain the secret of credential %q; leave it out, it is added on the way", name))
	}
	if mask.HasMask(string(w.call.Arguments)) {
		return refusal(CredentialInArgs, "the arguments contain a mask such as [credential NAME], which stands for a secret that you do not hold; leave it out")
	}
	return nil
}

// resolve finds the contract that the call was built on and decodes its arguments by it.
func (w *work) resolve(context.Context) error {
	claim, err := contract.ParseClaim(w.call.Claim)
	if err != nil {
		return &Refusal{Code: InvalidArguments, Message: err.Error()}
	}
	w.origin = contract.Origin{Claim: claim, Opened: w.session.opened, Stateless: w.call.Stateless, Now: w.began}
	if !w.call.Stateless {
		w.origin.Served = w.session.servedRevision(w.call.Tool)
	}
	w.record.DeclaredRevision = w.origin.Served
	if claim != nil {
		w.record.DeclaredRevision = claim.Revision
	}
	if w.resolution, err = w.snapshot.Resolve(w.call.Tool, w.call.Arguments, w.origin); err != nil {
		return err
	}
	w.record.SchemaRevision = w.resolution.Current.Revision
	w.record.DeclaredRevision = w.resolution.Declared
	w.record.RevisionEvidence = w.resolution.Evidence
	w.record.ContractDigest = w.resolution.Current.Digest()
	w.record.Adapter = w.resolution.Adapter
	return nil
}

// normalize makes the action: target and credential bound, in its final bytes.
func (w *work) normalize(context.Context) (err error) {
	if err := w.judge(); err != nil {
		return err
	}
	a := w.bound.action
	canonical, err := action.Canonical(a)
	if err != nil {
		return err
	}
	w.digest = action.Sum(canonical)
	w.record.NormalizedArgs = canonical
	w.record.ActionDigest = w.digest
	w.record.DownstreamTarget = a.Target()
	if c := a.Cred(); c != nil {
		w.record.Credential = &journal.Credential{Name: c.Name, Version: c.Version}
	}
	return nil
}

// decide says how much of the operator the action needs.
func (w *work) decide(ctx context.Context) error {
	if err := w.weigh(ctx); err != nil {
		return err
	}
	w.record.Decision.Level = w.level.String()
	if w.level == action.Deny {
		w.record.Decision.Result = journal.Denied
		if w.bound.rule != nil {
			w.record.Decision.Basis = w.bound.rule.Text()
		}
		return refusal(DeniedByRule, "the operator's rules deny this action")
	}
	return nil
}

// approve asks the operator, where that is due.
func (w *work) approve(ctx context.Context) error {
	if w.level == action.None {
		w.record.Decision.Result, w.record.Decision.Basis = journal.Allowed, w.bound.basis()
		return nil
	}
	request, err := w.request()
	if err != nil {
		return err
	}
	d, settled, err := w.cfg.Approver.Settled(ctx, request)
	if !settled {
		d, err = w.ask(ctx, request)
	}
	d.Reason, _ = w.mask.String(d.Reason, "")
	w.record.Decision = journal.Decision{
		Result: d.Result, Level: w.level.String(), By: d.By, Basis: d.Basis, Reason: d.Reason,
		ApprovalID: d.ApprovalID, ShownDigest: d.ShownDigest, ApprovalDigest: request.Digest,
	}
	if err != nil {
		return approvalRefusal(d, err)
	}
	if d.Result != journal.Allowed {
		return fmt.Errorf("approval ended as %q without an error", d.Result)
	}
	if d.Basis == approval.BasisAsked {
		w.noticeYes()
	}
	return nil
}

// ask shows the action and waits for the answer.
func (w *work) ask(ctx context.Context, r approval.Request) (d approval.Decision, err error) {
	if r.Sheet, err = w.sheet(ctx); err != nil {
		return approval.Decision{}, err
	}
	defer w.keepInformed()()
	return w.cfg.Approver.Ask(ctx, r)
}

// intend makes the intent durable; without that nothing runs.
func (w *work) intend(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.record.RawArgs = string(w.call.Arguments)
	if _, err := w.cfg.Journal.Intend(ctx, w.record); err != nil {
		return &Refusal{Code: JournalUnavailable, Message: "journal unavailable, action not run: the intent could not be written down", Cause: err}
	}
	w.letGo(true)
	return nil
}

// execute leases the credential that was bound and runs the action.
func (w *work) execute(ctx context.Context) error {
	runner, ok := w.cfg.Runners[w.bound.action.Kind()]
	if !ok {
		return fmt.Errorf("no runner for actions of kind %q", w.bound.action.Kind())
	}
	lease, err := w.cfg.Credentials.Lease(w.bound.action)
	if err != nil {
		return &RunError{Code: VaultLocked, Message: "the credential that was bound is no longer at hand; nothing was sent", Detail: err}
	}
	defer lease.Wipe()
	if lease != nil {
		lease.Learn = func(derived *secret.Secret) bool { return w.mask.Learn(lease.Meta.Name, derived) }
		lease.Activity = w.record.ActivityID
	}
	w.response, err = w.run(ctx, runner, lease)
	if err != nil && ctx.Err() != nil {
		return &RunError{Code: CallCancelled, Message: cancelledText(w.started.Load()), Detail: err}
	}
	return err
}

// run keeps a runner's panic to the one call: its intent is written, so its outcome
// is due.
func (w *work) run(ctx context.Context, runner Runner, lease *Lease) (r Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("panic in the runner of %s: %v\n%s", w.bound.action.Kind(), p, debug.Stack())
		}
	}()
	return runner.Run(ctx, w.bound.action, lease, func() { w.started.Store(true) })
}

func cancelledText(started bool) string {
	if started {
		return "the caller cancelled the call after it had begun; what was sent cannot be taken back"
	}
	return "the caller cancelled the call before anything was sent"
}

// settle writes the outcome, whatever became of the caller.
func (w *work) settle(ctx context.Context, r shaped) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.cfg.Limits.SettleTime)
	defer cancel()
	w.record.Outcome, w.record.Downstream = r.outcome, r.downstream
	_, err := w.cfg.Journal.Settle(ctx, w.record.ActivityID, w.session.id, r.outcome, r.downstream)
	w.tell()
	return err
}

// refuse writes the one entry of a call that was stopped before its intent.
func (w *work) refuse(ctx context.Context, err error) Reply {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.cfg.Limits.SettleTime)
	defer cancel()
	w.letGo(false)
	var again *replay
	if errors.As(err, &again) {
		return w.replay(ctx, again)
	}
	r := asRefusal(err)
	w.trouble(r.Cause)
	w.record.RawArgs = w.recordable()
	w.record.Outcome = journal.Outcome{
		Status: r.status(), ErrorCode: string(r.Code),
		DurationMS: w.cfg.Clock().Sub(w.began).Milliseconds(),
	}
	// A refusal that cannot be written down is still a refusal: nothing was done.
	_ = w.writeRefusal(ctx, w.session, w.record)
	w.tell()
	return w.refused(r)
}
