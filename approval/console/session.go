package console

import (
	"context"
	"errors"
	"fmt"

	"executor/approval"
	"executor/internal/term"
)

var errDone = errors.New("the one request is settled")

// maxHeld is how many lines of activity are kept back while a request is on the screen.
const maxHeld = 1000

// A session is one run of a console. All of it happens in one goroutine.
type session struct {
	opts Options
	tty  *tty
	seat Seat
	line *line

	cur  *request // on the screen, nil while idle
	last string   // what became of the last request that left unanswered here
	away bool
	// halfway: a request went away while an answer to it was being typed, so the
	// next yes may be meant for that one.
	halfway bool

	held    []string // lines of activity, kept back
	skipped int      // how many more there were
}

// A request is what is on the screen.
type request struct {
	*approval.Prompt
	*screen
	at         int // the page
	complete   bool
	callerGone bool
	ask        question
}

// A question is what the next line answers.
type question int

const (
	askVerdict question = iota
	askPassphrase
	askBlock
)

func (s *session) run(ctx context.Context, events <-chan approval.Event, typed <-chan keys) error {
	if err := s.say("approval console: requests appear here"); err != nil {
		return err
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-events:
			err = s.event(ctx, e)
		case k := <-typed:
			err = s.typed(ctx, k)
		case <-s.opts.Resized:
			err = s.resized()
		}
		if err != nil {
			return err
		}
	}
}

func (s *session) event(ctx context.Context, e approval.Event) error {
	current := s.cur != nil && s.cur.ID == e.ID
	switch e.Kind {
	case approval.Opened:
		return s.open(ctx, e.Prompt)
	case approval.Gone:
		if current {
			s.last = e.ID + " " + e.Why
			s.halfway = len(s.line.buf) > 0
			return s.finish("\n** " + e.ID + ": " + term.Safe(e.Why))
		}
	case approval.CallerGone:
		if current {
			s.cur.callerGone = true
			return s.page("caller gone: " + e.ID + " takes no answer for now")
		}
	case approval.Adopted:
		if current {
			s.cur.callerGone = false
			return s.page("asked again by the same session")
		}
	case approval.Away:
		s.away = true
		return s.activity("away: new requests are refused until a key is pressed here")
	case approval.Back:
		s.away = false
	case approval.Line:
		if e.Dropped > 0 {
			s.activity(fmt.Sprintf("(%d lines left out)", e.Dropped))
		}
		return s.activity(e.Line)
	}
	return nil
}

// open puts a request on the screen. The limit runs once its first page is there.
func (s *session) open(ctx context.Context, p *approval.Prompt) error {
	s.line.reset()
	s.cur = &request{Prompt: p, screen: newScreen(p, s.cols(), s.rows())}
	if err := s.call(p.ID); err != nil {
		return err
	}
	if err := s.page(""); err != nil {
		return err
	}
	err := s.seat.Shown(ctx, p.ID)
	if errors.Is(err, approval.ErrGone) {
		return nil // its Gone event is on the way
	}
	return err
}

// call draws a person to the screen, as far as that was asked for. The id is the
// desk's own: letters and digits.
func (s *session) call(id string) error {
	text := ""
	if s.opts.Bell {
		text = "\a"
	}
	if s.opts.Note {
		text += "\x1b]9;executor: approval " + id + " is waiting\a"
	}
	if text == "" {
		return nil
	}
	return s.tty.write(text)
}

// finish takes the request from the screen and prints what was kept back.
func (s *session) finish(text string) error {
	s.cur = nil
	s.line.reset()
	s.line.hidden = false
	if err := s.say(text); err != nil {
		return err
	}
	held, skipped := s.held, s.skipped
	s.held, s.skipped = nil, 0
	if skipped > 0 {
		if err := s.say(fmt.Sprintf("(%d lines left out)", skipped)); err != nil {
			return err
		}
	}
	for _, line := range held {
		if err := s.say(term.Safe(line)); err != nil {
			return err
		}
	}
	if s.opts.Once {
		return errDone
	}
	return nil
}

// activity prints a line between requests, never into one. The line is foreign.
func (s *session) activity(line string) error {
	if s.cur == nil {
		return s.say(term.Safe(line))
	}
	if len(s.held) == maxHeld {
		s.held = s.held[1:]
		s.skipped++
	}
	s.held = append(s.held, line)
	return nil
}

// resized starts the request again if the window has another size.
func (s *session) resized() error {
	if s.cur == nil || (s.cur.screen.cols == s.cols() && s.cur.screen.rows == s.rows()) {
		return nil
	}
	s.cur.screen = newScreen(s.cur.Prompt, s.cols(), s.rows())
	s.cur.at, s.cur.complete = 0, false
	return s.page("the window changed its size: from the start")
}

func (s *session) cols() int { cols, _ := s.tty.size(); return cols }

func (s *session) rows() int { _, rows := s.tty.size(); return rows }

// say writes the console's own or safe text, ended by a line break.
func (s *session) say(text string) error { return s.tty.write(text + "\n") }
