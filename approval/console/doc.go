// Package console is the approval prompt on a terminal.
//
// It shows one request at a time, whole and safe, and takes the answer of the
// person who read it. It decides nothing: the desk behind the Seat does.
//
// # What is on the screen
//
//	== k7f2x  call  ssh_exec  page 2 of 2  (3 more waiting)
//	Action
//	  host: web-1
//	  command, 1432 characters, 2 lines:
//	  | cd /srv/app && echo step-000 ok && echo step-001 ok && echo st
//	  : ep-002 ok
//	  | touch ./ran
//	Your answer
//	  y: yes, this one call
//	  …
//	k7f2x y, e, n [REASON] or b>
//
// Text from elsewhere stands behind a label or behind "  | " (a line begins) and
// "  : " (it goes on); package term made it safe. Lines that begin in the first
// column are the console's own. Nothing is cut, nothing is painted over: the
// console writes plain lines, no escape sequence at all (but for Options.Note), so
// it works the same on a dumb terminal and without colour.
//
// # How an answer is taken
//
// A line ended by Enter. "y", "e", "b" and "n" count when they are the whole
// line; "n REASON" gives a reason. Space or Enter on an empty line shows the next
// page. y and e count only after the last page was shown; n and b at any time; b
// asks once more. Whatever was typed before a page and its prompt were written is
// thrown away, in the kernel's queue and here. If a request left while an answer to
// it was half typed, the first yes to the next one is asked for again. A window that changed its size
// starts again at page one.
//
// The terminal is read key by key without echo of its own (like cbreak mode); signals
// such as Ctrl-C work as usual. Its mode is put back when Run returns.
package console

import (
	"context"
	"errors"
	"os"

	"executor/approval"
	"executor/internal/secret"
)

// A Seat is the console's place at the desk: *approval.Seat on the spot, or a
// connection to it. An error of a method that is none of package approval's
// ends the console.
type Seat interface {
	// Next waits for the next event.
	Next(ctx context.Context) (approval.Event, error)
	// Shown reports that the first page is on the screen: the limit runs.
	Shown(ctx context.Context, id string) error
	// Answer gives a verdict; the errors are those of approval.Seat.
	Answer(ctx context.Context, a approval.Answer) error
	// Awake reports that a key was pressed.
	Awake(ctx context.Context) error
	// Close gives the seat up.
	Close() error
}

// Options set up a console. The zero value is refused: it has no terminal.
type Options struct {
	// Terminal is open for reading and writing, and stays the caller's.
	Terminal *os.File
	// Resized gets a value when the window changed: SIGWINCH through
	// signal.Notify. Nil: the size is looked at before each answer.
	Resized <-chan os.Signal
	// Passphrase verifies the operator's passphrase for level Presence. It must
	// not keep the secret, which is wiped when it returns. Nil: such a request can only be denied here.
	Passphrase func(*secret.Secret) error
	// Bell rings when a request comes onto the screen.
	Bell bool
	// Note sends a desktop note (OSC 9) when a request comes onto the screen: this
	// program's words and the short id. It is the one escape sequence that is written.
	Note bool
	// Once ends Run after one request is settled.
	Once bool
}

// Errors of New and Run.
var (
	// ErrNotTerminal: answers are taken from a terminal only.
	ErrNotTerminal = errors.New("approvals are answered on a terminal, and this is none")
	// ErrHangup: the terminal went away.
	ErrHangup = errors.New("the terminal hung up")
)
