package publish

import (
	"time"

	"executor/internal/contract"
)

// Over lists the earlier revisions of t whose windows are over, so that their
// adapters can go: the date has passed, or no session is open that was opened before
// the change. oldest is when the oldest open session was opened, zero for none.
func Over(t *contract.Tool, now, oldest time.Time) (out []int) {
	for _, c := range t.Revisions() {
		w, ok := t.Window(c.Revision)
		if !ok || c == t.Current {
			continue
		}
		// The origin that is admitted longest: a session from before.
		if w.Ended(contract.Origin{Now: now, Opened: oldest}) != "" || w.Sessions && oldest.IsZero() {
			out = append(out, c.Revision)
		}
	}
	return out
}
