package approval

import "slices"

// maxLines is how many lines of activity wait for a seat that does not read.
const maxLines = 1000

func (s *Seat) pop() (Event, bool, error) {
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	if s.left {
		return Event{}, false, ErrLeft
	}
	if len(s.events) == 0 {
		return Event{}, false, nil
	}
	e := s.events[0]
	s.events = s.events[1:]
	if e.Kind == Line {
		s.lines--
		e.Dropped, s.dropped = s.dropped, 0
	}
	return e, true, nil
}

// Say sends a line of activity to every seat. It never waits for one.
func (d *Desk) Say(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.seats {
		if s.only == "" {
			s.push(Event{Kind: Line, Line: line})
		}
	}
}

// push queues an event. A slow seat costs a bounded amount of memory: lines are
// dropped and counted, and a request that came and went unseen is not sent.
func (s *Seat) push(e Event) {
	switch e.Kind {
	case Opened:
		s.sent = e.ID
	case Line:
		if s.lines == maxLines {
			s.dropOldestLine()
		}
		s.lines++
	case Gone:
		s.sent = ""
		unseen := slices.ContainsFunc(s.events, func(o Event) bool { return o.Kind == Opened && o.ID == e.ID })
		s.events = slices.DeleteFunc(s.events, func(o Event) bool { return o.ID == e.ID })
		if unseen {
			return
		}
	}
	s.events = append(s.events, e)
	s.wake()
}

func (s *Seat) dropOldestLine() {
	i := slices.IndexFunc(s.events, func(e Event) bool { return e.Kind == Line })
	s.events = slices.Delete(s.events, i, i+1)
	s.lines--
	s.dropped++
}

func (s *Seat) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}
