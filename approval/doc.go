// Package approval is the desk at which an operator answers for an agent's calls.
//
// A Desk holds the requests that wait, the answers, and the grants that an
// answer left behind. It knows no terminal and no socket: a console takes a
// Seat, reads Events from it and answers there. Any number of seats may be taken.
//
// The threat is an answer that lets run what the person did not read. So:
//
//   - an answer names the request and its approval digest, and both must match;
//   - it counts only from a seat that reported the request as shown;
//   - a request is settled once, under one lock: of two answers, or of an answer
//     and a cancel, exactly one wins and the other learns that it came late;
//   - Request.Holds is asked inside the same lock: what was shown still holds at
//     redemption, or nothing runs;
//   - a grant is recorded (Config.OnGrant) before it counts;
//   - nobody there, nobody awake, an unknown level, a missing digest: refused.
//
// And the threat is a person worn out: one request is on the screen at a time,
// clients take turns, a client has at most PerClient requests open, a refused
// action is not asked about again for ten minutes, and a session can be blocked,
// with the other sessions of a client that floods the desk.
//
// # Life of a request
//
//	Ask ── refused at once: blocked, denied before, no approver, away, flood
//	 │  ── allowed at once: a grant covers it
//	 ▼
//	waiting ─ its client's turn ─► open on every seat ─ Shown ─► the limit runs
//	                                  │
//	     yes, exact, no, block ◄──────┼──────► expired, changed, session ended,
//	     (Seat.Answer)                │        locked, no approver left
//	                                  ▼
//	                   caller cancels: kept 10 s, takes no answer; one Ask of the
//	                   same session and digest may adopt it
//
// Times are wall clock: an hour asleep in a suspended laptop is an hour.
package approval

import "errors"

// Errors of Ask, to be matched with errors.Is. A cancelled caller gets its
// context's error.
var (
	// ErrNoApprover: no seat is taken, or the operator is away.
	ErrNoApprover = errors.New("nobody is there to approve")
	// ErrDenied: the operator said no, now or in the last ten minutes, or
	// blocked the session, or the request is not one that can be asked about.
	ErrDenied = errors.New("denied by the operator")
	// ErrExpired: shown, or waiting, and not answered in time.
	ErrExpired = errors.New("approval expired, not run")
	// ErrChanged: what was shown no longer holds.
	ErrChanged = errors.New("changed since it was shown")
	// ErrFlood: the client has too many requests open; it may try again later.
	ErrFlood = errors.New("too many requests of this client wait for approval")
	// ErrNotRecorded: the grant could not be made durable, so nothing was allowed.
	ErrNotRecorded = errors.New("the grant could not be recorded")
)

// Errors of a Seat and of Revoke.
var (
	// ErrGone: the request is not open any more. The text says what became of it.
	ErrGone = errors.New("no such open request")
	// ErrCallerGone: the caller cancelled; the request takes no answer.
	ErrCallerGone = errors.New("its caller is gone, it takes no answer")
	// ErrNotShown: this seat did not report the request as shown.
	ErrNotShown = errors.New("the request was not shown here")
	// ErrMismatch: the answer's digest is not the request's.
	ErrMismatch = errors.New("the answer is for another digest")
	// ErrPresence: a yes at level presence came without the passphrase.
	ErrPresence = errors.New("this request needs the passphrase")
	// ErrVerdict: the verdict is unknown, or not one that this level takes.
	ErrVerdict = errors.New("not an answer to this request")
	// ErrLeft: the seat was given up.
	ErrLeft = errors.New("the seat was left")
	// ErrNoGrant: Revoke knows no such grant.
	ErrNoGrant = errors.New("no such grant")
)
