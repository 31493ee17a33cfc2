package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// An absent text is one that was taken out.
type absent struct {
	seq   int64
	field string
}

// redacted accounts for texts that an entry says were taken out.
func (v *verification) redacted(by int64, r *redactionBody) {
	for _, field := range r.Fields {
		gone := absent{r.Seq, field}
		if r.Seq <= v.report.Since {
			continue // its entry was not read
		}
		if !v.missing[gone] {
			v.report.add(VerdictTampered, r.Seq, fmt.Sprintf("the text %q was redacted by entry %d and is there again", field, by))
			continue
		}
		delete(v.missing, gone)
		v.report.Redacted++
	}
}

// checkRedactions judges the texts that are still missing. A redaction that came
// while the log was read explains them too.
func (v *verification) checkRedactions(ctx context.Context) error {
	if len(v.missing) == 0 {
		return nil
	}
	later, err := load(ctx, v.db, "e.of IS NULL AND e.kind = 'redaction' AND e.seq > ?", v.end)
	if err != nil {
		return err
	}
	for _, r := range later {
		if r.Redaction == nil {
			continue
		}
		for _, field := range r.Redaction.Fields {
			delete(v.missing, absent{r.Redaction.Seq, field})
		}
	}
	for gone := range maps.Keys(v.missing) {
		v.report.add(VerdictTampered, gone.seq, fmt.Sprintf("the text %q was taken out, and no entry says so", gone.field))
	}
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int { return int(min(max(a.Seq-b.Seq, -1), 1)) })
	return nil
}
