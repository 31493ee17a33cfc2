package executor_test

import (
	"context"
	"strings"
	"testing"

	"executor/approval"
	"executor/executor"
	"executor/internal/action"
)

// An outcome that cannot be written down is told as what it was: done, or not begun.
func TestAnOutcomeThatCannotBeRecorded(t *testing.T) {
	for name, tt := range map[string]struct {
		began bool
		code  executor.Code
		says  string
	}{
		"done":      {true, executor.DoneNotRecorded, "was carried out"},
		"not begun": {false, executor.JournalUnavailable, "Nothing was done."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.operator(says(approval.Yes))
			w.runner.before = func(context.Context, action.Action) {
				w.journal.Close()
				if !tt.began {
					panic("before the first byte")
				}
			}
			r := w.call("http_request", post)
			if code(r) != string(tt.code) || r.Structured["side_effect_started"] != tt.began || !strings.Contains(r.Text, tt.says) {
				t.Errorf("%+v", r)
			}
		})
	}
}
