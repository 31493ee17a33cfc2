package console

import (
	"context"
	"errors"

	"executor/approval"
	"executor/internal/action"
	"executor/internal/secret"
	"executor/internal/term"
)

// typed takes the keys of one read. Each key is looked at only if nothing was
// flushed since it was read: a page that comes up makes the rest old.
func (s *session) typed(ctx context.Context, k keys) error {
	defer clear(k.bytes)
	if s.away {
		if err := s.seat.Awake(ctx); err != nil {
			return err
		}
	}
	for _, b := range k.bytes {
		if k.era != s.tty.era.Load() {
			return nil
		}
		if err := s.key(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) key(ctx context.Context, b byte) error {
	did, echo := s.line.key(b)
	switch {
	case did == entered && s.cur == nil:
		return s.idle()
	case did == entered && len(s.line.buf) == 0 && s.cur.ask == askVerdict,
		did == space && s.cur != nil && s.cur.ask == askVerdict:
		return s.turn()
	case did == entered:
		return s.entered(ctx)
	case s.cur != nil:
		return s.tty.write(echo)
	}
	return nil
}

// idle answers a line that was typed while nothing is on the screen: mostly a
// yes that came too late.
func (s *session) idle() error {
	s.line.reset()
	if s.last != "" {
		return s.say(term.Safe(s.last))
	}
	return s.say("no request is waiting")
}

func (s *session) entered(ctx context.Context) error {
	switch s.cur.ask {
	case askPassphrase:
		return s.passphrase(ctx)
	case askBlock:
		if string(s.line.buf) != "b" || s.line.tooLong {
			return s.page("not blocked")
		}
		return s.send(ctx, approval.Answer{Verdict: approval.Block})
	}
	if r := s.cur; r.cols != s.cols() || r.rows != s.rows() {
		return s.resized()
	}
	v, reason, ok := verdict(string(s.line.buf))
	switch {
	case !ok || s.line.tooLong || (v == approval.Exact && s.cur.Level == action.Presence):
		return s.page("that is no answer: " + s.cur.choices())
	case s.cur.callerGone:
		return s.page("its caller is gone, it takes no answer")
	case v == approval.Block:
		s.cur.ask = askBlock
		return s.prompt("\nb again blocks the session")
	case v != approval.No && !s.cur.complete:
		return s.page("read it to the end first: Space shows more")
	case v != approval.No && s.halfway:
		s.halfway = false
		return s.page("this is another request than the one you began to answer; again")
	case v == approval.Yes && s.cur.Level == action.Presence:
		return s.askPassphrase()
	}
	return s.send(ctx, approval.Answer{Verdict: v, Reason: reason})
}

func (r *request) choices() string {
	switch {
	case !r.complete:
		return "n, n REASON or b"
	case r.Level == action.Presence:
		return "y, n, n REASON or b"
	}
	return "y, e, n, n REASON or b"
}

func (s *session) askPassphrase() error {
	if s.opts.Passphrase == nil {
		return s.page("no passphrase can be checked here")
	}
	s.cur.ask, s.line.hidden = askPassphrase, true
	return s.prompt("\npassphrase")
}

// passphrase verifies what was typed and gives the yes.
func (s *session) passphrase(ctx context.Context) error {
	if len(s.line.buf) == 0 || s.line.tooLong {
		return s.page("no passphrase, no answer")
	}
	pass := secret.New(append(make([]byte, 0, len(s.line.buf)), s.line.buf...))
	s.line.reset()
	err := s.opts.Passphrase(pass)
	pass.Wipe()
	if err != nil {
		return s.page("not accepted: " + term.Safe(err.Error()))
	}
	return s.send(ctx, approval.Answer{Verdict: approval.Yes, Presence: true})
}

// send gives the verdict. A request that is still open stays on the screen.
func (s *session) send(ctx context.Context, a approval.Answer) error {
	a.ID, a.Digest = s.cur.ID, s.cur.Digest
	s.halfway = false
	err := s.seat.Answer(ctx, a)
	switch {
	case err == nil:
		s.last = ""
		return s.finish("\n** " + a.ID + ": " + done(a.Verdict))
	case errors.Is(err, approval.ErrGone), errors.Is(err, approval.ErrChanged), errors.Is(err, approval.ErrNotRecorded):
		s.last = a.ID + " " + err.Error()
		return s.finish("\n** " + a.ID + ": " + term.Safe(err.Error()))
	case errors.Is(err, approval.ErrCallerGone), errors.Is(err, approval.ErrMismatch), errors.Is(err, approval.ErrNotShown),
		errors.Is(err, approval.ErrPresence), errors.Is(err, approval.ErrVerdict):
		return s.page(term.Safe(err.Error()))
	}
	return err
}

func done(v approval.Verdict) string {
	switch v {
	case approval.No:
		return "denied"
	case approval.Block:
		return "denied, the session is blocked"
	case approval.Exact:
		return "allowed, and the same again for a while"
	}
	return "allowed"
}
