package approval

import (
	"time"

	"executor/internal/action"
)

// Kinds of Event.
const (
	// Opened: Event.Prompt is to be shown.
	Opened = "open"
	// Gone: the request left the screen; Event.Why says what became of it.
	Gone = "gone"
	// CallerGone: the request takes no answer for now.
	CallerGone = "caller_gone"
	// Adopted: a call of the same session took the request over; it takes answers again.
	Adopted = "adopted"
	// Away: new requests are refused until Awake. Back: they are not any more.
	Away = "away"
	Back = "back"
	// Line: Event.Line is a line of activity.
	Line = "line"
)

// An Event is what a seat has to show. Why and Line are foreign text.
type Event struct {
	Kind   string
	ID     string
	Prompt *Prompt
	Why    string
	Line   string
	// Dropped counts the lines of activity that this seat was too slow for,
	// before this one.
	Dropped int
}

// A Prompt is a request as a seat gets it.
type Prompt struct {
	ID           string
	SessionID    string
	Tool         string
	Level        action.Level
	Digest       string
	ActionDigest string
	// Scope says what a yes covers beyond this call, "" for nothing. Foreign text.
	Scope string
	Sheet Sheet
	// Waiting counts the other requests in the queue.
	Waiting int
	// Flooding counts the other sessions of the client that a Block ends too: those
	// with requests open, if the client has half of what it may have open or more.
	Flooding int
	// Limit is how long it may be answered: from Shown on, or what is left of
	// that if another seat has shown it.
	Limit time.Duration
}

// An Attachment says who takes a seat.
type Attachment struct {
	// Name is recorded as the answers' By: "serve terminal", "console on pts/3".
	Name string
	// Only restricts the seat to the open request with that id. Such a seat does
	// not count as an approver for others.
	Only string
}
